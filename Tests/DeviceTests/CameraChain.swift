import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import Testing

/// A camera, both tools as processes, a virtual camera and its reader, all on the machine of `scripts/vm`.
///
/// The tools are those of `GANTRY_TOOLS` where that is set: a debug build is too slow for 640x480@25 there.
final class CameraChain: Sendable {
    static let hasReleaseTools = ProcessInfo.processInfo.environment["GANTRY_TOOLS"] != nil
    static let needsReleaseTools: Comment =
        "needs tools that keep the rate in an emulated machine: scripts/build, then GANTRY_TOOLS=.build/release"
    /// The machine's clock follows its code: `scripts/vm --steady`.
    static let isSteady = ProcessInfo.processInfo.environment["GANTRY_VM_STEADY"] == "1"
    /// Of the test of the rate.
    static let seconds = ProcessInfo.processInfo.environment["GANTRY_CAMERA_SECONDS"].flatMap { Int($0) } ?? 15

    /// The virtual camera, with exclusive_caps as browsers need it.
    static let screen = "/dev/video10"
    /// The other one, a camera that a test plays into.
    static let stage = "/dev/video11"

    let folder: TestFolder
    let port: String

    /// Paired, nothing runs.
    init() async throws {
        folder = try TestFolder()
        port = String(try LoopbackSocket.freePort())
        let window = try tool("studio", ["pair", "--text", "--address", "127.0.0.1"])
        let code = try #require(jsonLine(try await window.line(containing: "\"code\""))?["code"] as? String)
        let pairing = try tool("producer", ["pair", "-", "--port", port, "--name", "Camera"], input: .text(code))
        #expect(try await pairing.end().status == 0)
        #expect(try await window.end().status == 0)
    }

    func tool(_ name: String, _ arguments: [String], input: ToolRun.Input = .none) throws -> ToolRun {
        try ToolRun(["gantry-" + name, "--state-dir", folder.file(name), "--json"] + arguments, input: input)
    }

    /// A producer that runs, without sound.
    func produce(_ arguments: [String]) async throws -> ToolRun {
        let producer = try tool("producer", ["run", "--port", port, "--audio", "off"] + arguments)
        try await producer.line(containing: "\"started\"")
        return producer
    }

    /// A studio with a virtual camera; does not wait for anything.
    func receive(_ size: String, _ arguments: [String] = []) throws -> ToolRun {
        try tool(
            "studio",
            ["receive", "127.0.0.1:" + port, "--no-audio", "--vcam=" + Self.screen, "--vcam-size", size] + arguments)
    }

    /// Ends a tool as Ctrl-C does. Its summary.
    @discardableResult
    static func stop(_ run: ToolRun) async throws -> [String: Any] {
        run.signal(SIGINT)
        let end = try await run.end()
        #expect(end.status == 0, "\(end.errorText)")
        return end.lines.last { $0.contains("\"summary\"") }.flatMap(jsonLine) ?? [:]
    }
}

/// What a program sees that has the virtual camera open, all the time.
final class CameraReader: Sendable {
    struct State: Sendable {
        var count = 0
        /// Nil before the first.
        var isPicture: Bool?
        /// Each time that it went from the card to pictures or back.
        var turns: [(isPicture: Bool, at: MediaTimestamp)] = []
        /// By the time code, where there is one: from capture to here, and the numbers.
        var latencies: [Int] = []
        var numbers: [UInt32] = []
        var failure: String?
        var isOver = false

        var isCard: Bool { isPicture == false }
    }

    let state = Watched(State())
    private let stopper: EventDescriptor

    /// Opens it as soon as there is something to read.
    init(_ device: String = CameraChain.screen) throws {
        let stopper = try EventDescriptor()
        self.stopper = stopper
        let state = state
        Thread.detachNewThread {
            do {
                let camera = try Self.open(device, stopper)
                try camera.run { (picture) throws(GantryError) in
                    Self.see(picture, state)
                    return true
                }
            } catch { state.change { $0.failure = "\(error)" } }
            state.change { $0.isOver = true }
        }
    }

    deinit { stopper.signal() }

    private static func open(_ device: String, _ stopper: EventDescriptor) throws -> CameraCapture {
        let deadline = MonotonicClock.now() + patience
        while true {
            do { return try CameraCapture(device: device, stopper: stopper) } catch {
                if MonotonicClock.now() >= deadline { throw error }
                usleep(100_000)
            }
        }
    }

    private static func see(_ picture: Picture, _ state: Watched<State>) {
        let now = MonotonicClock.now()
        let code = TimeCode.read(from: picture)
        // The red bar of vivid, or a red picture; the card is dark grey.
        let (x, y) = (picture.width * 11 / 16, picture.height * 5 / 6)
        let isRed = picture.plane(2)[y / 2 * picture.stride(2) + x / 2] > 180
        let isPicture = code != nil || isRed
        state.change {
            $0.count += 1
            if $0.isPicture != isPicture { $0.turns.append((isPicture, now)) }
            $0.isPicture = isPicture
            guard let code else { return }
            if $0.numbers.last != code.frameNumber {
                $0.numbers.append(code.frameNumber)
                $0.latencies.append(Int((now - code.capture).microseconds))
            }
        }
    }

    /// Waits until it sees pictures, or the card, again.
    func sees(picture: Bool) async throws -> Bool {
        let isSo = try await state.wait { $0.isPicture == picture || $0.isOver }
        return isSo && !state.value.isOver
    }

    /// Ends it, whatever becomes of it.
    func abandon() { stopper.signal() }

    func stop() async throws {
        stopper.signal()
        #expect(try await state.wait { $0.isOver })
        #expect(state.value.failure == nil)
    }
}
