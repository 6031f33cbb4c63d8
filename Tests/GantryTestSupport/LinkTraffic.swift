package import GantryCore
import GantryPlatform
package import GantryTransport
import Glibc

/// Bytes through a `Link` from a test's own thread: waits where the link has nothing, or no room.
package enum LinkTraffic {
    /// Byte `position` of a stream that can be checked anywhere.
    package static func byte(_ position: Int, seed: UInt8) -> UInt8 {
        UInt8(truncatingIfNeeded: position &* 31 &+ (position >> 8) &* 7 &+ (position >> 16)) &+ seed
    }

    /// Writes `total` bytes of the stream in pieces of the sizes that `next` gives. Returns what was written: less when
    /// the link has ended.
    @discardableResult
    package static func write(
        _ link: any Link, total: Int, seed: UInt8, limit: MediaDuration = patience, next: () -> Int
    ) -> Int {
        let end = MonotonicClock.now() + limit
        var written = 0
        var piece: [UInt8] = []
        while written < total {
            let count = max(1, min(next(), total - written))
            piece = (written..<written + count).map { byte($0, seed: seed) }
            var start = 0
            while start < count {
                let transfer = piece.withUnsafeBytes { try? link.write(UnsafeRawBufferPointer(rebasing: $0[start...])) }
                switch transfer {
                case .bytes(let some): start += some
                case .wouldBlock: if !wait(link, link.roomEvents, until: end) { return written + start }
                case .endOfFile, nil: return written + start
                }
            }
            written += count
        }
        return written
    }

    /// Reads `total` bytes and compares them with the stream. Returns how many were right, from the beginning.
    package static func read(
        _ link: any Link, total: Int, seed: UInt8, limit: MediaDuration = patience, next: () -> Int = { 65536 }
    ) -> Int {
        let end = MonotonicClock.now() + limit
        var position = 0
        var buffer = [UInt8](repeating: 0, count: 65536)
        while position < total {
            let room = max(1, min(next(), buffer.count, total - position))
            let transfer = buffer.withUnsafeMutableBytes {
                try? link.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<room]))
            }
            switch transfer {
            case .bytes(let count):
                for index in 0..<count where buffer[index] != byte(position + index, seed: seed) {
                    return position + index
                }
                position += count
            case .wouldBlock: if !wait(link, POLLIN, until: end) { return position }
            case .endOfFile, nil: return position
            }
        }
        return position
    }

    /// Reads away what comes; true when the stream has ended in time.
    package static func endsWithin(_ limit: MediaDuration, _ link: any Link) -> Bool {
        let end = MonotonicClock.now() + limit
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            switch buffer.withUnsafeMutableBytes({ try? link.read(into: $0) }) {
            case .bytes: continue
            case .wouldBlock: if !wait(link, POLLIN, until: end) { return false }
            case .endOfFile, nil: return true
            }
        }
    }

    /// Runs all flows at once on this thread until each has ended. For each, how many of the bytes that came were right.
    package static func run(_ flows: [LinkFlow], limit: MediaDuration = patience) -> [Int] {
        let end = MonotonicClock.now() + limit
        var flows = flows
        while true {
            var isMoving = false
            for index in flows.indices where flows[index].step() { isMoving = true }
            let left = (end - MonotonicClock.now()).microseconds / 1000
            guard left > 0, !flows.allSatisfy(\.hasEnded) else { return flows.map(\.received) }
            guard !isMoving else { continue }
            var waiting = flows.flatMap(\.waiting)
            _ = poll(&waiting, nfds_t(waiting.count), CInt(clamping: left))
        }
    }

    private static func wait(_ link: any Link, _ event: CInt, until end: MediaTimestamp) -> Bool {
        var waiting = pollfd(fd: link.pollDescriptor, events: Int16(event), revents: 0)
        let left = (end - MonotonicClock.now()).microseconds / 1000
        guard left > 0 else { return false }
        return poll(&waiting, 1, CInt(clamping: left)) > 0
    }
}
