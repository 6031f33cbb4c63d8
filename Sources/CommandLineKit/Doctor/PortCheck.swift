/// Whether the port where a producer listens is free.
package enum PortCheck {
    /// - Parameter owners: as `SocketOwners` says.
    package static func judge(port: UInt16, owners: [String]?) -> [Finding] {
        guard let owners else { return [.ok("TCP port \(port) is free.")] }
        if owners.contains(where: { $0.hasPrefix("gantry-produce") }) {
            return [.ok("A producer runs, and listens on TCP port \(port).")]
        }
        let known = owners.filter { !$0.isEmpty }
        let who = known.isEmpty ? "Another user's program" : known.joined(separator: ", ")
        return [
            .problem(
                "\(who) listens on TCP port \(port). End it, or use another port: gantry-producer run --port 7788",
                "sudo ss -ltnp 'sport = :\(port)'")
        ]
    }
}
