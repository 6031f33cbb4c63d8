import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import Testing

/// Everything that vivid can do wrong, while a camera source runs.
@Suite(.serialized, .enabled(if: CameraBench.isHere, CameraBench.reason))
struct CameraFaultTests {
    private static let wish = CameraWish(width: 320, height: 180, frameRate: .fps30)

    /// Runs a source, waits for pictures, does something to it, and waits for as many again.
    private func survives(_ harm: @escaping @Sendable () -> Void) async throws -> CameraStatistics {
        let source = try CameraSource(path: CameraBench.vivid, wish: Self.wish)
        let sink = CameraCounter()
        async let end = onThread { source.run(start: MonotonicClock.now(), sink: sink) }
        #expect(try await sink.state.wait(.seconds(60)) { $0.pictures >= 5 })
        try await onThread { harm() }
        let before = sink.state.value.pictures
        #expect(try await sink.state.wait(.seconds(60)) { $0.pictures >= before + 10 })
        source.stop()
        guard case .stopped = try await end else {
            Issue.record("it ended by itself")
            return CameraStatistics()
        }
        return source.statistics
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            "inject_fatal_streaming_error", "inject_vidioc_qbuf_error", "inject_v4l2_buf_flag_error",
            "disconnect", "wrap_timestamp",
        ])
    func oneFaultIsSurvived(_ fault: String) async throws {
        _ = try await survives { CameraBench.set(fault, 1) }
        if fault == "wrap_timestamp" { CameraBench.set(fault, 0) }
    }

    /// These bite when the camera is opened again.
    @Test(.timeLimit(.minutes(5)), arguments: ["inject_vidioc_reqbufs_error", "inject_vidioc_streamon_error"])
    func aFaultAtTheBeginningIsSurvived(_ fault: String) async throws {
        _ = try await survives {
            CameraBench.set(fault, 1)
            CameraBench.set("inject_fatal_streaming_error", 1)
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: ["inject_vidioc_reqbufs_error", "inject_vidioc_streamon_error"])
    func aFaultBeforeTheFirstPictureIsSurvived(_ fault: String) async throws {
        CameraBench.set(fault, 1)
        _ = try await survives {}
    }

    @Test(.timeLimit(.minutes(5))) func lostPicturesAreCounted() async throws {
        defer { CameraBench.set("percentage_of_dropped_buffers", 0) }
        let statistics = try await survives {
            CameraBench.set("percentage_of_dropped_buffers", 90)
        }
        // Nine of ten are lost; ten come.
        #expect(statistics.delivered >= 15 && statistics.lost >= 20, "\(statistics)")
    }

    @Test(.timeLimit(.minutes(5))) func theMeasuredRateIsTheRealOne() async throws {
        defer { CameraBench.set("reduced_framerate", 0) }
        CameraBench.set("reduced_framerate", 1)
        let source = try CameraSource(path: CameraBench.vivid, wish: Self.wish)
        let sink = CameraCounter()
        async let end = onThread { source.run(start: MonotonicClock.now(), sink: sink) }
        #expect(try await sink.state.wait(.seconds(60)) { $0.pictures >= 60 })
        source.stop()
        _ = try await end
        let rate = try #require(source.statistics.measuredRate)
        // By the driver's stamps, which the slowness of the machine does not change much.
        #expect(0.5...31 ~= rate, "\(rate)")
    }

    /// Where it comes back, and by what name it was asked for.
    enum Return: CaseIterable, CustomTestStringConvertible {
        /// Plugged in before the old node was let go: the new one has another number.
        case otherNode
        case sameNode
        /// Named by udev's link.
        case link

        var testDescription: String { "\(self)" }
    }

    @Test(.timeLimit(.minutes(5)), arguments: Return.allCases)
    func itIsBackInTwoSecondsOfTheDevice(_ kind: Return) async throws {
        let link = try #require(
            await onThread { CameraList.all() }.first { $0.path == CameraBench.vivid }?.stablePath)
        let source = try CameraSource(path: kind == .link ? link : CameraBench.vivid, wish: Self.wish)
        let sink = CameraCounter()
        async let end = onThread { source.run(start: MonotonicClock.now(), sink: sink) }
        #expect(try await sink.state.wait(.seconds(60)) { $0.pictures >= 5 })
        var slowest = MediaDuration.zero
        for round in 0..<5 {
            let before = CameraBench.vivid
            try await onThread { CameraBench.unplug() }
            if kind != .otherNode { #expect(try await CameraBench.comesTrue { !Self.holdsACamera }) }
            sink.state.change { $0.firstAt = nil }
            let present = try await onThread { () -> MediaTimestamp in
                CameraBench.plug()
                return MonotonicClock.now()
            }
            #expect(try await sink.state.wait(.seconds(60)) { $0.firstAt != nil })
            if let first = sink.state.value.firstAt { slowest = max(slowest, first - present) }
            // It gets the lowest number that is free, which it may not have had at first.
            if kind == .sameNode, round > 0 { #expect(CameraBench.vivid == before) }
        }
        source.stop()
        _ = try await end
        print("camera back (\(kind)) after at most \(slowest.microseconds / 1000) ms")
        #expect(slowest < .seconds(2))
    }

    private static var holdsACamera: Bool {
        let folder = "/proc/self/fd"
        let all = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return all.contains { number in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(number)"))?
                .hasPrefix("/dev/video") == true
        }
    }

    /// What this process holds.
    private struct Holdings {
        var descriptors: Int
        var mappings: Int
        var residentKilobytes: Int

        init() {
            descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
            let maps = (try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)) ?? ""
            mappings = maps.split(separator: "\n").count { $0.contains("/dev/video") }
            let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
            residentKilobytes = line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        }
    }

    /// GANTRY_UNPLUGS sets how often; the whole number takes minutes.
    @Test(.timeLimit(.minutes(20))) func nothingLeaksWhenItIsUnplugged() async throws {
        let times = ProcessInfo.processInfo.environment["GANTRY_UNPLUGS"].flatMap { Int($0) } ?? 20
        let source = try CameraSource(path: CameraBench.vivid, wish: Self.wish)
        let sink = CameraCounter()
        async let end = onThread { source.run(start: MonotonicClock.now(), sink: sink) }
        var early: Holdings?
        for round in 0..<times {
            let before = sink.state.value.pictures
            #expect(try await sink.state.wait(.seconds(60)) { $0.pictures >= before + 2 })
            // The first rounds fill caches.
            if round == 5 { early = Holdings() }
            try await onThread {
                CameraBench.unplug()
                CameraBench.plug()
            }
        }
        let before = sink.state.value.pictures
        #expect(try await sink.state.wait(.seconds(60)) { $0.pictures >= before + 2 })
        let late = Holdings()
        source.stop()
        _ = try await end
        let first = try #require(early)
        print("after \(times) unplugs: \(first) was, \(late) is")
        #expect(late.descriptors <= first.descriptors + 2)
        #expect(late.mappings <= first.mappings)
        #expect(late.residentKilobytes < first.residentKilobytes + 16 * 1024)
    }
}
