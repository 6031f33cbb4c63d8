import CV4L2
import GantryCore
import GantryPlatform
import Glibc

/// Sets the controls of a camera that is open.
struct CameraTuning {
    private let device: V4L2Device
    private let camera: String

    init(_ device: V4L2Device, camera: String) {
        self.device = device
        self.camera = camera
    }

    /// Sets what is asked for. Those that have no effect because of another one wait for the rest: so the order in which
    /// they were typed does not matter.
    ///
    /// - Throws: `invalidArgument` for a name, a value or a state that does not permit it, before anything is set where
    ///   that can be seen.
    func apply(_ settings: [CameraControlSetting]) throws(GantryError) {
        let controls = settings.isEmpty ? [] : device.controls()
        var wanted: [(control: CameraControl, value: Int)] = []
        for setting in settings {
            let control = try CameraControl.named(setting.name, in: controls, of: camera)
            wanted.append((control, try control.number(of: setting.value)))
        }
        keepRate(unless: wanted.contains { $0.control.id == CV4L2_CID_EXPOSURE_AUTO_PRIORITY })
        var later: [(control: CameraControl, value: Int)] = []
        for (control, value) in wanted {
            if isInactive(control) { later.append((control, value)) } else { try set(control, value) }
        }
        for (control, value) in later {
            if isInactive(control) { throw Self.inactive(control, controls) }
            try set(control, value)
        }
    }

    /// In the dark a camera exposes longer and gives fewer pictures, if it is let. A steady rate looks better.
    private func keepRate(unless isAskedFor: Bool) {
        guard !isAskedFor, let control = device.control(CV4L2_CID_EXPOSURE_AUTO_PRIORITY), control.kind == .boolean,
            control.value == 1
        else { return }
        do throws(SystemError) {
            try device.set(control.id, to: 0)
            Log.debug("camera \(device.path): \(control.name) switched off, for a steady rate")
        } catch {
            Log.debug("camera \(device.path): \(control.name) cannot be switched off (\(error))")
        }
    }

    private func isInactive(_ control: CameraControl) -> Bool { device.control(control.id)?.isInactive ?? false }

    private func set(_ control: CameraControl, _ value: Int) throws(GantryError) {
        do throws(SystemError) { try device.set(control.id, to: value) } catch {
            if [ENODEV, ENXIO].contains(error.errno) { throw CameraFailure.during(device.path, error) }
            let isBusy = error.errno == EBUSY
            throw GantryError(
                .invalidArgument,
                "The camera \(camera) does not take \(control.name)=\(value)"
                    + (isBusy ? ": it cannot be changed while pictures come. " : ". It takes \(control.range). ")
                    + "Try it with: v4l2-ctl -d \(device.path) -c \(control.name)=\(value)", cause: error.description)
        }
        Log.debug("camera \(device.path): \(control.name)=\(value)")
    }

    /// The automatic that stands in front of a control, and the value that ends it (linux/v4l2-controls.h).
    static let automatics: [(control: UInt32, automatic: UInt32, value: Int)] = [
        (CV4L2_CID_EXPOSURE_ABSOLUTE, CV4L2_CID_EXPOSURE_AUTO, 1),
        (CV4L2_CID_WHITE_BALANCE_TEMPERATURE, CV4L2_CID_AUTO_WHITE_BALANCE, 0),
        (CV4L2_CID_FOCUS_ABSOLUTE, CV4L2_CID_FOCUS_AUTO, 0),
        (CV4L2_CID_GAIN, CV4L2_CID_AUTOGAIN, 0),
        (CV4L2_CID_HUE, CV4L2_CID_HUE_AUTO, 0),
    ]

    static func inactive(_ control: CameraControl, _ all: [CameraControl]) -> GantryError {
        let rule = automatics.first { $0.control == control.id }
        guard let rule, let automatic = all.first(where: { $0.id == rule.automatic }) else {
            return GantryError(
                .invalidArgument,
                "The control \(control.name) has no effect now because of another one, an automatic mostly. Set that one "
                    + "first, with --control before it.")
        }
        let entry = automatic.entries.first { $0.value == rule.value }.map { CameraControl.name($0.name.utf8) }
        let value = automatic.kind == .boolean ? "off" : entry ?? "\(rule.value)"
        return GantryError(
            .invalidArgument,
            "The control \(control.name) has no effect while \(automatic.name) is on. Set both: --control "
                + "\(automatic.name)=\(value) --control \(control.name)=…")
    }
}
