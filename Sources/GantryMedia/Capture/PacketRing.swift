import CLibAV

/// First in, first out of libavcodec packets; the packet objects are used again. Owned by one thread.
///
/// Bounded in number and in bytes, so that a badly interleaved file cannot fill the memory.
struct PacketRing: ~Copyable {
    static let capacity = 1024
    static let byteLimit = 64 * 1024 * 1024

    private var packets: [UnsafeMutablePointer<AVPacket>?] = Array(repeating: nil, count: PacketRing.capacity)
    private var head = 0
    private(set) var count = 0
    private var bytes = 0

    init() {}

    deinit {
        for packet in packets {
            var packet = packet
            av_packet_free(&packet)
        }
    }

    var isFull: Bool { count == Self.capacity || bytes >= Self.byteLimit }

    var first: UnsafeMutablePointer<AVPacket>? { count == 0 ? nil : packets[head] }

    /// Moves the content of `packet` in. False when the ring is full or there is no memory; `packet` then keeps it.
    mutating func append(_ packet: UnsafeMutablePointer<AVPacket>) -> Bool {
        guard !isFull else { return false }
        let index = (head + count) % Self.capacity
        if packets[index] == nil { packets[index] = av_packet_alloc() }
        guard let place = packets[index] else { return false }
        bytes += Int(packet.pointee.size)
        av_packet_move_ref(place, packet)
        count += 1
        return true
    }

    mutating func removeFirst() {
        guard count > 0, let packet = packets[head] else { return }
        bytes -= Int(packet.pointee.size)
        av_packet_unref(packet)
        head = (head + 1) % Self.capacity
        count -= 1
    }

    mutating func removeAll() {
        while count > 0 { removeFirst() }
    }
}
