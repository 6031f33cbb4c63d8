import CommandLineKit
import GantryCore
import GantryMedia

/// What this machine could send, and what it sends when nobody says what.
struct SourceInventory {
    let cameras: [CameraInfo]
    let microphones: [MicrophoneInfo]
    /// Or why there is none.
    let screen: Result<ScreenInfo, GantryError>
    let defaultCamera: Result<CameraInfo, GantryError>
    let defaultMicrophone: Result<MicrophoneInfo, GantryError>

    /// Looks at everything; nothing is used, and no program that uses a device is disturbed.
    init() {
        let cameras = CameraList.all()
        self.cameras = cameras
        let microphones = MicrophoneList.all()
        self.microphones = microphones
        screen = Self.result { () throws(GantryError) in try ScreenList.own { Environment[$0] } }
        defaultCamera = Self.result { () throws(GantryError) in try CameraList.best(cameras) }
        defaultMicrophone = Self.result { () throws(GantryError) in try MicrophoneList.best(of: microphones) }
    }

    private static func result<Value>(_ body: () throws(GantryError) -> Value) -> Result<Value, GantryError> {
        do throws(GantryError) { return .success(try body()) } catch { return .failure(error) }
    }

    /// In a sentence: what `gantry-producer run` sends, or why it cannot.
    var explanation: String {
        switch defaultCamera {
        case .failure(let error): return "`gantry-producer run` has nothing to send: \(error)"
        case .success(let camera):
            let others = cameras.filter { !$0.isVirtual && $0.problem != nil && $0.path != camera.path }
            let reason =
                others.isEmpty
                ? "the first real camera" : "the first real camera that can be used now"
            return "`gantry-producer run` sends \(camera.path) (\(camera.name)), \(reason), \(sound)."
        }
    }

    private var sound: String {
        switch defaultMicrophone {
        case .failure: return "without sound, as there is no microphone that can be used"
        case .success(let microphone):
            let reason = microphone.isDefault ? "the system's choice" : "the first that can be used"
            return "with the microphone \(microphone.name), \(reason)"
        }
    }
}
