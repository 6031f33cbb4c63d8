package import GantryCore

/// What identifies a USB device to a host before anything is read from it.
package struct USBIdentifiers: Sendable, Hashable {
    package let vendor: UInt16
    package let product: UInt16

    package init(vendor: UInt16, product: UInt16) {
        self.vendor = vendor
        self.product = product
    }

    /// The test ids of pid.codes (https://pid.codes/1209/0001): anybody's, and never for devices that are passed on.
    package static let development = USBIdentifiers(vendor: 0x1209, product: 0x0001)

    /// Of `VVVV:PPPP` in hexadecimal digits, as lsusb shows it.
    package init(_ text: String) throws(GantryError) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let vendor = Self.number(parts[0]), let product = Self.number(parts[1]) else {
            throw GantryError(
                .invalidArgument,
                "USB ids are two numbers of four hexadecimal digits, for example 1209:0001, as lsusb shows them.")
        }
        self.init(vendor: vendor, product: product)
    }

    private static func number(_ digits: Substring) -> UInt16? {
        digits.utf8.count == 4 && digits.utf8.first != UInt8(ascii: "+") ? UInt16(digits, radix: 16) : nil
    }

    static func hexadecimal(_ number: UInt16) -> String {
        let digits = String(number, radix: 16)
        return "0x" + String(repeating: "0", count: max(4 - digits.utf8.count, 0)) + digits
    }
}

/// Whose files the FunctionFS has: who may be the producer.
package struct GadgetOwner: Sendable, Hashable {
    package let user: UInt32
    package let group: UInt32

    package init(user: UInt32, group: UInt32) {
        self.user = user
        self.group = group
    }

    package static let root = GadgetOwner(user: 0, group: 0)
}

/// The gadget as it is to be. The defaults are those of `udev/gantry-gadget`.
package struct GadgetConfiguration: Sendable {
    /// The gadget's folder in configfs.
    package var gadget = "gantry"
    /// The instance of the function: `ffs.gantry`.
    package var function = "gantry"
    package var identifiers = USBIdentifiers.development
    package var manufacturer = "Gantry"
    package var product = "Gantry producer"
    /// What a studio tells producers apart by: the short id of the producer's key.
    package var serial: String
    /// The name of the device controller, as in /sys/class/udc; nil for the only free one.
    package var controller: String?
    package var mountPoint = "/dev/usb-ffs/gantry"
    package var owner = GadgetOwner.root
    /// Where configfs has its gadgets.
    package var gadgetsFolder = "/sys/kernel/config/usb_gadget"
    /// Where the kernel lists the device controllers.
    package var controllersFolder = "/sys/class/udc"

    package init(serial: String) { self.serial = serial }

    /// Said once at the start; nil when there is nothing to warn of.
    package var warning: String? {
        guard identifiers == .development else { return nil }
        return "The USB ids 1209:0001 are for development only. For devices that you pass on, take ids of your own."
    }

    /// Nothing in the names may lead out of the folders, and the kernel must take the strings.
    func check() throws(GantryError) {
        for name in [gadget, function] + (controller.map { [$0] } ?? []) where !Self.isName(name) {
            throw GantryError(
                .invalidArgument,
                "\"\(shown(name))\" cannot be the name of a gadget, a function or a controller: "
                    + "letters, digits, and . _ - : inside, at most 40.")
        }
        for text in [manufacturer, product, serial] where !Self.isString(text) {
            throw GantryError(
                .invalidArgument, "A USB string has 1 to 126 printable ASCII characters: \"\(shown(text))\".")
        }
        guard mountPoint.utf8.first == UInt8(ascii: "/"), !mountPoint.utf8.contains(0) else {
            throw GantryError(.invalidArgument, "The place of the FunctionFS must be a full path, as \(Self.example).")
        }
    }

    private static let example = "/dev/usb-ffs/gantry"

    private func shown(_ text: String) -> String { DisplayName.sanitized(text, graphemes: 40, bytes: 160) }

    /// 40: what FunctionFS takes of an instance's name (`struct f_fs_opts`, `ffs_dev.name[41]`), less in older kernels.
    private static func isName(_ name: String) -> Bool {
        guard (1...40).contains(name.utf8.count), name.utf8.first != UInt8(ascii: ".") else { return false }
        return name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"),
                UInt8(ascii: ":"), UInt8(ascii: "@"):
                true
            default: false
            }
        }
    }

    /// USB_MAX_STRING_LEN in linux/usb/ch9.h: 126 characters.
    private static func isString(_ text: String) -> Bool {
        (1...126).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7e).contains($0) }
    }
}
