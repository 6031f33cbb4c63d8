import GantryCore
import GantryPlatform
import GantryTestSupport
import GantryTransport

/// Collects units. The receiver's thread writes, tests read.
final class UnitCollector: StreamSink, @unchecked Sendable {  // `current`: the receiver's thread.
    struct Unit: Sendable {
        var header = MediaHeader()
        var bytes: [UInt8] = []
    }

    let units = Watched<[Unit]>([])
    let losses = Watched(0)
    private var current = Unit()

    func mediaArrived(bytes: Int) {}
    func unitArrived(_ header: MediaHeader, now: MediaTimestamp) {}
    func unitBegins(_ header: MediaHeader, now: MediaTimestamp) -> Bool {
        current = Unit(header: header)
        return true
    }
    func unitContinues(_ bytes: UnsafeRawBufferPointer) { current.bytes += Array(bytes) }
    func unitEnds(isWhole: Bool) {
        let unit = current
        if isWhole { units.change { $0.append(unit) } }
    }
    func unitLost() { losses.change { $0 += 1 } }
}

/// The two ends of media over UDP on loopback, with a relay between them.
final class DatagramEnds: Sendable {
    let sender: DatagramSender
    let receiver: DatagramReceiver
    let relay: DatagramRelay
    let video = UnitCollector()
    let sound = UnitCollector()
    let events = Watched<[DatagramEvent]>([])
    let feedback = Watched<[Feedback]>([])

    static let token = Array(0..<16 as Range<UInt8>)

    /// - Parameter studioToken: another one than the producer's: keys do not fit.
    init(_ relay: DatagramRelay, studioToken: [UInt8] = token) async throws {
        let paths = try await Self.paths()
        let exporter = [UInt8](repeating: 7, count: 32)
        self.relay = relay
        sender = try DatagramSender(
            path: paths.producer, keys: DatagramKeys(exporter: exporter, token: Self.token),
            channels: [(1, true), (2, false)], changed: { [events] event in events.change { $0.append(event) } },
            feedback: { [feedback] news in feedback.change { $0.append(news) } })
        receiver = try DatagramReceiver(
            path: paths.studio, keys: DatagramKeys(exporter: exporter, token: studioToken),
            streams: [
                .init(channel: 1, isVideo: true, sink: video), .init(channel: 2, isVideo: false, sink: sound),
            ])
    }

    private static func paths() async throws -> (producer: DatagramPath, studio: DatagramPath) {
        let listener = try TCPListener(port: 0)
        let accepted = Watched<SocketLink?>(nil)
        try listener.start(threadName: "test-listen") { link, _ in accepted.change { $0 = link } }
        defer { listener.stop() }
        let cancel = try EventDescriptor()
        let dialled = try await onThread {
            try TCPDialer.dial(
                Endpoint(host: "127.0.0.1", port: listener.port), until: MonotonicClock.now() + patience, cancel: cancel
            )
        }
        _ = try await accepted.wait { $0 != nil }
        guard let producer = accepted.value?.datagramPath, let studio = dialled.datagramPath else {
            throw Oracle.Failure(text: "no path")
        }
        return (producer, studio)
    }

    /// Starts both and waits for what the probes say.
    func begin() async throws -> DatagramEvent? {
        try relay.start(producer: sender.port, studio: receiver.port)
        try receiver.start(port: relay.studioSide)
        try sender.start(port: relay.producerSide, payload: DatagramLimits.largestPayload)
        _ = try await events.wait { !$0.isEmpty }
        return events.value.first
    }

    func end() async throws {
        try await onThread { [self] in
            sender.stop()
            receiver.stop()
            relay.stop()
        }
    }

    static func packet(_ bytes: [UInt8], sequence: UInt32, codec: MediaCodec = .h264) -> MediaPacket {
        let packet = MediaPacket(capacity: bytes.count)
        bytes.withUnsafeBytes { packet.append($0) }
        packet.codec = codec
        packet.header = MediaHeader(sequence: sequence, epoch: 1, isKey: sequence == 0)
        return packet
    }

    /// Sends `count` pictures, one after the other has gone out and a few milliseconds later, and a packet of sound with each.
    func play(_ count: UInt32, from first: UInt32 = 0, random: inout SeededRandom) async throws -> [[UInt8]] {
        var units: [[UInt8]] = []
        for sequence in first..<first + count {
            let unit = accessUnit(.random(in: 2000...20_000, using: &random), &random)
            units.append(unit)
            _ = sender.send(Self.packet(unit, sequence: sequence), channel: 1)
            _ = sender.send(Self.packet([1, 2, UInt8(sequence & 0xFF)], sequence: sequence, codec: .opus), channel: 2)
            try await Task.sleep(for: .milliseconds(10))
        }
        return units
    }
}
