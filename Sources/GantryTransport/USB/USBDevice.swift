package import GantryCore

/// A Gantry producer on USB, as the kernel describes it in sysfs. Nothing has been opened.
package struct USBDevice: Hashable, Sendable {
    /// /dev/bus/usb/BUS/ADDRESS; the address is new after each replug.
    package var bus: UInt8
    package var address: UInt8
    /// The place on the bus: "1-1.4". Stays the same when the device is plugged into the same socket again.
    package var port: String
    /// Gantry's interface in it: bInterfaceNumber.
    package var interface: UInt8
    /// The device's own words, made fit for people; empty when it has none. A claim, not an identity.
    package var serial: String
    package var product: String
    /// Mbit/s: 12, 480, 5000, or nil.
    package var speed: Int?

    package init(
        bus: UInt8, address: UInt8, port: String, interface: UInt8, serial: String = "", product: String = "",
        speed: Int? = nil
    ) {
        self.bus = bus
        self.address = address
        self.port = port
        self.interface = interface
        self.serial = serial
        self.product = product
        self.speed = speed
    }

    /// The device file that libusb opens.
    package var node: String { "/dev/bus/usb/" + Self.padded(bus) + "/" + Self.padded(address) }

    /// "usb:SERIAL", or "usb:PORT" without a serial number.
    package var description: String { "usb:" + name }

    /// What it is told apart by: its serial number, or its port without one.
    package var name: String { serial.isEmpty ? port : serial }

    /// Whether its serial number is the short id of this key. A claim proves nothing.
    package func claims(_ keyID: KeyID) -> Bool { serial.uppercased() == keyID.short }

    private static func padded(_ number: UInt8) -> String {
        let digits = String(number)
        return String(repeating: "0", count: 3 - digits.count) + digits
    }
}
