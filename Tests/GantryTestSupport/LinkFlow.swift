import GantryCore
import GantryPlatform
package import GantryTransport
import Glibc

/// Bytes on their way from one link to another, or out of a link and back: `LinkTraffic.run` moves several at once, on one
/// thread, as a link wants it.
package struct LinkFlow {
    private let from: any Link
    private let to: any Link
    private let total: Int
    private let seed: UInt8
    private let next: () -> Int
    private let room: () -> Int
    private var piece: ArraySlice<UInt8> = []
    private var sent = 0
    private var hasRoom = true
    private var buffer = [UInt8](repeating: 0, count: 65536)
    /// Bytes that came, and were right.
    package private(set) var received = 0
    package private(set) var hasEnded = false

    /// - Parameters:
    ///   - next: sizes of the pieces that are written.
    ///   - room: sizes of the buffers that are read into, at most 64 KiB.
    package init(
        from: any Link, to: any Link, total: Int, seed: UInt8, room: @escaping () -> Int = { 65536 },
        next: @escaping () -> Int
    ) {
        self.from = from
        self.to = to
        self.total = total
        self.seed = seed
        self.next = next
        self.room = room
    }

    /// Writes and reads what goes without waiting; false when nothing did.
    mutating func step() -> Bool {
        guard !hasEnded else { return false }
        let isSending = send()
        return receive() || isSending
    }

    private mutating func send() -> Bool {
        if piece.isEmpty, sent < total {
            let count = max(1, min(next(), total - sent))
            piece = ArraySlice((sent..<sent + count).map { LinkTraffic.byte($0, seed: seed) })
        }
        guard !piece.isEmpty else { return false }
        switch piece.withUnsafeBytes({ try? from.write($0) }) {
        case .bytes(let count):
            piece = piece.dropFirst(count)
            sent += count
            hasRoom = true
            return true
        case .wouldBlock: hasRoom = false
        case .endOfFile, nil: hasEnded = true
        }
        return false
    }

    private mutating func receive() -> Bool {
        let room = max(1, min(room(), buffer.count, total - received))
        let transfer = buffer.withUnsafeMutableBytes {
            try? to.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<room]))
        }
        switch transfer {
        case .bytes(let count):
            for index in 0..<count {
                guard buffer[index] == LinkTraffic.byte(received + index, seed: seed) else {
                    received += index
                    hasEnded = true
                    return false
                }
            }
            received += count
            if received == total { hasEnded = true }
            return true
        case .wouldBlock: return false
        case .endOfFile, nil:
            hasEnded = true
            return false
        }
    }

    var waiting: [pollfd] {
        guard !hasEnded else { return [] }
        let reading = pollfd(fd: to.pollDescriptor, events: Int16(POLLIN), revents: 0)
        guard !hasRoom else { return [reading] }
        return [reading, pollfd(fd: from.pollDescriptor, events: Int16(from.roomEvents), revents: 0)]
    }
}
