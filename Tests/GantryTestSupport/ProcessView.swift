package import Foundation
import Glibc

/// What can be seen of a running process in /proc: its arguments, its environment, its memory, its listening ports.
package struct ProcessView: Sendable {
    package let id: Int32

    package init(_ id: Int32) { self.id = id }

    /// The name of the calling thread, as `NamedThread` has set it.
    package static var currentThreadName: String {
        let name = (try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)) ?? ""
        return name.trimmingCharacters(in: .newlines)
    }

    /// How many threads it has.
    package var threadCount: Int {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/task")) ?? []).count
    }

    /// What its open descriptors are: paths, "socket:[…]".
    package var openFiles: [String] {
        let folder = "/proc/\(id)/fd"
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
        }
    }

    package var commandLine: Data { contents("cmdline") }
    package var environment: Data { contents("environ") }

    private func contents(_ name: String) -> Data {
        (try? Data(contentsOf: URL(fileURLWithPath: "/proc/\(id)/\(name)"))) ?? Data()
    }

    /// How often each of `needles` stands in the memory that the process can write. Blocks for a moment; nil when it
    /// may not be read: needs root, or a process that is open to its user.
    package func copies(of needles: [[UInt8]]) -> [Int]? {
        let descriptor = open("/proc/\(id)/mem", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var counts = [Int](repeating: 0, count: needles.count)
        let overlap = (needles.map(\.count).max() ?? 1) - 1
        let size = 4 << 20
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        defer { buffer.deallocate() }
        for range in writableRanges {
            var position = range.lowerBound
            while position < range.upperBound {
                let wanted = min(size, range.upperBound - position)
                let count = pread(descriptor, buffer.baseAddress, wanted, position)
                guard count > 0 else { break }
                for (index, needle) in needles.enumerated() {
                    counts[index] += Self.count(needle, in: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                }
                // The next piece begins before the end of this one; a needle that lies whole in both counts twice,
                // which does not matter.
                guard count == wanted, position + count < range.upperBound else { break }
                position += count - overlap
            }
        }
        return counts
    }

    private var writableRanges: [Range<Int>] {
        String(decoding: contents("maps"), as: UTF8.self).split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            guard fields.count > 1, fields[1].hasPrefix("rw") else { return nil }
            let ends = fields[0].split(separator: "-").compactMap { Int($0, radix: 16) }
            return ends.count == 2 && ends[0] < ends[1] ? ends[0]..<ends[1] : nil
        }
    }

    private static func count(_ needle: [UInt8], in bytes: UnsafeRawBufferPointer) -> Int {
        guard let first = needle.first else { return 0 }
        var count = 0
        var position = 0
        while position + needle.count <= bytes.count, let base = bytes.baseAddress {
            let room = bytes.count - needle.count + 1 - position
            guard let found = memchr(base + position, CInt(first), room) else { break }
            if memcmp(found, needle, needle.count) == 0 { count += 1 }
            position = UnsafeRawPointer(found) - base + 1
        }
        return count
    }

    /// TCP ports on which it listens, IPv4 and IPv6 (proc(5): /proc/PID/net/tcp, state 0A).
    package var listeningPorts: Set<UInt16> {
        let folder = "/proc/\(id)/fd"
        let sockets = Set(
            ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
            })
        var ports: Set<UInt16> = []
        // The kernel hands the tables out page by page, and may leave out a line where sockets come and go meanwhile.
        for table in ["net/tcp", "net/tcp6", "net/tcp", "net/tcp6", "net/tcp", "net/tcp6"] {
            for line in String(decoding: contents(table), as: UTF8.self).split(separator: "\n").dropFirst() {
                let fields = line.split(separator: " ", omittingEmptySubsequences: true)
                guard fields.count > 9, fields[3] == "0A", sockets.contains("socket:[\(fields[9])]"),
                    let port = fields[1].split(separator: ":").last.flatMap({ UInt16($0, radix: 16) })
                else { continue }
                ports.insert(port)
            }
        }
        return ports
    }
}
