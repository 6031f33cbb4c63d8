import Foundation
import Glibc

/// Two hosts in network namespaces with Avahi in each, made by `scripts/lab`: host 1 has the producer, host 2 the studio.
final class Lab {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// For the state folders and what the tools say.
    let folder: URL
    private let tools: URL
    private let name = ProcessInfo.processInfo.environment["GANTRY_LAB"] ?? "bench\(getpid())"
    private var environments: [Int: [String: String]] = [:]
    private var isUp = false

    /// - Parameter tools: folder of the release tools.
    init(_ tools: String) throws {
        self.tools = URL(fileURLWithPath: tools).absoluteURL
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("gantry-bench-lab-\(getpid())")
        try Self.check()
    }

    /// What a lab needs; says what is missing.
    private static func check() throws {
        guard geteuid() == 0 else {
            throw Failure(
                description: "this benchmark makes network namespaces, which needs root. See: scripts/bench --help")
        }
        let folders = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]
        let missing = ["ip", "dbus-daemon", "dbus-send", "avahi-daemon"].filter { name in
            !folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
        }
        guard missing.isEmpty else {
            throw Failure(
                description: "missing: \(missing.joined(separator: ", ")). Install them with: scripts/setup --test")
        }
    }

    func up() throws {
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        isUp = true
        try lab(["up", "2"])
        for host in 1...2 {
            try lab(["mdns", "up", "\(host)"])
            environments[host] = try environment(of: host)
        }
    }

    /// Ends the lab. The tools must have ended before.
    func close() {
        guard isUp else { return }
        isUp = false
        _ = try? lab(["down"])
        try? FileManager.default.removeItem(at: folder)
    }

    /// Gives eth0 of a host other addresses.
    func setAddresses(_ host: Int, _ addresses: [String]) throws {
        try lab(["addr", "\(host)", "eth0", "set"] + addresses)
    }

    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    func remove(_ name: String) { try? FileManager.default.removeItem(at: folder.appendingPathComponent(name)) }

    /// Starts a tool in a host. `ip netns exec` becomes the tool, so the process is the tool's.
    func start(_ tool: String, on host: Int, _ arguments: [String], input: String? = nil) throws -> LabTool {
        try LabTool(
            "/usr/bin/env",
            ["ip", "netns", "exec", "gantry-\(name)-h\(host)", tools.appendingPathComponent(tool).path] + arguments,
            environment: environments[host] ?? [:], input: input, errors: path("\(tool).log"))
    }

    /// What `scripts/lab in` sets: the message bus and the runtime folder of the host.
    private func environment(of host: Int) throws -> [String: String] {
        let lines = try lab(["in", "\(host)", "env"]).split(separator: "\n")
        let wanted = ["DBUS_SYSTEM_BUS_ADDRESS", "XDG_RUNTIME_DIR"]
        var result = ProcessInfo.processInfo.environment
        for line in lines {
            guard let mark = line.firstIndex(of: "="), wanted.contains(String(line[..<mark])) else { continue }
            result[String(line[..<mark])] = String(line[line.index(after: mark)...])
        }
        return result
    }

    /// Not by `Process`, which waits for the daemons as well that a command leaves running.
    @discardableResult
    private func lab(_ arguments: [String]) throws -> String {
        setenv("GANTRY_LAB", name, 1)
        let file = path("lab.out")
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, file, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        let words = (["scripts/lab"] + arguments).map { strdup($0) }
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        var status: Int32 = -1
        if posix_spawn(&child, "scripts/lab", &actions, nil, words + [nil], environ) == 0 {
            while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        }
        guard status == 0 else {
            throw Failure(description: "scripts/lab \(arguments.joined(separator: " ")) failed")
        }
        return (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
    }
}
