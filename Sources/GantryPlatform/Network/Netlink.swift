/// Messages of the kernel's netlink sockets (netlink(7)): made and taken apart. Pure; what is cut or does not add up is
/// left out.
package enum Netlink {
    /// One message behind its header.
    package struct Message: Sendable, Hashable {
        package let type: UInt16
        package let payload: ArraySlice<UInt8>

        /// The attributes behind `offset` bytes of the payload.
        package func attributes(from offset: Int) -> [UInt16: ArraySlice<UInt8>] {
            Netlink.attributes(payload.dropFirst(offset))
        }
    }

    /// NLMSG_ERROR, with a number or, for an acknowledgement, 0.
    package static let error: UInt16 = 2
    /// NLMSG_DONE: the last one of a dump.
    package static let done: UInt16 = 3
    /// NLM_F_REQUEST.
    package static let request: UInt16 = 0x1
    /// NLM_F_REQUEST | NLM_F_DUMP.
    package static let dump: UInt16 = 0x301
    /// Of nested attributes and of a byte order; not part of an attribute's number (NLA_TYPE_MASK).
    private static let flags: UInt16 = 0xC000

    /// A message of a generic netlink family: header, `genlmsghdr`, attributes. In this machine's byte order.
    package static func generic(
        family: UInt16, command: UInt8, flags: UInt16, attributes: [(type: UInt16, value: [UInt8])] = []
    ) -> [UInt8] {
        var payload: [UInt8] = [command, 1, 0, 0]
        for attribute in attributes {
            payload += bytes(UInt16(truncatingIfNeeded: attribute.value.count + 4)) + bytes(attribute.type)
            payload += attribute.value + [UInt8](repeating: 0, count: -attribute.value.count & 3)
        }
        let length = UInt32(truncatingIfNeeded: payload.count + 16)
        return bytes(length) + bytes(family) + bytes(flags) + bytes(UInt32(1)) + bytes(UInt32(0)) + payload
    }

    /// The messages that one datagram holds.
    package static func messages(_ datagram: some Collection<UInt8>) -> [Message] {
        var rest = Array(datagram)[...]
        var result: [Message] = []
        while let length = number(rest.prefix(4), UInt32.self).flatMap({ Int(exactly: $0) }), length >= 16,
            length <= rest.count, let type = number(rest.dropFirst(4).prefix(2), UInt16.self)
        {
            result.append(Message(type: type, payload: rest.prefix(length).dropFirst(16)))
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return result
    }

    /// Attributes by their number; of two equal ones the last counts.
    package static func attributes(_ bytes: ArraySlice<UInt8>) -> [UInt16: ArraySlice<UInt8>] {
        var rest = bytes
        var result: [UInt16: ArraySlice<UInt8>] = [:]
        while let length = number(rest.prefix(2), UInt16.self).map(Int.init), length >= 4, length <= rest.count,
            let type = number(rest.dropFirst(2).prefix(2), UInt16.self)
        {
            result[type & ~flags] = rest.prefix(length).dropFirst(4)
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return result
    }

    /// A number of exactly this width, in this machine's byte order.
    package static func number<T: FixedWidthInteger>(_ bytes: ArraySlice<UInt8>?, _: T.Type) -> T? {
        guard let bytes, bytes.count == T.bitWidth / 8 else { return nil }
        var value: T = 0
        withUnsafeMutableBytes(of: &value) { $0.copyBytes(from: bytes) }
        return value
    }

    package static func bytes<T: FixedWidthInteger>(_ number: T) -> [UInt8] {
        withUnsafeBytes(of: number) { Array($0) }
    }
}
