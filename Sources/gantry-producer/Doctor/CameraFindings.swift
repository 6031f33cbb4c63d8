import CommandLineKit
import GantryCore
import GantryMedia

/// What is said of the cameras.
enum CameraFindings {
    /// - Parameter speed: Mbit/s of the USB on which the camera of a path is; nil: none, or not known.
    static func judge(_ cameras: [CameraInfo], speed: (String) -> Int?) -> [Finding] {
        let real = cameras.filter { !$0.isVirtual }
        guard !real.isEmpty else {
            return [
                .warning(
                    "There is no camera (no /dev/video* of a real one). Everything else can be sent.",
                    "gantry-producer sources")
            ]
        }
        return real.map { camera in
            if let problem = camera.problem { return .problem(problem) }
            // 1280x720 at 30 fps is what `run` asks for.
            let isEnough = camera.modes.contains {
                $0.width.upperBound >= 1280 && $0.height.upperBound >= 720
                    && ($0.frameRate?.framesPerSecond ?? 30) >= 25
            }
            let megabits = speed(camera.path)
            let place = megabits.map { ", USB at \($0) Mbit/s" } ?? ""
            if !isEnough, let megabits, megabits <= 480 {
                return .warning(
                    "\(camera.path) (\(camera.name)\(place)) offers no 1280x720 at 30 fps. Another USB port may be faster; what it "
                        + "offers:", "gantry-producer sources")
            }
            return .ok("\(camera.path) (\(camera.name)\(place)) can be used.")
        }
    }

    /// The nearest device of USB above a camera (`speed` of the kernel's sysfs-bus-usb).
    static func usbSpeed(_ path: String, _ files: SystemFiles) -> Int? {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        // The link leads to the interface; its device is the folder above.
        return files.line("/sys/class/video4linux/\(name)/device/../speed").flatMap { Int($0) }
    }
}
