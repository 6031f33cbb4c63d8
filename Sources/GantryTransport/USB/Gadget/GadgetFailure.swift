import GantryCore
import GantryPlatform
import Glibc

/// What can be wrong with making a gadget, in words that say what mends it.
enum GadgetFailure {
    private static let asRoot =
        "Run it as root: sudo gantry-producer run --usb --usb-setup. Or let the system do it at every start: "
        + "sudo systemctl enable --now gantry-gadget gantry-gadget-bind"

    static func noGadgets(_ folder: String, cause: SystemError?) -> GantryError {
        GantryError(
            .usbGadget,
            "The kernel has no USB gadgets: \(folder) is not there. Load them: sudo modprobe libcomposite && "
                + "(mountpoint -q /sys/kernel/config || sudo mount -t configfs none /sys/kernel/config)",
            cause: cause?.description)
    }

    static func noController() -> GantryError {
        GantryError(
            .usbNoController,
            "This machine has no USB device controller: it can be a host only, as most PCs. Boards have one; on a "
                + "Raspberry Pi put dtoverlay=dwc2,dr_mode=peripheral into /boot/firmware/config.txt and restart. "
                + "On a port that is device or host by turns, plug in the cable first.")
    }

    static func unknownController(_ name: String, among all: [USBController]) -> GantryError {
        GantryError(.usbNoController, "There is no USB device controller \"\(name)\". There is: \(list(all)).")
    }

    static func choice(_ free: [USBController]) -> GantryError {
        GantryError(
            .usbNoController,
            "Several USB device controllers are free: \(list(free)). Name one: --usb-controller \(free.first?.name ?? "")"
        )
    }

    static func taken(_ controllers: [USBController]) -> GantryError {
        var remedy = ""
        if controllers.count == 1 {
            remedy =
                switch controllers[0].user {
                case .gadget(let name):
                    " Stop the program that made that gadget; or let it go: "
                        + "echo | sudo tee /sys/kernel/config/usb_gadget/\(name)/UDC"
                case .driver(let name): " Take that driver away: sudo modprobe -r \(name)"
                case nil: ""
                }
        }
        let what = controllers.count == 1 ? "The USB device controller is" : "All USB device controllers are"
        return GantryError(.usbControllerTaken, "\(what) taken: \(list(controllers)).\(remedy)")
    }

    static func inUse(_ gadget: String, cause: SystemError? = nil) -> GantryError {
        GantryError(
            .usbGadgetInUse,
            "Another producer uses the USB gadget \"\(gadget)\". Stop it first; gantry-producer status shows one of yours.",
            cause: cause?.description)
    }

    static func boundWithoutUs(_ gadget: String, _ controller: String, root: String) -> GantryError {
        GantryError(
            .usbGadgetInUse,
            "The gadget \"\(gadget)\" is on \(controller) without Gantry's function, and a function cannot be added then. "
                + "Take it off first: echo | sudo tee \(root)/\(gadget)/UDC")
    }

    static func functionMissing(_ function: String, in gadget: String) -> GantryError {
        GantryError(
            .usbGadget,
            "The gadget \"\(gadget)\" has no function ffs.\(function) in one of its configurations. Make it there, "
                + "or run without that gadget.")
    }

    static func mountPointTaken(_ mount: FunctionFSMount) -> GantryError {
        GantryError(
            .usbGadget,
            "\(mount.path) is the place of another function, ffs.\(mount.function). Unmount it: sudo umount "
                + SecureFile.quoted(mount.path))
    }

    static func notDescribed(_ mountPoint: String) -> GantryError {
        GantryError(
            .invalidState,
            "The gadget cannot be bound yet: nobody has written descriptors to \(mountPoint)/ep0.")
    }

    /// A step that the kernel refused.
    static func step(_ what: String, _ error: SystemError) -> GantryError {
        switch error.errno {
        case EACCES, EPERM, EROFS:
            GantryError(.usbNotPermitted, "Only root can \(what). \(asRoot)", cause: error.description)
        case ENAMETOOLONG, EINVAL:
            GantryError(
                .usbGadget, "The kernel refused to \(what): a value does not suit it.", cause: error.description)
        default:
            GantryError(
                .usbGadget, "The kernel refused to \(what). Its log may say more: sudo dmesg | tail",
                cause: error.description)
        }
    }

    static func noFunctionFS(_ error: SystemError) -> GantryError {
        GantryError(
            .usbGadget, "The kernel has no FunctionFS. Load it: sudo modprobe usb_f_fs", cause: error.description)
    }

    private static func list(_ controllers: [USBController]) -> String {
        controllers.map(\.description).joined(separator: ", ")
    }
}
