import GantryPlatform

/// A USB device controller (UDC) of this machine: the hardware that lets it be a device on somebody else's bus.
package struct USBController: Sendable, Hashable, CustomStringConvertible {
    package enum User: Sendable, Hashable {
        /// A gadget in configfs.
        case gadget(String)
        /// A driver of the kernel that is a whole gadget, such as g_ether, by the name that it gives itself.
        case driver(String)
    }

    /// As in /sys/class/udc, and in the file `UDC` of a gadget.
    package let name: String
    /// The kernel's word: `not attached`, `configured`, `suspended` and others (`usb_device_state` in linux/usb/ch9.h).
    package let state: String
    /// The most it can: `high-speed`, `super-speed`; empty when the driver does not say.
    package let maximumSpeed: String
    /// Who has it now; nil: it is free.
    package let user: User?

    package init(name: String, state: String, maximumSpeed: String, user: User?) {
        self.name = name
        self.state = state
        self.maximumSpeed = maximumSpeed
        self.user = user
    }

    /// For messages: `fe980000.usb (high-speed, used by the gadget "g1")`.
    package var description: String {
        let use =
            switch user {
            case .gadget(let name): "used by the gadget \"\(name)\""
            case .driver(let name): "used by \(name)"
            case nil: "free"
            }
        let speed = maximumSpeed.isEmpty || maximumSpeed == "UNKNOWN" ? "" : "\(maximumSpeed), "
        return "\(name) (\(speed)\(use))"
    }

    /// All of this machine, sorted by name.
    package static func list(
        controllersFolder: String = "/sys/class/udc", gadgetsFolder: String = "/sys/kernel/config/usb_gadget",
        files: any GadgetFiles = KernelGadgetFiles()
    ) -> [USBController] {
        let gadgets = users(gadgetsFolder, files)
        return files.entries(controllersFolder).map { name in
            let folder = "\(controllersFolder)/\(name)"
            let text = { (file: String) in (try? files.read("\(folder)/\(file)")) ?? "" }
            // The gadget's name in newer kernels, the driver's or "configfs-gadget" in older ones; empty when it is free.
            let driver = text("function")
            let user = gadgets[name].map(User.gadget) ?? (driver.isEmpty ? nil : .driver(driver))
            return USBController(
                name: name, state: text("state"), maximumSpeed: text("maximum_speed"), user: user)
        }
    }

    /// The gadget of each controller that has one.
    private static func users(_ folder: String, _ files: any GadgetFiles) -> [String: String] {
        var users: [String: String] = [:]
        for gadget in files.entries(folder) {
            if let controller = try? files.read("\(folder)/\(gadget)/UDC"), !controller.isEmpty {
                users[controller] = gadget
            }
        }
        return users
    }
}
