/// An event of ep0: `struct usb_functionfs_event` of linux/usb/functionfs.h, 12 bytes.
package enum FunctionFSEvent: Hashable, Sendable {
    case bound, unbound, enabled, disabled, suspended, resumed
    case setup(Setup)
    /// A newer kernel's.
    case unknown(UInt8)

    /// `struct usb_ctrlrequest`: USB 2.0, 9.3.
    package struct Setup: Hashable, Sendable {
        package var type: UInt8
        package var request: UInt8
        package var value: UInt16
        package var index: UInt16
        package var length: UInt16

        package init(type: UInt8, request: UInt8, value: UInt16, index: UInt16, length: UInt16) {
            self.type = type
            self.request = request
            self.value = value
            self.index = index
            self.length = length
        }

        /// Whether the host waits for data of ours.
        package var isFromDevice: Bool { type & 0x80 != 0 }
    }

    package static let size = 12

    /// Nil when the bytes are too few.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.size else { return nil }
        func word(_ offset: Int) -> UInt16 { UInt16(bytes[offset]) | UInt16(bytes[offset + 1]) << 8 }
        switch bytes[8] {
        case 0: self = .bound
        case 1: self = .unbound
        case 2: self = .enabled
        case 3: self = .disabled
        case 4:
            self = .setup(
                Setup(type: bytes[0], request: bytes[1], value: word(2), index: word(4), length: word(6)))
        case 5: self = .suspended
        case 6: self = .resumed
        case let other: self = .unknown(other)
        }
    }
}
