import CommandLineKit
import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport

/// A tool with a control socket: answers at once, later, with errors, with events, or with a flood.
final class ExampleControl: ControlHandler {
    struct State: Sendable {
        var calls: [String] = []
        var waiting: [ControlCall] = []
        var ended: [UInt64] = []
    }

    let state = Watched(State())

    func perform(_ call: ControlCall) throws(GantryError) -> JSONValue? {
        state.change { $0.calls.append(call.method) }
        switch call.method {
        case "echo": return call.parameters
        case "fail": throw GantryError(.unknownDevice, "There is no such device.", cause: "looked everywhere")
        case "events":
            for number in 0..<3 { call.event("step", [.init("number", .integer(Int64(number)))]) }
            return ["done": true]
        case "wait":
            state.change { $0.waiting.append(call) }
            return nil
        case "flood":
            // More than a socket's buffers hold.
            let text = JSONValue.string(String(repeating: "x", count: 60_000))
            for _ in 0..<200 where call.isOpen { call.event("flood", [.init("text", text)]) }
            return [:]
        case "huge": return .string(String(repeating: "x", count: 2 << 20))
        default: throw GantryError(.invalidArgument, "no such method")
        }
    }

    func connectionEnded(_ connection: UInt64) { state.change { $0.ended.append(connection) } }
}

/// A control server in a folder of its own.
final class ControlStage: Sendable {
    let folder: TestFolder
    let address: ControlAddress
    let handler = ExampleControl()
    let server: ControlServer

    init() throws {
        folder = try TestFolder()
        address = try ControlStage.address(in: folder)
        server = try ControlServer(address, handler: handler)
        try server.start()
    }

    deinit { server.stop() }

    static let keyID = KeyID(bytes: [UInt8](repeating: 7, count: KeyID.size))

    /// Runtime and state folder are made, closed to others.
    static func address(in folder: TestFolder, runtime: String = "run") throws -> ControlAddress {
        for name in [runtime, "state"] {
            try FileManager.default.createDirectory(
                atPath: folder.file(name), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        guard let keyID else { throw RawClient.Failure(text: "key") }
        return ControlAddress(
            producer: keyID, stateFolder: folder.file("state"), runtimeFolder: folder.file(runtime))
    }

    func client() throws -> RawClient { try RawClient(server.path) }

    /// That somebody else is served.
    func isServing() async throws -> Bool {
        let address = address
        return try await onThread { () throws in
            guard let client = try ControlClient.connect(to: address) else { return false }
            defer { client.close() }
            return try client.call("echo", ["n": 1]) == ["n": 1]
        }
    }
}
