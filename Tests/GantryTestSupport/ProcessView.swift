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
    package var threadCount: Int { threadIDs.count }

    /// Their names, as `NamedThread` has set them.
    package var threadNames: [String] {
        threadIDs.compactMap { try? String(contentsOfFile: "/proc/\(id)/task/\($0)/comm", encoding: .utf8) }
            .map { $0.trimmingCharacters(in: .newlines) }
    }

    private var threadIDs: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/task")) ?? []
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

    /// A copy of what was looked for.
    package struct Copy: Sendable, CustomStringConvertible {
        /// Which of the needles.
        package let needle: Int
        package let address: Int
        /// What the memory belongs to, as in proc(5): "[heap]", "[stack]", a file; empty for memory of allocators and threads.
        package let region: String

        package var description: String { "\(needle) at \(String(address, radix: 16)) \(region)" }
    }

    /// The copies of `needles` in the memory that the process can write. Blocks for a moment; nil when it may not be read: needs
    /// root, or a process that is open to its user.
    package func copies(of needles: [[UInt8]]) -> [Copy]? {
        let descriptor = open("/proc/\(id)/mem", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var copies: [Copy] = []
        let overlap = (needles.map(\.count).max() ?? 1) - 1
        let size = 4 << 20
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        defer { buffer.deallocate() }
        for (range, name) in writableRanges {
            var position = range.lowerBound
            while position < range.upperBound {
                let wanted = min(size, range.upperBound - position)
                let count = pread(descriptor, buffer.baseAddress, wanted, position)
                guard count > 0 else { break }
                for (index, needle) in needles.enumerated() {
                    copies += Self.places(of: needle, in: UnsafeRawBufferPointer(rebasing: buffer[..<count])).map {
                        Copy(needle: index, address: position + $0, region: name)
                    }
                }
                // The next piece begins before the end of this one; a needle that lies whole in both counts twice,
                // which does not matter.
                guard count == wanted, position + count < range.upperBound else { break }
                position += count - overlap
            }
        }
        return copies
    }

    private var writableRanges: [(Range<Int>, String)] {
        String(decoding: contents("maps"), as: UTF8.self).split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            guard fields.count > 1, fields[1].hasPrefix("rw") else { return nil }
            let ends = fields[0].split(separator: "-").compactMap { Int($0, radix: 16) }
            let name = fields.count > 5 ? String(fields[5].drop { $0 == " " }) : ""
            return ends.count == 2 && ends[0] < ends[1] ? (ends[0]..<ends[1], name) : nil
        }
    }

    private static func places(of needle: [UInt8], in bytes: UnsafeRawBufferPointer) -> [Int] {
        guard let first = needle.first else { return [] }
        var places: [Int] = []
        var position = 0
        while position + needle.count <= bytes.count, let base = bytes.baseAddress {
            let room = bytes.count - needle.count + 1 - position
            guard let found = memchr(base + position, CInt(first), room) else { break }
            if memcmp(found, needle, needle.count) == 0 { places.append(UnsafeRawPointer(found) - base) }
            position = UnsafeRawPointer(found) - base + 1
        }
        return places
    }

    /// TCP ports on which it listens, IPv4 and IPv6 (proc(5): /proc/PID/net/tcp, state 0A).
    package var listeningPorts: Set<UInt16> {
        // The kernel hands the tables out page by page, and may leave out a line where sockets come and go meanwhile.
        Set((0..<3).flatMap { _ in sockets.filter { $0.state == "0A" }.map(\.port) })
    }

    /// Connections that it holds at a port of its own, IPv4 and IPv6: whether they stand, or the peer has closed them (states
    /// 01 and 08).
    package func connections(atPort port: UInt16) -> Int {
        sockets.count { $0.port == port && ($0.state == "01" || $0.state == "08") }
    }

    /// Its TCP sockets: the local port, and the state as in /proc/PID/net/tcp.
    private var sockets: [(port: UInt16, state: Substring)] {
        let own = Set(openFiles)
        return ["net/tcp", "net/tcp6"].flatMap { table in
            String(decoding: contents(table), as: UTF8.self).split(separator: "\n").dropFirst().compactMap { line in
                let fields = line.split(separator: " ", omittingEmptySubsequences: true)
                guard fields.count > 9, own.contains("socket:[\(fields[9])]"),
                    let port = fields[1].split(separator: ":").last.flatMap({ UInt16($0, radix: 16) })
                else { return nil }
                return (port, fields[3])
            }
        }
    }
}
