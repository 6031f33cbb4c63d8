import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import Testing

/// The cameras of the virtual machine, and what tests do to them.
enum CameraBench {
    static var isHere: Bool { ProcessInfo.processInfo.environment["GANTRY_VM"] == "1" }
    static let reason: Comment =
        "needs devices that this machine may not have: run them in a virtual machine with scripts/vm --tests"

    /// vivid's node. Plugged in again, it may have another number.
    static var vivid: String { "/dev/" + (nodes(named: "vivid").first ?? "video0") }

    /// Nodes whose name in sysfs begins so.
    static func nodes(named name: String) -> [String] {
        let names = "/sys/class/video4linux"
        let all = (try? FileManager.default.contentsOfDirectory(atPath: names)) ?? []
        return all.sorted().filter { node in
            (try? String(contentsOfFile: "\(names)/\(node)/name", encoding: .utf8))?.hasPrefix(name) == true
        }
    }

    /// Runs a tool to its end, on the calling thread; what it has written.
    @discardableResult
    static func tool(_ arguments: [String]) -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        guard (try? process.runUnblocked()) != nil else { return "" }
        let data = (try? output.fileHandleForReading.readToEnd()) ?? Data()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }

    /// A value as v4l2-ctl reads it.
    static func control(_ name: String, _ device: String = vivid) -> Int? {
        let text = tool(["v4l2-ctl", "-d", device, "-C", name])
        return text.split(separator: ":").last.flatMap {
            Int($0.split(separator: " ").first?.trimmingCharacters(in: .whitespacesAndNewlines) ?? "")
        }
    }

    static func set(_ name: String, _ value: Int, _ device: String = vivid) {
        tool(["v4l2-ctl", "-d", device, "-c", "\(name)=\(value)"])
    }

    private static let driver = "/sys/bus/platform/drivers/vivid"
    static func unplug() { try? "vivid.0".write(toFile: driver + "/unbind", atomically: false, encoding: .utf8) }
    static func plug() { try? "vivid.0".write(toFile: driver + "/bind", atomically: false, encoding: .utf8) }

    /// What is wrong with a camera, in words.
    static func problem(of path: String) -> String? {
        CameraList.all().first { $0.path == path }?.problem?.message
    }

    /// Asks again and again, on a thread, for a minute.
    static func comesTrue(_ condition: @escaping @Sendable () -> Bool) async throws -> Bool {
        try await onThread {
            let deadline = MonotonicClock.now() + .seconds(60)
            while MonotonicClock.now() < deadline {
                if condition() { return true }
                usleep(100_000)
            }
            return false
        }
    }

    static func failure(_ body: () async throws -> Void) async throws -> GantryError? {
        do {
            try await body()
            return nil
        } catch let error as GantryError { return error }
    }

    /// ffmpeg as a camera on v4l2loopback, that shows a colour. Comes back when it has begun.
    static func show(_ color: String, on device: String, codec: [String], size: String = "320x240", rate: Int = 10)
        async throws -> ToolRun
    {
        let writer = try ToolRun(
            [
                "ffmpeg", "-v", "error", "-nostdin", "-progress", "pipe:1", "-re", "-f", "lavfi", "-i",
                "color=\(color):s=\(size):r=\(rate)",
            ] + codec + ["-f", "v4l2", device])
        let isThere = try await writer.state.wait { state in
            state.outputEnded
                || state.lines.contains { $0.hasPrefix("frame=") && (Int($0.dropFirst(6)) ?? 0) > 1 }
        }
        #expect(isThere && !writer.state.value.outputEnded, "\(writer.state.value.errorText)")
        return writer
    }
}

/// Counts what a source gives, and remembers the newest.
final class CameraCounter: MediaSink, @unchecked Sendable {  // `state` guards itself; `wantsKey` is set in `init`.
    struct State: Sendable {
        var pictures = 0
        var packets: [MediaHeader] = []
        var codec: MediaCodec?
        var bytes = Data()
        var firstAt: MediaTimestamp?
        var newestAt: MediaTimestamp?
        /// In the middle of the newest.
        var colour: (y: Int, u: Int, v: Int) = (0, 0, 0)
    }
    let state = Watched(State())
    private let wantsKey: Bool

    init(wantsKey: Bool = false) { self.wantsKey = wantsKey }

    func video(_ picture: Picture) {
        let (x, y) = (picture.width / 2, picture.height / 2)
        let colour = (
            y: Int(picture.plane(0)[y * picture.stride(0) + x]),
            u: Int(picture.plane(1)[y / 2 * picture.stride(1) + x / 2]),
            v: Int(picture.plane(2)[y / 2 * picture.stride(2) + x / 2])
        )
        let now = MonotonicClock.now()
        state.change {
            $0.pictures += 1
            if $0.firstAt == nil { $0.firstAt = now }
            $0.newestAt = now
            $0.colour = colour
        }
    }

    func coded(_ packet: MediaPacket) -> Bool {
        state.change {
            $0.packets.append(packet.header)
            $0.codec = packet.codec
            $0.bytes.append(contentsOf: packet.bytes)
        }
        return wantsKey
    }

    func audio(_ block: AudioBlock) {}
    func waitForRoom(until deadline: MediaTimestamp) -> Bool { true }
}
