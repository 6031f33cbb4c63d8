/// The constants of Gantry's USB interface, version 1.
package enum USBProtocol {
    /// bInterfaceClass: vendor specific.
    package static let interfaceClass: UInt8 = 0xFF
    package static let interfaceSubclass: UInt8 = 0x43
    package static let interfaceProtocol: UInt8 = 0x01
    /// The string of the interface (iInterface).
    package static let interfaceName = "gantry/1"

    /// Of the pid.codes ids that are free for development. Not for sale.
    package static let developmentVendor: UInt16 = 0x1209
    package static let developmentProduct: UInt16 = 0x0001

    /// What every read is posted with, and the largest write.
    package static let transferSize = 16384
    /// Transfers that are posted in each direction.
    package static let transfersInFlight = 4

    /// A vendor request to the interface, from host to device.
    package enum Request {
        /// Begins a session; its data is the nonce. Whatever went on before is over.
        package static let reset: UInt8 = 1
        /// The host writes no more; its data is the number of bytes that it has written (UInt64, little endian), without
        /// the preface. Bulk transfers have no end of the stream of their own.
        package static let finish: UInt8 = 2
        /// bmRequestType: host to device, vendor, interface (USB 2.0, 9.3).
        package static let type: UInt8 = 0x41
    }

    package static let nonceSize = 16
}
