import GantryCore
import GantryTestSupport
import Testing

@testable import GantryMedia

@Suite struct ScreenPlaceTests {
    private static func place(_ text: String, _ environment: [String: String] = ["DISPLAY": ":7"]) throws -> ScreenPlace
    {
        try ScreenPlace(text) { environment[$0] }
    }

    @Test(arguments: [
        ("screen", ":7"), ("screen:", ":7"), ("screen:1", ":1"), ("screen::1", ":1"), ("screen::99.0", ":99.0"),
        ("screen:1.0", ":1.0"), ("screen:host:10.0", "host:10.0"), ("screen:unix:0", "unix:0"),
        ("screen:my-host.example:3", "my-host.example:3"),
    ])
    func displaysAreRead(text: String, display: String) throws {
        let place = try Self.place(text)
        #expect(place.display == display)
        #expect(place.region == nil)
    }

    @Test func partsAreRead() throws {
        let part = ScreenPlace.Region(width: 640, height: 480, left: 100, top: 5)
        #expect(try Self.place("screen,640x480+100+5") == ScreenPlace(display: ":7", region: part))
        #expect(try Self.place("screen::2,640x480+100+5") == ScreenPlace(display: ":2", region: part))
    }

    @Test(arguments: [
        "screen:abc", "screen::", "screen::x", "screen:host", "screen,", "screen,640x480", "screen,640x480+1",
        "screen,15x480+0+0", "screen,640x8193+0+0", "screen,640x480+-1+0", "screen,640x480+0+0+0",
        "screen,640x480+999999+0", "screen::1;reboot", "screen::1 -x", "screen:\u{1B}[2J:1", "screen::1\u{0}2",
        "screen,640×480+0+0", "screen,٦٤٠x480+0+0",
    ])
    func othersAreRefused(text: String) throws {
        let error = #expect(throws: GantryError.self) { _ = try Self.place(text) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("screen,640x480+0+0") == true)
    }

    @Test func onlyScreensAreScreens() {
        #expect(["screen", "screen:1", "screen,1x1+0+0"].allSatisfy(ScreenPlace.isScreen))
        #expect(!["screens", "screen.mp4", "screenshot.png", "./screen:1", ""].contains(where: ScreenPlace.isScreen))
    }

    @Test func withoutDisplayTheErrorSaysWhy() throws {
        for environment in [[:], ["DISPLAY": ""], ["DISPLAY": "rubbish"]] {
            let none = #expect(throws: GantryError.self) { _ = try Self.place("screen", environment) }
            #expect(none?.code == .sourceNotFound)
            #expect(none?.message.contains("DISPLAY") == true)
            var wayland = environment
            wayland["WAYLAND_DISPLAY"] = "wayland-0"
            let other = #expect(throws: GantryError.self) { _ = try Self.place("screen,640x480+0+0", wayland) }
            #expect(other?.code == .sourceNotFound)
            #expect(other?.message.contains("Wayland") == true)
            #expect(try Self.place("screen::0", wayland).display == ":0")
        }
    }
}
