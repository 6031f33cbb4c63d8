package import GantryCore
import GantryPlatform
package import GantryTransport

/// A USB cable in memory, with the rules of packets: data goes in packets of `packetSize` bytes, the last of a write may
/// be shorter, and a posted read ends when it is full or at a short packet. A write whose last packet is full leaves the
/// read open, as on a real bus.
package final class FakeBulkWire: @unchecked Sendable {  // All is guarded by `lock`.
    fileprivate struct Write {
        /// Nil: left over by nobody who still waits.
        var slot: Int?
        var bytes: [UInt8]
        var start = 0
    }

    fileprivate struct Read {
        var slot: Int
        var filled = 0
    }

    fileprivate struct Direction {
        var writes: [Write] = []
        var reads: [Read] = []
    }

    package let packetSize: Int
    private let lock = Lock()
    /// By the end that reads.
    private var directions = [Direction(), Direction()]
    private var completions: [[BulkCompletion]] = [[], []]
    private var broken: [String] = []
    private var isUnplugged = false
    private var ends: [FakeBulkPipe] = []
    private var onFinish: [(@Sendable (UInt64) -> Void)?] = [nil, nil]

    package init(packetSize: Int) throws {
        self.packetSize = packetSize
        ends = [try FakeBulkPipe(self, 0), try FakeBulkPipe(self, 1)]
    }

    package var host: FakeBulkPipe { ends[0] }
    package var device: FakeBulkPipe { ends[1] }
    /// Writes that broke the rule of `BulkRules`.
    package var violations: [String] { lock.withLock { broken } }

    /// Data that an earlier session has left on its way to the host or to the device.
    package func leave(_ bytes: [UInt8], toHost: Bool) {
        lock.withLock {
            directions[toHost ? 0 : 1].writes.append(Write(slot: nil, bytes: bytes))
            move(toHost ? 0 : 1)
        }
    }

    package func unplug() {
        lock.withLock { isUnplugged = true }
        for end in ends { end.event.signal() }
    }

    /// Lets go of both ends, which hold the wire.
    package func dismantle() {
        lock.withLock {
            ends = []
            onFinish = [nil, nil]
        }
    }

    /// Called when the other end of `host` or `device` will write no more.
    package func onFinish(atHost: Bool, _ body: @escaping @Sendable (UInt64) -> Void) {
        lock.withLock { onFinish[atHost ? 0 : 1] = body }
    }

    fileprivate func postRead(_ end: Int, _ slot: Int) {
        lock.withLock {
            directions[end].reads.append(Read(slot: slot))
            move(end)
        }
    }

    fileprivate func postWrite(_ end: Int, _ slot: Int, _ bytes: [UInt8]) {
        lock.withLock {
            if bytes.isEmpty || (bytes.count != 16384 && bytes.count % packetSize == 0) {
                broken.append("a write of \(bytes.count) bytes")
            }
            directions[1 - end].writes.append(Write(slot: slot, bytes: bytes))
            move(1 - end)
        }
    }

    /// Moves packets toward `end` while there are both a write and a read. Under the lock.
    private func move(_ end: Int) {
        while !directions[end].writes.isEmpty, !directions[end].reads.isEmpty {
            var write = directions[end].writes[0]
            var read = directions[end].reads[0]
            let count = min(packetSize, write.bytes.count - write.start)
            let packet = write.bytes[write.start..<write.start + count]
            ends[end].readBuffer(read.slot)[read.filled...].copyBytes(from: packet)
            write.start += count
            read.filled += count
            directions[end].writes[0] = write
            directions[end].reads[0] = read
            if write.start == write.bytes.count {
                directions[end].writes.removeFirst()
                if let slot = write.slot { complete(1 - end, .write(slot: slot)) }
            }
            if count < packetSize || read.filled == USBProtocol.transferSize {
                directions[end].reads.removeFirst()
                complete(end, .read(slot: read.slot, count: read.filled))
            }
        }
    }

    private func complete(_ end: Int, _ completion: BulkCompletion) {
        completions[end].append(completion)
        ends[end].event.signal()
    }

    fileprivate func take(_ end: Int) throws(GantryError) -> [BulkCompletion] {
        try lock.withLock { () throws(GantryError) in
            guard !isUnplugged else { throw GantryError(.peerLost, "unplugged") }
            defer { completions[end] = [] }
            return completions[end]
        }
    }

    fileprivate func finish(_ end: Int, _ sent: UInt64) {
        let body = lock.withLock { onFinish[1 - end] }
        body?(sent)
    }

    fileprivate func cancel(_ end: Int) {
        lock.withLock {
            directions[end].reads = []
            directions[1 - end].writes.removeAll { $0.slot != nil }
            completions[end] = []
        }
    }
}

/// One end of a `FakeBulkWire`.
package final class FakeBulkPipe: BulkPipe {
    package let rules: BulkRules
    private let wire: FakeBulkWire
    private let end: Int
    private let buffers = BulkBuffers()
    fileprivate let event: EventDescriptor

    fileprivate init(_ wire: FakeBulkWire, _ end: Int) throws {
        guard let rules = BulkRules(packetSize: wire.packetSize) else {
            throw GantryError(.invalidArgument, "no packet size")
        }
        self.rules = rules
        self.wire = wire
        self.end = end
        event = try EventDescriptor()
    }

    package var pollDescriptor: CInt { event.rawValue }
    package func wake() { event.signal() }
    package func readBuffer(_ slot: Int) -> UnsafeMutableRawBufferPointer { buffers.read(slot) }
    package func writeBuffer(_ slot: Int) -> UnsafeMutableRawBufferPointer { buffers.write(slot) }
    package func postRead(_ slot: Int) throws(GantryError) { wire.postRead(end, slot) }
    package func postWrite(_ slot: Int, count: Int) throws(GantryError) {
        wire.postWrite(end, slot, Array(buffers.write(slot).prefix(count)))
    }
    package func collect(_ completed: (BulkCompletion) -> Void) throws(GantryError) {
        event.clear()
        for completion in try wire.take(end) { completed(completion) }
    }
    package func finish(sent: UInt64) { wire.finish(end, sent) }
    package func close() { wire.cancel(end) }
}
