import CommandLineKit
import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Glibc
import Testing

/// What well-behaved clients get.
@Suite(.timeLimit(.minutes(2))) struct ControlServerTests {
    @Test func callsAreAnswered() async throws {
        let stage = try ControlStage()
        let address = stage.address
        try await onThread { () throws in
            let client = try #require(try ControlClient.connect(to: address))
            let parameters: JSONValue = ["text": "é\n\"🎥", "list": [1, nil, 2.5]]
            #expect(try client.call("echo", parameters) == parameters)
            #expect(try client.call("echo") == [:])
            var steps: [Int64] = []
            let result = try client.call("events") { name, message in
                #expect(name == "step")
                steps.append(message["number"]?.integer ?? -1)
            }
            #expect(steps == [0, 1, 2])
            #expect(result == ["done": true])
            let error = #expect(throws: GantryError.self) { try client.call("fail") }
            #expect(error?.code == .unknownDevice)
            #expect(error?.description == "There is no such device. (looked everywhere)")
            let huge = #expect(throws: GantryError.self) { try client.call("huge") }
            #expect(huge?.code == .general)
            #expect(try client.call("echo") == [:])
        }
    }

    @Test func anAnswerMayComeLater() async throws {
        let stage = try ControlStage()
        let address = stage.address
        async let answer = onThread {
            try ControlClient.connect(to: address)?.call("wait", limit: patience)
        }
        #expect(try await stage.handler.state.wait { $0.waiting.count == 1 })
        // Meanwhile others are served.
        #expect(try await stage.isServing())
        let call = try #require(stage.handler.state.value.waiting.first)
        call.finish(.success("late"))
        call.finish(.success("again"))
        call.event("afterwards")
        #expect(try await answer == "late")
    }

    @Test func folderAndSocketAreOursAlone() throws {
        let stage = try ControlStage()
        func mode(_ path: String) throws -> Int {
            try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
        }
        let path = stage.folder.file("run/gantry/producer-a4dqobyha4dqobyh.sock")
        #expect(stage.server.path == path)
        #expect(stage.address.path == path)
        #expect(try mode(stage.folder.file("run/gantry")) == 0o700)
        #expect(try mode(path) == 0o600)
        stage.server.stop()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func stoppingEndsTheClients() async throws {
        let stage = try ControlStage()
        let client = try stage.client()
        try await onThread { () throws in
            #expect(client.send("{\"id\":1,\"method\":\"wait\"}\n"))
            #expect(stage.handler.state.waitBlocking { $0.waiting.count == 1 })
            stage.server.stop()
            try client.waitForEnd()
        }
        #expect(stage.handler.state.value.ended == [1])
        #expect(stage.handler.state.value.waiting.first?.isOpen == false)
        #expect(try ControlClient.connect(to: stage.address) == nil)
    }

    @Test func aCallThatWaitsLearnsOfTheEnd() async throws {
        let stage = try ControlStage()
        let address = stage.address
        async let failure = onThread { () -> GantryError? in
            do {
                _ = try ControlClient.connect(to: address)?.call("wait", limit: patience)
                return nil
            } catch let error as GantryError { return error }
        }
        #expect(try await stage.handler.state.wait { $0.waiting.count == 1 })
        try await onThread { stage.server.stop() }
        #expect(try await failure?.code == .peerLost)
    }

    @Test func whatDoesNotAnswerIsGivenUp() async throws {
        let stage = try ControlStage()
        let address = stage.address
        try await onThread { () throws in
            let client = try #require(try ControlClient.connect(to: address))
            let error = #expect(throws: GantryError.self) { try client.call("wait", limit: .milliseconds(100)) }
            #expect(error?.code == .timeout)
        }
    }

    /// Many programs that connect at one moment: the next one waits for its turn.
    @Test func aFullQueueIsWaitedFor() async throws {
        let folder = try TestFolder()
        let address = try ControlStage.address(in: folder)
        // It listens, and takes nobody yet.
        let server = try ControlServer(address, handler: ExampleControl())
        try await onThread { () throws in
            // One more than the queue holds (listen(2)).
            let others = try (0..<17).map { _ in try RawClient(server.path) }
            let start = ContinuousClock.now
            let error = #expect(throws: GantryError.self) { try ControlClient.connect(to: address) }
            #expect(error?.code == .controlSocket)
            #expect(start.duration(to: .now) > .seconds(1))
            try server.start()
            #expect(try ControlClient.connect(to: address) != nil)
            _ = others
            server.stop()
        }
    }

    // MARK: Sockets that are there already

    @Test func theSocketOfADeadProcessIsReplaced() async throws {
        let stage = try ControlStage()
        let saved = stage.folder.file("saved")
        // A socket file that nobody listens on any more.
        try FileManager.default.moveItem(atPath: stage.server.path, toPath: saved)
        stage.server.stop()
        try FileManager.default.moveItem(atPath: saved, toPath: stage.server.path)
        #expect(try ControlClient.connect(to: stage.address) == nil)
        let next = try ControlServer(stage.address, handler: stage.handler)
        try next.start()
        #expect(try await stage.isServing())
        try await onThread { next.stop() }
    }

    @Test func aLiveSocketIsLeftAlone() async throws {
        let stage = try ControlStage()
        let error = #expect(throws: GantryError.self) { try ControlServer(stage.address, handler: stage.handler) }
        #expect(error?.code == .busy)
        #expect(error?.message.contains(stage.server.path) == true)
        #expect(try await stage.isServing())
    }

    @Test func aFileThatIsNotOursStays() throws {
        let stage = try ControlStage()
        let path = stage.server.path
        try FileManager.default.removeItem(atPath: path)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
        stage.server.stop()
        #expect(FileManager.default.fileExists(atPath: path))
        let error = #expect(throws: GantryError.self) { try ControlServer(stage.address, handler: stage.handler) }
        #expect(error?.code == .controlSocket)
        #expect(error?.message.contains("mv ") == true)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
    }

    @Test func folderThatIsNoneOfOursIsRefused() throws {
        let folder = try TestFolder()
        let address = try ControlStage.address(in: folder)
        let gantry = folder.file("run/gantry")
        func refusal() throws -> [String] {
            let server = #expect(throws: GantryError.self) { try ControlServer(address, handler: ExampleControl()) }
            let client = #expect(throws: GantryError.self) { try ControlClient.connect(to: address) }
            #expect(server?.code == .controlSocket)
            #expect(client?.code == .controlSocket)
            return [server?.message ?? "", client?.message ?? ""]
        }
        try FileManager.default.createDirectory(atPath: folder.file("elsewhere"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: gantry, withDestinationPath: folder.file("elsewhere"))
        #expect(try refusal().allSatisfy { $0.contains("mv ") })
        try FileManager.default.removeItem(atPath: gantry)
        try FileManager.default.createDirectory(atPath: gantry, withIntermediateDirectories: false)
        chmod(gantry, 0o755)
        #expect(try refusal().allSatisfy { $0.contains("chmod 700 ") })
        try FileManager.default.removeItem(atPath: gantry)
        try Data().write(to: URL(fileURLWithPath: gantry))
        #expect(try refusal().allSatisfy { $0.contains("mv ") })
    }

    @Test func aPathThatIsTooLongForASocketWorks() async throws {
        let folder = try TestFolder()
        let address = try ControlStage.address(in: folder, runtime: String(repeating: "long/", count: 30) + "run")
        #expect(address.path.utf8.count > 150)
        let server = try ControlServer(address, handler: ExampleControl())
        try server.start()
        #expect(FileManager.default.fileExists(atPath: address.path))
        try await onThread { () throws in
            let client = try #require(try ControlClient.connect(to: address))
            #expect(try client.call("echo", ["n": 2]) == ["n": 2])
            server.stop()
        }
        #expect(!FileManager.default.fileExists(atPath: address.path))
    }

    @Test func withoutARuntimeFolderTheStateFolderServes() throws {
        let folder = try TestFolder()
        let made = try ControlStage.address(in: folder)
        let key = try #require(ControlStage.keyID)
        for runtime in [nil, "", "run", folder.file("missing"), "/dev/null"] {
            let address = ControlAddress(producer: key, stateFolder: folder.file("state"), runtimeFolder: runtime)
            #expect(!address.path.hasPrefix(folder.file("run")))
            #expect(address.path.hasPrefix(folder.file("state")) || address.path.hasPrefix("/run/user/"))
            #expect(address.path.hasSuffix(made.name))
        }
    }

    /// `sudo` may hand down the runtime folder of another user.
    @Test(.enabled(if: geteuid() == 0)) func theRuntimeFolderOfAnotherUserIsNotTaken() throws {
        let folder = try TestFolder()
        let key = try #require(ControlStage.keyID)
        let run = folder.file("run")
        try FileManager.default.createDirectory(atPath: run, withIntermediateDirectories: true)
        #expect(chown(run, 65534, 65534) == 0)
        let address = ControlAddress(producer: key, stateFolder: folder.file("state"), runtimeFolder: run)
        #expect(!address.path.hasPrefix(run))
    }
}
