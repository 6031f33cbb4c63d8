import GantryCore
import GantryPlatform

/// What waits to be sent on one carrier: control before audio before data before video, by fragments, so that a large
/// key frame never delays sound by more than one fragment. Every class is bounded; nothing is allocated for media.
///
/// A plain value; the carrier guards it with its lock.
struct OutgoingQueue {
    /// A message that is being sent, and how far it is.
    struct Message {
        let type: MessageType
        let channel: UInt16
        let flags: FrameFlags
        let content: Content
        var offset = 0

        enum Content {
            case bytes([UInt8])
            /// Stands behind the 22-byte media prefix made from its header.
            case packet(MediaPacket)
        }

        var size: Int {
            switch content {
            case .bytes(let bytes): bytes.count
            case .packet(let packet): MediaPrefix.size + packet.count
            }
        }
    }

    private struct Ring {
        var messages: [Message?]
        var head = 0
        var count = 0
        var bytes = 0

        init(capacity: Int) { messages = Array(repeating: nil, count: capacity) }

        mutating func push(_ message: Message) -> Bool {
            guard count < messages.count else { return false }
            messages[(head + count) % messages.count] = message
            count += 1
            bytes += message.size
            return true
        }

        mutating func removeFirst() {
            messages[head] = nil
            head = (head + 1) % messages.count
            count -= 1
        }
    }

    /// Index is the priority: 0 control, 1 audio, 2 data, 3 video.
    private var rings = [Ring(capacity: 256), Ring(capacity: 64), Ring(capacity: 64), Ring(capacity: 32)]

    enum Class: Int {
        case control, audio, data, video
    }

    var isEmpty: Bool { rings.allSatisfy { $0.count == 0 } }
    /// Bytes of video that wait here.
    var videoBytes: Int { rings[Class.video.rawValue].bytes }
    /// Messages of video that wait here.
    var videoCount: Int { rings[Class.video.rawValue].count }

    /// False when the class is full.
    mutating func push(_ message: Message, class: Class) -> Bool { rings[`class`.rawValue].push(message) }

    /// Writes the next fragment, header and payload, into `buffer` (at least one TLS record, 16384 bytes) and returns
    /// its size; 0 when nothing waits.
    mutating func nextFragment(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        for index in rings.indices where rings[index].count > 0 {
            guard var message = rings[index].messages[rings[index].head] else { continue }
            let size = message.size
            let length = min(size - message.offset, WireLimits.sentFragment)
            let isLast = message.offset + length == size
            let header = FrameHeader(
                type: message.type, flags: isLast ? message.flags : message.flags.union(.more),
                channel: message.channel, length: UInt32(truncatingIfNeeded: length))
            header.write(to: buffer)
            message.copy(
                range: message.offset..<message.offset + length,
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[FrameHeader.size...]))
            message.offset += length
            rings[index].bytes -= length
            if isLast {
                rings[index].removeFirst()
            } else {
                rings[index].messages[rings[index].head] = message
            }
            return FrameHeader.size + length
        }
        return 0
    }

    mutating func removeAll() {
        for index in rings.indices {
            while rings[index].count > 0 { rings[index].removeFirst() }
            rings[index].bytes = 0
        }
    }
}

extension OutgoingQueue.Message {
    /// Copies a part of the message, media prefix included.
    fileprivate func copy(range: Range<Int>, into buffer: UnsafeMutableRawBufferPointer) {
        switch content {
        case .bytes(let bytes):
            bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[range])) }
        case .packet(let packet):
            var written = 0
            if range.lowerBound < MediaPrefix.size {
                // A fragment is always longer than the prefix, so the first one holds it whole.
                MediaPrefix(packet.header).write(to: buffer)
                written = MediaPrefix.size
            }
            let start = max(range.lowerBound - MediaPrefix.size, 0)
            let end = range.upperBound - MediaPrefix.size
            guard start < end else { return }
            UnsafeMutableRawBufferPointer(rebasing: buffer[written...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: packet.bytes[start..<end]))
        }
    }
}
