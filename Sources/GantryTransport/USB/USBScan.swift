import GantryCore
import Glibc

/// What is on USB now: Gantry producers, and devices that claim to be some.
///
/// Reads sysfs alone, so that everybody may list; libusb would have to open the devices for their strings. Blocks for
/// a moment. Any thread.
package struct USBScan: Hashable, Sendable {
    /// A device with our ids or our interface that is none of ours.
    package struct Refusal: Hashable, Sendable {
        package var port: String
        /// For people.
        package var reason: String
    }

    package var devices: [USBDevice] = []
    package var refused: [Refusal] = []

    package init() {}

    /// Of all that is plugged in; more than this is not looked at.
    private static let mostEntries = 4096

    /// - Parameter root: the folder of sysfs that has an entry for each device ("1-1") and interface ("1-1:1.0").
    package static func now(root: String = "/sys/bus/usb/devices") -> USBScan {
        var scan = USBScan()
        let names = entries(of: root)
        for name in names.sorted() where !name.contains(":") && name.contains("-") {
            scan.look(at: name, interfaces: names.filter { $0.hasPrefix(name + ":") }.sorted(), root: root)
        }
        return scan
    }

    private mutating func look(at port: String, interfaces: [String], root: String) {
        let folder = root + "/" + port
        var wrongName: String?
        for name in interfaces {
            let path = root + "/" + name
            guard Self.hexadecimal(path + "/bInterfaceClass") == UInt16(USBProtocol.interfaceClass),
                Self.hexadecimal(path + "/bInterfaceSubClass") == UInt16(USBProtocol.interfaceSubclass),
                Self.hexadecimal(path + "/bInterfaceProtocol") == UInt16(USBProtocol.interfaceProtocol)
            else { continue }
            let text = Self.text(path + "/interface")
            guard text == USBProtocol.interfaceName else {
                wrongName = DisplayName.sanitized(text, graphemes: 32, bytes: 64)
                continue
            }
            guard let number = Self.hexadecimal(path + "/bInterfaceNumber").flatMap({ UInt8(exactly: $0) }),
                let bus = UInt8(Self.text(folder + "/busnum")), let address = UInt8(Self.text(folder + "/devnum"))
            else { continue }
            devices.append(
                USBDevice(
                    bus: bus, address: address, port: port, interface: number, serial: Self.shown(folder + "/serial"),
                    product: Self.shown(folder + "/product"), speed: Int(Self.text(folder + "/speed"))))
            return
        }
        if let wrongName {
            refused.append(
                Refusal(
                    port: port,
                    reason: "its interface is named \"\(wrongName)\", not \"\(USBProtocol.interfaceName)\": "
                        + "another version, or another maker's"))
        } else if Self.hexadecimal(folder + "/idVendor") == USBProtocol.developmentVendor,
            Self.hexadecimal(folder + "/idProduct") == USBProtocol.developmentProduct
        {
            refused.append(
                Refusal(
                    port: port,
                    reason: "it has the ids 1209:0001, which many gadgets use in development, and no Gantry interface"))
        }
    }

    // MARK: Files

    private static func entries(of folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while names.count < mostEntries, let entry = readdir(stream) {
            // dirent.h: d_name is terminated, and at most 256 bytes.
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    /// The file's line; empty when it cannot be read.
    private static func text(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = read(descriptor, &bytes, bytes.count)
        guard count > 0 else { return "" }
        let line = bytes[..<count].prefix { $0 != 0x0A }
        return String(decoding: line.drop { $0 == 0x20 }, as: UTF8.self)
    }

    private static func shown(_ path: String) -> String { DisplayName.sanitized(text(path), graphemes: 64, bytes: 128) }

    private static func hexadecimal(_ path: String) -> UInt16? { UInt16(text(path), radix: 16) }
}
