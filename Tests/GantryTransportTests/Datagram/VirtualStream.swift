import GantryCore
import GantryTestSupport
import GantryTransport

/// No encryption: the virtual network is nobody's.
final class OpenProtection: PacketProtection {
    func protect(_: UnsafeMutableRawBufferPointer, count: Int) -> Int? { count }
}

/// A sender and a receiver of one stream with a network between them, in virtual time.
final class VirtualStream: StreamSink {
    let sender: StreamSender
    let receiver: StreamReceiver
    var forward: VirtualPath
    var back: VirtualPath
    var loss = LossEstimate()
    private var lastReport: ControlPacket.Report?
    private var nextReport = MediaTimestamp(microseconds: 0)
    private var tellAt: MediaTimestamp?

    private var expected: [UInt32: [UInt8]] = [:]
    private var pushedAt: [UInt32: MediaTimestamp] = [:]
    private var current: (header: MediaHeader, bytes: [UInt8])?
    private(set) var now = MediaTimestamp(microseconds: 0)
    private(set) var delays: [MediaDuration] = []
    /// Of units that came without waiting: the sequence, and how long they were on the way.
    private(set) var onTheWay: [(sequence: UInt32, delay: MediaDuration)] = []
    private(set) var mediaBytes: UInt64 = 0
    private(set) var wrong = 0
    private(set) var lostUnits = 0
    private(set) var lastSequence: UInt32?
    var isOpen = true

    init(isVideo: Bool = true, _ faults: VirtualPath.Faults, payload: Int = 1472, seed: UInt64 = 1) {
        let code = ISALErasureCode()
        sender = StreamSender(source: 1, isVideo: isVideo, payload: payload, code: code, protection: OpenProtection())
        receiver = StreamReceiver(source: 1, isVideo: isVideo, code: code)
        forward = VirtualPath(faults, seed: seed)
        back = VirtualPath(faults, seed: seed &+ 77)
    }

    func push(_ unit: [UInt8], sequence: UInt32) -> Bool {
        expected[sequence] = unit
        pushedAt[sequence] = now
        tellAt = now + .milliseconds(5)
        let header = MediaHeader(
            sequence: sequence, presentationTime: now, captureTime: now, epoch: 3, isKey: sequence % 30 == 0)
        return unit.withUnsafeBytes { sender.push($0, header, loss: loss.value(now: now)) }
    }

    /// Half a millisecond.
    func step() {
        now = now + .microseconds(500)
        while let packet = sender.next() { forward.send(packet, now: now) }
        if let due = tellAt, now >= due, loss.value(now: now) > 0 {
            tellAt = nil
            say(&forward, source: DatagramLimits.producerSource) { $0.sent(1, highest: sender.highest) }
        }
        for datagram in forward.arrived(now: now) { datagram.withUnsafeBytes(arrive) }
        receiver.timeAdvanced(now: now, sink: self)
        ask()
        for datagram in back.arrived(now: now) {
            _ = datagram.withUnsafeBytes { ControlPacket.read($0) { hear($0) } }
        }
    }

    func run(_ time: MediaDuration) {
        let end = now + time
        while now < end { step() }
    }

    private func arrive(_ bytes: UnsafeRawBufferPointer) {
        guard SRTPContext.isControl(bytes) else { return receiver.receive(bytes, now: now, sink: self) }
        ControlPacket.read(bytes) { item in
            if case .sent(_, let highest) = item { receiver.told(highest: highest, now: now) }
        }
    }

    private func ask() {
        var list: [Int64] = []
        receiver.collectRequests(into: &list, now: now)
        let isDue = now >= nextReport
        guard !list.isEmpty || isDue else { return }
        if isDue {
            nextReport = now + DatagramLimits.reportInterval
            receiver.calmDown()
        }
        say(&back, source: DatagramLimits.studioSource) { writer in
            if isDue { writer.report(receiver.report()) }
            writer.request(list, of: 1)
        }
    }

    private func say(_ path: inout VirtualPath, source: UInt32, _ body: (inout ControlWriter) -> Void) {
        withUnsafeTemporaryAllocation(byteCount: 1400, alignment: 8) { buffer in
            var writer = ControlWriter(buffer, source: source)
            body(&writer)
            path.send(UnsafeRawBufferPointer(rebasing: buffer[..<writer.count]), now: now)
        }
    }

    private func hear(_ item: ControlPacket.Item) {
        switch item {
        case .missing(_, let sequence): sender.requested(sequence)
        case .report(let report):
            if let last = lastReport {
                let lost = Int32(bitPattern: (report.lost &- last.lost) << 8) >> 8
                loss.reported(
                    expected: Int(Int32(bitPattern: report.highest &- last.highest)), missing: Int(max(0, lost)),
                    now: now)
            }
            lastReport = report
        case .hello, .probed, .sent, .feedback: break
        }
    }

    func mediaArrived(bytes: Int) { mediaBytes += UInt64(bytes) }

    func unitArrived(_ header: MediaHeader, now: MediaTimestamp) {
        guard let sent = pushedAt[header.sequence] else { return }
        onTheWay.append((header.sequence, now - sent))
    }

    func unitBegins(_ header: MediaHeader, now: MediaTimestamp) -> Bool {
        guard isOpen else { return false }
        current = (header, [])
        return true
    }

    func unitContinues(_ bytes: UnsafeRawBufferPointer) { current?.bytes += Array(bytes) }

    func unitEnds(isWhole: Bool) {
        guard let current, let sent = pushedAt[current.header.sequence] else {
            wrong += 1
            return
        }
        if !isWhole || current.bytes != expected[current.header.sequence] || current.header.captureTime != sent
            || lastSequence.map({ $0 >= current.header.sequence }) == true
        {
            wrong += 1
        }
        lastSequence = current.header.sequence
        delays.append(now - sent)
    }

    func unitLost() { lostUnits += 1 }

    func percentile(_ part: Double) -> Double {
        let sorted = delays.sorted()
        guard !sorted.isEmpty else { return .infinity }
        return sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))].milliseconds
    }
}

/// An access unit that looks like x264's: small NAL units in front, then slices. The form is that which comes out again.
func accessUnit(_ count: Int, _ random: inout SeededRandom) -> [UInt8] {
    func unit(_ type: UInt8, _ count: Int) -> [UInt8] {
        [0, 0, 0, 1, type] + (0..<max(1, count)).map { _ in UInt8.random(in: 1...255, using: &random) }
    }
    let slices = max(10, (count - 40) / 2)
    return unit(0x09, 1) + unit(0x67, 20) + unit(0x68, 4) + unit(0x65, slices) + unit(0x65, slices)
}
