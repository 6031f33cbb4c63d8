import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Testing

@testable import GantryMedia

/// The screen of a virtual X server as a source; ImageMagick draws on it.
@Suite(
    .enabled(if: VirtualScreen.isPossible("display", "convert"), "needs xvfb and imagemagick: scripts/setup --test"),
    .timeLimit(.minutes(3)))
struct ScreenSourceTests {
    /// Red, green over blue, white: a quarter each.
    private static func quarters() async throws -> (screen: VirtualScreen, folder: TestFolder) {
        let screen = try await VirtualScreen()
        let folder = try TestFolder()
        let path = folder.file("quarters.png")
        _ = try await Oracle.check([
            "convert", "(", "-size", "320x240", "xc:red", "xc:lime", "+append", ")", "(", "xc:blue", "xc:white",
            "+append", ")", "-append", path,
        ])
        try await screen.show(path)
        return (screen, folder)
    }

    /// The colour in the middle of a part of the picture, given in sixteenths of its sides.
    private static func color(_ picture: Picture, _ x: Int, _ y: Int) -> [Int] {
        let (column, row) = (picture.width * x / 16, picture.height * y / 16)
        return (0..<3).map { plane in
            let shift = plane == 0 ? 0 : 1
            return Int(picture.plane(plane)[(row >> shift) * picture.stride(plane) + (column >> shift)])
        }
    }

    /// Full colours in BT.601, limited range (ITU-R BT.601, 8 bit).
    private static let colors = [
        "red": [81, 90, 240], "lime": [145, 54, 34], "blue": [41, 240, 110], "white": [235, 128, 128],
    ]

