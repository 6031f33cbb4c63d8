import GantryCore
import GantryPlatform
import Glibc

/// What can go wrong with a virtual camera, in words.
enum VirtualCameraFailure {
    private static let load = "sudo modprobe v4l2loopback exclusive_caps=1 card_label=Gantry"

    /// For a failed `open`.
    static func opening(_ path: String, _ error: SystemError) -> GantryError {
        switch error.errno {
        case ENOENT, ENOTDIR, ENODEV, ENXIO: missing(path, error)
        case EACCES, EPERM:
            GantryError(
                .outputNotPermitted,
                "You may not use the virtual camera \(path). \(SystemPath.accessRemedy(path))", cause: error.description
            )
        // v4l2loopback's max_openers is reached.
        case EBUSY: busy(path, error)
        case EISDIR, ELOOP: notALoopback(path, "it is no device")
        default:
            GantryError(
                .outputFailed,
                "The virtual camera \(path) cannot be opened. Look at it with: v4l2-ctl -d \(path) --all",
                cause: error.description)
        }
    }

    private static func missing(_ path: String, _ error: SystemError) -> GantryError {
        guard LoopbackSearch.isModuleLoaded else { return noModule() }
        return GantryError(
            .outputNotFound, "There is no virtual camera \(path). \(present())", cause: error.description)
    }

    static func noModule() -> GantryError {
        GantryError(
            .outputNotFound,
            "There is no virtual camera, because the kernel module v4l2loopback is not loaded. Load it: \(load) "
                + "(where that finds no module, install it first: sudo apt install v4l2loopback-dkms)")
    }

    /// The module is there and has no device.
    static func noDevice() -> GantryError {
        GantryError(
            .outputNotFound,
            "The kernel module v4l2loopback is loaded and has no device. Load it again: sudo modprobe -r v4l2loopback "
                + "&& \(load)")
    }

    static func notALoopback(_ path: String, _ why: String) -> GantryError {
        GantryError(.outputNotFound, "\(path) is not a virtual camera: \(why). \(present())")
    }

    static func busy(_ path: String, _ error: SystemError? = nil) -> GantryError {
        let users = users(path)
        // The module (0.15) keeps the place of a writer that was killed.
        let what =
            users.isEmpty
            ? "Another program writes to the virtual camera \(path), or one was killed that did. Close that program, or name "
                + "another device: --vcam=/dev/videoN. Where there is none, load the module again: sudo modprobe -r "
                + "v4l2loopback && \(load)"
            : "Another program writes to the virtual camera \(path), which is open in \(users). Close that program, or name "
                + "another device: --vcam=/dev/videoN"
        return GantryError(.outputBusy, what, cause: error?.description)
    }

    static func allBusy(_ paths: [String]) -> GantryError {
        GantryError(
            .outputBusy,
            "Other programs write to all virtual cameras (\(paths.prefix(8).joined(separator: ", "))). Close one of them; "
                + "this shows who it is: sudo fuser -v \(paths.prefix(8).joined(separator: " "))")
    }

    /// A reader holds the device in a format that we do not write.
    static func heldFormat(_ path: String, _ code: FourCC) -> GantryError {
        let users = users(path)
        let who = users.isEmpty ? "a program" : users
        return GantryError(
            .outputBusy,
            "The virtual camera \(path) is held by \(who) in the format \(code), which cannot be written. Close it and "
                + "start again.")
    }

    static func lost(_ path: String, _ error: SystemError) -> GantryError {
        switch error.errno {
        // ENOTTY: with exclusive_caps, the module (0.14) knows no output while there is a writer.
        case EBUSY, ENOTTY: busy(path, error)
        case ENODEV, ENXIO, EBADF:
            GantryError(
                .outputLost, "The virtual camera \(path) has gone. It is tried again until it is back.",
                cause: error.description)
        default:
            GantryError(
                .outputLost,
                "The virtual camera \(path) takes no pictures. It is tried again; look at the kernel's words: "
                    + "sudo dmesg | tail", cause: error.description)
        }
    }

    /// Who has the device open, readers too; without us.
    private static func users(_ path: String) -> String {
        DeviceHolders.names(of: path, exceptUs: true).joined(separator: ", ")
    }

    /// Which virtual cameras there are.
    private static func present() -> String {
        let paths = LoopbackSearch.devices()
        if !paths.isEmpty { return "There are: \(paths.prefix(8).joined(separator: ", "))." }
        return "Make one: \(load)"
    }
}
