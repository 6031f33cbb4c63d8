import GantryCore
import Testing

@testable import GantryMedia

@Suite struct CameraControlTests {
    /// V4L2_CID_EXPOSURE_AUTO and its menu, as the kernel's uvcvideo shows it.
    private let exposure = CameraControl(
        id: 0x009a_0901, name: "auto_exposure", kind: .menu, minimum: 0, maximum: 3, defaultValue: 3, value: 3,
        entries: [.init(value: 1, name: "Manual Mode"), .init(value: 3, name: "Aperture Priority Mode")])
    private let time = CameraControl(
        id: 0x009a_0902, name: "exposure_time_absolute", kind: .integer, minimum: 3, maximum: 2047, defaultValue: 250,
        value: 250, isInactive: true)
    private let mains = CameraControl(
        id: 0x0098_0918, name: "power_line_frequency", kind: .menu, maximum: 2, defaultValue: 2,
        entries: [.init(value: 0, name: "Disabled"), .init(value: 1, name: "50 Hz"), .init(value: 2, name: "60 Hz")])
    private let focus = CameraControl(id: 0x009a_090c, name: "focus_auto", kind: .boolean, maximum: 1)

    @Test func namesAreThoseOfV4L2Ctl() {
        #expect(CameraControl.name("White Balance, Automatic".utf8) == "white_balance_automatic")
        #expect(CameraControl.name("Exposure, Dynamic Framerate".utf8) == "exposure_dynamic_framerate")
        #expect(CameraControl.name(" (Pan)  Tilt-3 ".utf8) == "pan_tilt_3")
        #expect(CameraControl.name("\u{1b}[31m".utf8) == "31m")
        #expect(CameraControl.name("".utf8) == "")
    }

    @Test func settingsAreRead() throws {
        let setting = try CameraControlSetting("Focus-Absolute=30=x")
        #expect((setting.name, setting.value) == ("focus_absolute", "30=x"))
        for bad in ["", "focus", "=3", "focus=", "==", "-=1"] {
            #expect(throws: GantryError.self) { try CameraControlSetting(bad) }
        }
    }

    @Test func valuesAreNumbersNamesAndWords() throws {
        #expect(try mains.number(of: "50 Hz") == 1)
        #expect(try mains.number(of: "50_hz") == 1)
        #expect(try mains.number(of: "60") == 2)
        #expect(throws: GantryError.self) { try mains.number(of: "6") }
        #expect(try mains.number(of: "dis") == 0)
        #expect(try mains.number(of: "2") == 2)
        #expect(try mains.number(of: "default") == 2)
        #expect(try exposure.number(of: "manual") == 1)
        #expect(try focus.number(of: "On") == 1)
        #expect(try focus.number(of: "false") == 0)
        #expect(try time.number(of: "2047") == 2047)
        let bits = CameraControl(id: 1, name: "bits", kind: .bitmask, maximum: 0x8040_2010)
        #expect(try bits.number(of: "0x80000010") == 0x8000_0010)
        let button = CameraControl(id: 1, name: "button", kind: .button)
        #expect(try button.number(of: "x") == 1)
    }

    private func message(_ body: () throws(GantryError) -> Void) -> String? {
        do throws(GantryError) { try body() } catch { return error.code == .invalidArgument ? error.message : nil }
        return nil
    }

    @Test func whatIsWrongIsSaidWithWhatIsPossible() {
        let range = message { () throws(GantryError) in _ = try time.number(of: "1") }
        #expect(range?.contains("3 to 2047") == true)
        let entry = message { () throws(GantryError) in _ = try exposure.number(of: "2") }
        #expect(entry?.contains("manual_mode, aperture_priority_mode") == true)
        #expect(message { () throws(GantryError) in _ = try focus.number(of: "7") }?.contains("on or off") == true)
        var fixed = focus
        fixed.isReadOnly = true
        #expect(message { () throws(GantryError) in _ = try fixed.number(of: "on") }?.contains("only be read") == true)
        let name = message { () throws(GantryError) in _ = try CameraControl.named("zoom", in: [mains, focus], of: "C")
        }
        #expect(name?.contains("power_line_frequency, focus_auto") == true)
        let none = message { () throws(GantryError) in _ = try CameraControl.named("zoom", in: [], of: "C") }
        #expect(none?.contains("none at all") == true)
        // Of 50 and 60 both begin with nothing; a bit outside the mask.
        #expect(message { () throws(GantryError) in _ = try mains.number(of: "_") } != nil)
        let bits = CameraControl(id: 1, name: "bits", kind: .bitmask, maximum: 3)
        #expect(message { () throws(GantryError) in _ = try bits.number(of: "4") }?.contains("0x3") == true)
    }

    @Test func anAutomaticInTheWayIsNamed() {
        let error = CameraTuning.inactive(time, [time, exposure])
        #expect(error.message.contains("--control auto_exposure=manual_mode --control exposure_time_absolute="))
        #expect(CameraTuning.inactive(time, []).message.contains("because of another one"))
        let focused = CameraControl(id: 0x009a_090a, name: "focus_absolute", kind: .integer)
        #expect(CameraTuning.inactive(focused, [focus, focused]).message.contains("--control focus_auto=off"))
    }
}
