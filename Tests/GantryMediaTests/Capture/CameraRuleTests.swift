import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Testing

@testable import GantryMedia

@Suite struct CameraRuleTests {
    private func camera(_ path: String, virtual: Bool = false, _ problem: GantryError? = nil) -> CameraInfo {
        CameraInfo(path: path, name: path, driver: "d", bus: "b", isVirtual: virtual, problem: problem)
    }

    private func refusal(_ cameras: [CameraInfo]) -> GantryError? {
        do throws(GantryError) {
            _ = try CameraList.best(cameras)
            return nil
        } catch { return error }
    }

    @Test func theDefaultIsTheFirstRealCameraThatCanBeUsed() throws {
        let busy = GantryError(.sourceBusy, "in use")
        let cameras = [
            camera("/dev/video0", virtual: true), camera("/dev/video1", busy), camera("/dev/video2"),
            camera("/dev/video3"),
        ]
        #expect(try CameraList.best(cameras).path == "/dev/video2")
        #expect(refusal(Array(cameras.prefix(2)))?.code == .sourceBusy)
        let only = refusal(Array(cameras.prefix(1)))
        #expect(only?.code == .sourceNotFound)
        #expect(only?.message.contains("run /dev/video0") == true)
    }

    private func offer(_ pixels: CameraPixels, _ width: Int, _ height: Int, _ rate: UInt32) -> CameraOffer {
        CameraOffer(pixels: pixels, width: width...width, height: height...height, frameRate: FrameRate(rate))
    }

