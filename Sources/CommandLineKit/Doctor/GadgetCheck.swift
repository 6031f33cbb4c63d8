import GantryCore

/// Whether this machine can be a USB device, for `run --usb`.
package enum GadgetCheck {
    package struct Facts: Sendable {
        /// Names of the device controllers.
        package var controllers: [String]
        /// The gadget of each controller that has one.
        package var gadgets: [String: String]
        package var hasUnit: Bool

        package init(controllers: [String], gadgets: [String: String] = [:], hasUnit: Bool = false) {
            self.controllers = controllers
            self.gadgets = gadgets
            self.hasUnit = hasUnit
        }
    }

    private static let gadgetFolder = "/sys/kernel/config/usb_gadget"

    package static func read(_ files: SystemFiles) -> Facts {
        var gadgets: [String: String] = [:]
        for name in files.entries(gadgetFolder, limit: 64) {
            guard let controller = files.line("\(gadgetFolder)/\(name)/UDC"), !controller.isEmpty else { continue }
            gadgets[controller] = DisplayName(name).text
        }
        return Facts(
            controllers: files.entries("/sys/class/udc", limit: 64), gadgets: gadgets,
            hasUnit: ["/etc/systemd/system", "/usr/lib/systemd/system"].contains {
                files.exists("\($0)/gantry-gadget.service")
            })
    }

    package static func judge(_ facts: Facts) -> [Finding] {
        guard !facts.controllers.isEmpty else {
            return [
                .ok("This machine cannot be a USB device (no controller in /sys/class/udc): it sends over the network.")
            ]
        }
        var findings = facts.controllers.map { name -> Finding in
            switch facts.gadgets[name] {
            case nil: .ok("The USB device controller \(name) is free.")
            case let gadget? where gadget.hasPrefix("gantry"):
                .ok("The USB device controller \(name) has Gantry's gadget.")
            case let gadget?:
                .problem(
                    "The USB device controller \(name) is taken by the gadget \(gadget).",
                    "echo | sudo tee \(gadgetFolder)/\(ShellWord.quoted(gadget))/UDC")
            }
        }
        if !facts.hasUnit {
            findings.append(
                .warning(
                    "The units that make the gadget at every start are not installed.", "scripts/install --udev-only"))
        }
        return findings
    }
}
