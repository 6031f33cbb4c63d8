import GantryCore

/// Who has a port of this machine, by /proc/net (proc(5)). Processes of other users are known to root alone.
package struct SocketOwners: Sendable {
    package enum Kind: String, Sendable { case udp, tcp }

    private let files: SystemFiles

    package init(_ files: SystemFiles) { self.files = files }

    /// The names of the processes, sorted, each once; nil: nobody has it. "" stands for one that may not be known.
    package func owners(of port: UInt16, _ kind: Kind) -> [String]? {
        let sockets = inodes(of: port, kind)
        guard !sockets.isEmpty else { return nil }
        var names: Set<String> = []
        var known: Set<String> = []
        for process in files.entries("/proc") where Int(process) != nil {
            for entry in files.entries("/proc/\(process)/fd", limit: 4096) {
                guard let link = files.link("/proc/\(process)/fd/\(entry)"), link.hasPrefix("socket:[") else {
                    continue
                }
                let inode = String(link.dropFirst(8).dropLast())
                guard sockets.contains(inode) else { continue }
                known.insert(inode)
                names.insert(DisplayName(files.line("/proc/\(process)/comm") ?? "?").text)
            }
        }
        if known.count < sockets.count { names.insert("") }
        return names.sorted()
    }

    /// Of sockets that wait there: for TCP those that listen (state 0A).
    private func inodes(of port: UInt16, _ kind: Kind) -> Set<String> {
        var found: Set<String> = []
        for name in [kind.rawValue, kind.rawValue + "6"] {
            for line in files.lines("/proc/net/\(name)").dropFirst() {
                let fields = line.split(separator: " ", omittingEmptySubsequences: true)
                guard fields.count >= 10, let number = fields[1].split(separator: ":").last,
                    UInt16(number, radix: 16) == port, kind == .udp || fields[3] == "0A"
                else { continue }
                found.insert(String(fields[9]))
            }
        }
        return found
    }
}