    @Test func theChoiceIsExplained() {
        let offers = [
            offer(.yuyv, 640, 480, 30), offer(.yuyv, 1280, 720, 10), offer(.mjpeg, 1280, 720, 30),
            offer(.h264, 1280, 720, 30),
        ]
        let ranked = CameraNegotiation.rank(offers, wish: CameraWish())
        #expect(ranked.map(\.offer) == [2, 3, 1, 0])
        let lines = CameraNegotiation.explanation(ranked, wish: CameraWish())
        #expect(lines.count == 5)
        #expect(lines.first?.hasPrefix("asked for 1280x720 30 fps; takes 1280x720 mjpeg 30 fps") == true)
        #expect(
            lines.dropFirst().first
                == "penalty 0.03 = size 0.00 + shape 0.00 + rate 0.00 + format 0.03: 1280x720 mjpeg 30 fps")
        // 30 against 10 is 1.58 octaves, twice; as is a third of the area, whose shape is another one besides.
        #expect(lines.dropFirst(3).first?.contains("rate 3.17") == true)
        #expect(lines.last?.contains("size 3.17 + shape 0.21") == true)
        let many = CameraNegotiation.rank(
            (0..<200).map { offer(.yuyv, 640 + 2 * $0, 480, 30) }, wish: CameraWish())
        #expect(CameraNegotiation.explanation(many, wish: CameraWish()).count == 18)
        #expect(CameraNegotiation.explanation([], wish: CameraWish()).isEmpty)
    }

    @Test func deliveryDecidesWhatIsOnOffer() {
        let offers = [offer(.yuyv, 1280, 720, 30), offer(.mjpeg, 640, 480, 30), offer(.h264, 1920, 1080, 30)]
        func choice(_ delivery: CameraDelivery) -> CameraPixels? {
            CameraNegotiation.choose(offers, wish: CameraWish(), options: CameraOptions(delivery: delivery))?.pixels
        }
        #expect(choice(.auto) == .yuyv)
        #expect(choice(.pictures) == .yuyv)
        #expect(choice(.mjpeg) == .mjpeg)
        #expect(choice(.h264) == .h264)
        #expect(
            CameraNegotiation.choose([offers[0]], wish: CameraWish(), options: CameraOptions(delivery: .h264)) == nil)
        #expect(CameraDelivery.auto.passesOn(.h264) && !CameraDelivery.auto.passesOn(.mjpeg))
        #expect(!CameraDelivery.pictures.passesOn(.h264) && CameraDelivery.mjpeg.passesOn(.mjpeg))
    }

    @Test func numbersHaveTheGapsOfTheDriver() {
        var sequence = CameraSequence(first: 7)
        #expect([10, 11, 14, 15].map { sequence.next($0) } == [7, 8, 11, 12])
        #expect(sequence.lostCount == 2)
        // Stands still, goes back, jumps: no loss that could be counted.
        #expect([15, 15, 3, 4, 90_000].map { sequence.next($0) } == [13, 14, 15, 16, 17])
        #expect(sequence.lostCount == 2)
        var wrapping = CameraSequence(first: .max)
        #expect([UInt32.max - 1, .max, 1].map { wrapping.next($0) } == [.max, 0, 2])
    }

    @Test func theRateIsMeasuredOverSeconds() throws {
        var rate = CameraRate()
        #expect(rate.perSecond == nil)
        var now = MediaTimestamp(microseconds: 0)
        func run(_ seconds: Int64, perSecond: Int64) {
            for _ in 0..<(seconds * perSecond) {
                now = now + .microseconds(1_000_000 / perSecond)
                rate.add(now)
            }
        }
        run(10, perSecond: 30)
        #expect(abs(try #require(rate.perSecond) - 30) < 0.1)
        run(5, perSecond: 8)
        #expect(abs(try #require(rate.perSecond) - 8) < 0.1)
        run(5, perSecond: 200)
        #expect(abs(try #require(rate.perSecond) - 200) < 1)
        // The clock goes back.
        now = MediaTimestamp(microseconds: 5)
        rate.add(now)
        #expect(rate.perSecond == nil)
        run(2, perSecond: 10)
        #expect(abs(try #require(rate.perSecond) - 10) < 0.1)
    }

    @Test func aSlowCameraIsSaidOnceAndItsRecovery() {
        var watch = CameraRateWatch(nominal: .fps30)
        func at(_ seconds: Int64, _ rate: Double) -> CameraRateWatch.Notice? {
            watch.note(rate, now: MediaTimestamp(microseconds: seconds * 1_000_000))
        }
        #expect(at(0, 5) == nil)
        #expect(at(4, 5) == nil)
        #expect(at(6, 15) == .slow(15))
        #expect(at(7, 7) == nil)
        #expect(at(17, 14) == nil)
        #expect(at(18, 7.5) == .slow(7.5))
        #expect(at(30, 28) == nil)
        #expect(at(31, 29.5) == .recovered(29.5))
        #expect(at(60, 30) == nil)
    }

    @Test func errorsOfTheKernelHaveTheirWords() {
        let full = CameraFailure.during("/dev/video0", SystemError(errno: ENOSPC, during: "VIDIOC_STREAMON"))
        #expect(full.code == .sourceBusy && full.message.contains("bandwidth") && full.message.contains("another port"))
        #expect(
            CameraFailure.during("/dev/video0", SystemError(errno: ENODEV, during: "x")).message.contains("unplugged"))
        #expect(CameraFailure.noSuchDelivery("/dev/video0", .h264, [FourCC("YUYV")]).message.contains("only YUYV"))
    }

    @Test func whoHoldsAFileIsFound() async throws {
        let folder = try TestFolder()
        try "".write(toFile: folder.file("node"), atomically: false, encoding: .utf8)
        #expect(DeviceHolders.names(of: folder.file("node")).isEmpty)
        let own = open(folder.file("node"), O_RDONLY)
        defer { close(own) }
        #expect(DeviceHolders.names(of: folder.file("node")) == ["this very program"])
        let reader = try ToolRun(["tail", "-f", folder.file("node")])
        // We have it open because we look; so has, for a moment, each process that another test starts.
        let found = "tail (process \(reader.processID))"
        var names: [String] = []
        for _ in 0..<1000 where names != [found] {
            names = DeviceHolders.names(of: folder.file("node"))
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(names == [found])
        reader.signal(SIGKILL)
    }

    @Test func theGroupOfANodeIsNamed() throws {
        let folder = try TestFolder()
        try "".write(toFile: folder.file("node"), atomically: false, encoding: .utf8)
        try #require(getuid() != 0 || chown(folder.file("node"), 0, 54_321) == 0)
        chmod(folder.file("node"), 0o660)
        if getuid() == 0 { #expect(try #require(SystemPath.group(of: folder.file("node"))) == ("54321", false)) }
        #expect(SystemPath.group(of: folder.file("none")) == nil)
        #expect(try #require(SystemPath.group(of: "/dev/null")).isRoot)
        #expect(SystemPath.firstLine("/proc/self/comm")?.isEmpty == false)
    }
}
