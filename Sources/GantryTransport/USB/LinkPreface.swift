/// What both ends send first in a session: the name of the protocol, the nonce of the host's RESET, and who speaks.
///
/// ```
///  0        8                       24
///  +--------+-----------------------+------+
///  |gantry/1| nonce                 | role |   role: "H" the host, "D" the device
///  +--------+-----------------------+------+
/// ```
/// Whatever comes before it is left over from an earlier session.
package struct LinkPreface: Hashable, Sendable {
    package enum Sender: UInt8, Sendable {
        case host = 0x48
        case device = 0x44
    }

    package static let size = 8 + USBProtocol.nonceSize + 1

    package let bytes: [UInt8]

    /// Nil when the nonce has another size.
    package init?(nonce: [UInt8], from sender: Sender) {
        guard nonce.count == USBProtocol.nonceSize else { return nil }
        bytes = Array(USBProtocol.interfaceName.utf8) + nonce + [sender.rawValue]
    }
}
