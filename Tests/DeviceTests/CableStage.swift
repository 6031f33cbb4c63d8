import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Testing

/// Both tools as processes, joined by a USB cable: dummy_hcd is the producer's device controller and the studio's host.
final class CableStage: Sendable {
    static let isHere = ProcessInfo.processInfo.environment["GANTRY_VM"] == "1"
    static let reason: Comment = "needs a device controller: run it in a virtual machine with scripts/vm --tests"
    /// The file that binds the gadget of `run --usb-setup`, and unbinds it.
    private static let binding = "/sys/kernel/config/usb_gadget/gantry/UDC"
    private static let controller = "dummy_udc.0"

    let folder: TestFolder
    let port: String

    init() throws {
        folder = try TestFolder()
        port = String(try LoopbackSocket.freePort())
    }

    func tool(_ name: String, _ arguments: [String]) throws -> ToolRun {
        try ToolRun(["gantry-" + name, "--state-dir", folder.file(name), "--json"] + arguments)
    }

    /// A tool from its start to its end. Its lines of JSON.
    func run(_ name: String, _ arguments: [String], status: Int32 = 0) async throws -> [[String: Any]] {
        let end = try await tool(name, arguments).end()
        #expect(end.status == status, "\(end.errorText)")
        return end.lines.compactMap(jsonLine)
    }

    /// A producer on the cable, which the host has taken. A small test pattern: code is slow in the machine.
    func produce(
        _ arguments: [String] = ["--usb-trust", "tofu"],
        source: [String] = ["test", "--size", "160x120", "--fps", "10"]
    ) async throws -> ToolRun {
        let producer = try tool(
            "producer",
            [
                "run", "--name", "Camera", "--port", port, "--audio", "off", "--usb-setup", "--usb-controller",
                Self.controller,
            ]
                + source + arguments)
        try await producer.line(containing: "\"attached\"")
        return producer
    }

    /// Pairs over the cable, with a producer that takes whoever comes, and lets the studio note the address in the
    /// network.
    func pair() async throws {
        _ = try await run("studio", ["receive", "usb", "-d", "200ms"])
        _ = try await run("studio", ["receive", "127.0.0.1:" + port, "-d", "200ms"])
    }

    /// Pulls the plug, or puts it in again.
    static func plug(_ isIn: Bool) throws {
        try Data((isIn ? controller : "\n").utf8).write(to: URL(fileURLWithPath: binding))
    }

    /// How often a tool has told an event.
    static func count(_ event: String, _ state: ToolRun.State) -> Int {
        state.lines.count { $0.contains("\"event\":\"\(event)\"") }
    }

    static func count(_ event: String, _ run: ToolRun) -> Int { count(event, run.state.value) }

    /// The addresses of all connections of a `receive`, in order, once there are `count`.
    static func addresses(_ studio: ToolRun, _ count: Int) async throws -> [String] {
        @Sendable func all(_ state: ToolRun.State) -> [String] {
            state.lines.filter { $0.contains("\"connected\"") }.compactMap { jsonLine($0)?["address"] as? String }
        }
        let hasCome = try await studio.state.wait { all($0).count >= count || $0.status != nil }
        let found = all(studio.state.value)
        #expect(hasCome && found.count == count, "\(studio.state.value.lines) \(studio.state.value.errorText)")
        return found
    }
}