    private static func expect(
        _ picture: Picture, _ x: Int, _ y: Int, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let found = color(picture, x, y)
        let wanted = try #require(colors[name])
        #expect(
            zip(found, wanted).allSatisfy { abs($0 - $1) <= 3 }, "\(found) for \(name), \(wanted)",
            sourceLocation: sourceLocation)
    }

    private static func play(_ source: ScreenSource, pictures: Int) async -> (CollectingSink, MediaSourceEnd) {
        let sink = CollectingSink(keep: 1, stopAfter: pictures) { source.stop() }
        return (sink, await source.collect(start: MonotonicClock.now(), into: sink))
    }

    @Test func sizeColoursAndRateAreThoseOfTheScreen() async throws {
        let (screen, _) = try await Self.quarters()
        let source = try ScreenSource(ScreenPlace(display: screen.display), frameRate: try #require(FrameRate(25, 1)))
        #expect(source.info.video?.width == 640 && source.info.video?.height == 480)
        #expect(source.info.isLive && source.info.audio == nil)
        let (sink, end) = await Self.play(source, pictures: 50)
        guard case .stopped = end else {
            Issue.record("\(end)")
            return
        }
        let picture = try #require(sink.pictures.first)
        #expect(picture.color == .bt601)
        for (x, y, name) in [(3, 3, "red"), (13, 3, "lime"), (3, 13, "blue"), (13, 13, "white")] {
            try Self.expect(picture, x, y, name)
        }
        let stamps = sink.video.map(\.presentation.microseconds)
        let spacing = zip(stamps.dropFirst(), stamps).map { $0 - $1 }.sorted()
        // Half of them are exact on a machine that is not loaded; none come in a burst.
        #expect(39_000...60_000 ~= spacing[spacing.count / 2], "\(spacing)")
        // A stamp is of before the reading: the first may be late by as long as the machine had other things to do, and the
        // next ones are as they should be.
        #expect(stamps[49] - stamps[0] >= 48 * 40_000, "faster than asked for")
        // Stamps are of before the reading, and the picture is there soon after.
        let delays = sink.video.map { ($0.arrival - $0.capture).microseconds }.sorted()
        #expect(delays[0] >= 0)
        #expect(delays[25] < 200_000, "\(delays)")
    }

    @Test func aPartIsCutOutAndASizeIsFilled() async throws {
        let (screen, _) = try await Self.quarters()
        // The lower right of it, and a little of the others: odd sides are cut to even.
        let region = ScreenPlace.Region(width: 361, height: 281, left: 279, top: 199)
        let part = try ScreenSource(ScreenPlace(display: screen.display, region: region))
        #expect(part.info.video?.width == 360 && part.info.video?.height == 280)
        let cut = try #require(await Self.play(part, pictures: 1).0.pictures.first)
        try Self.expect(cut, 10, 10, "white")
        try Self.expect(cut, 1, 1, "red")
        try Self.expect(cut, 1, 10, "blue")
        let small = try ScreenSource(ScreenPlace(display: screen.display), size: .init(width: 320, height: 180))
        let picture = try #require(await Self.play(small, pictures: 1).0.pictures.first)
        #expect(picture.width == 320 && picture.height == 180)
        // 4:3 in 16:9 stands between black bars of 40 pixels.
        #expect(Self.color(picture, 1, 8)[0] == 16)
        try Self.expect(picture, 4, 3, "red")
        try Self.expect(picture, 12, 13, "white")
        let outside = ScreenPlace.Region(width: 640, height: 480, left: 1, top: 0)
        let error = #expect(throws: GantryError.self) {
            _ = try ScreenSource(ScreenPlace(display: screen.display, region: outside))
        }
        #expect(error?.code == .invalidArgument)
    }

    @Test func aPauseReadsNothing() async throws {
        let screen = try await VirtualScreen("320x240x24")
        let source = try ScreenSource(ScreenPlace(display: screen.display))
        let sink = CollectingSink()
        source.pause()
        async let end = source.collect(start: MonotonicClock.now(), into: sink)
        try await Task.sleep(for: .milliseconds(300))
        #expect(sink.video.isEmpty)
        let resumed = MonotonicClock.now()
        source.resume()
        _ = try await onThread {
            while sink.video.count < 3 { MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(5)) }
        }
        source.stop()
        guard case .stopped = await end else {
            Issue.record("it ended by itself")
            return
        }
        #expect(sink.video.allSatisfy { $0.capture >= resumed })
    }

    @Test func aServerThatEndsIsSaid() async throws {
        let screen = try await VirtualScreen("320x240x24")
        let source = try ScreenSource(ScreenPlace(display: screen.display))
        let sink = CollectingSink(stopAfter: 3) {}
        async let end = source.collect(start: MonotonicClock.now(), into: sink)
        _ = try await onThread {
            while sink.video.isEmpty { MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(5)) }
        }
        try await screen.end()
        guard case .endedEarly(let error) = await end else {
            Issue.record("it did not end early")
            return
        }
        #expect(error.code == .sourceLost)
        #expect(error.message.contains("has gone"), "\(error)")
    }

    @Test(.enabled(if: VirtualScreen.isPossible("Xephyr", "xrandr"), "needs xserver-xephyr and x11-xserver-utils"))
    func aScreenThatShrinksIsSaid() async throws {
        let outer = try await VirtualScreen("800x600x24")
        let screen = try await VirtualScreen("640x480", inside: outer)
        let source = try ScreenSource(ScreenPlace(display: screen.display))
        let sink = CollectingSink()
        async let end = source.collect(start: MonotonicClock.now(), into: sink)
        _ = try await onThread {
            while sink.video.isEmpty { MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(5)) }
        }
        _ = try await Oracle.check(["xrandr", "-display", screen.display, "-s", "320x240"])
        guard case .endedEarly(let error) = await end else {
            Issue.record("it did not end early")
            return
        }
        #expect(error.code == .sourceLost)
        #expect(error.message.contains("another size"), "\(error)")
    }

    @Test func whatCannotBeOpenedSaysWhy() async throws {
        let missing = #expect(throws: GantryError.self) { _ = try ScreenSource(ScreenPlace(display: ":4711")) }
        #expect(missing?.code == .sourceNotFound)
        #expect(missing?.message.contains(":4711") == true)
        let coarse = try await VirtualScreen("320x240x16")
        let error = #expect(throws: GantryError.self) { _ = try ScreenSource(ScreenPlace(display: coarse.display)) }
        #expect(error?.code == .sourceUnreadable)
        #expect(error?.message.contains("24 bits") == true)
        let fine = try await VirtualScreen("320x240x24")
        let odd = #expect(throws: GantryError.self) {
            _ = try ScreenSource(ScreenPlace(display: fine.display), size: .init(width: 321, height: 240))
        }
        #expect(odd?.code == .invalidArgument)
    }

    /// Only a screen loads the library: see `DeviceLibrary`.
    @Test func theLibraryIsNotLinked() async throws {
        let linked = try await Oracle.check(["ldd", ToolRun.folder + "/gantry-producer"]).text
        #expect(!linked.contains("libavdevice"))
    }
}
