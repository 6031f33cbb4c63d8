import CLinux
package import GantryCore
import Glibc

/// Asks the kernel what Wi-Fi interfaces are connected to: nl80211 over generic netlink (linux/nl80211.h), which every driver
/// of today has; the older ioctls are missing for Wi-Fi 7. Needs no privilege.
package enum WiFiQuery {
    // linux/genetlink.h
    private static let controller: UInt16 = 0x10
    private static let getFamily: UInt8 = 3
    private static let familyID: UInt16 = 1
    private static let familyName: UInt16 = 2

    // linux/nl80211.h
    private static let getInterface: UInt8 = 5
    private static let getStation: UInt8 = 17
    private static let interfaceIndex: UInt16 = 3
    private static let interfaceType: UInt16 = 5
    private static let address: UInt16 = 6
    private static let stationInfo: UInt16 = 21
    private static let ssid: UInt16 = 52
    private static let signal: UInt16 = 7
    /// NL80211_IFTYPE_STATION: one that connects to an access point.
    private static let station: UInt32 = 2

    /// The connections by interface number; empty where there is no Wi-Fi.
    package static func connections() -> [Int: WiFiConnection] {
        let descriptor = CLinux_netlink_socket(NETLINK_GENERIC, 0)
        guard descriptor >= 0 else { return [:] }
        let socket = FileDescriptor(takingOwnership: descriptor)
        let question = Netlink.generic(
            family: controller, command: getFamily, flags: Netlink.request,
            attributes: [(familyName, Array("nl80211".utf8) + [0])])
        guard let family = family(in: ask(socket, question)) else { return [:] }
        var result: [Int: WiFiConnection] = [:]
        let interfaces = ask(socket, Netlink.generic(family: family, command: getInterface, flags: Netlink.dump))
        for (index, name) in names(in: interfaces) {
            let stations = ask(
                socket,
                Netlink.generic(
                    family: family, command: getStation, flags: Netlink.dump,
                    attributes: [(interfaceIndex, Netlink.bytes(index))]))
            let (bssid, signal) = accessPoint(in: stations)
            result[Int(index)] = WiFiConnection(ssid: name, bssid: bssid, signal: signal)
        }
        return result
    }

    // MARK: What the answers say

    package static func family(in messages: [Netlink.Message]) -> UInt16? {
        messages.lazy.compactMap { Netlink.number($0.attributes(from: 4)[familyID], UInt16.self) }.first
    }

    /// Interfaces that are connected to an access point, and its name.
    package static func names(in messages: [Netlink.Message]) -> [(index: UInt32, name: [UInt8])] {
        messages.compactMap { message in
            let attributes = message.attributes(from: 4)
            guard let index = Netlink.number(attributes[interfaceIndex], UInt32.self),
                Netlink.number(attributes[interfaceType], UInt32.self) == station, let name = attributes[ssid],
                1...32 ~= name.count
            else { return nil }
            return (index, Array(name))
        }
    }

    package static func accessPoint(in messages: [Netlink.Message]) -> (bssid: String?, signal: Int?) {
        guard let attributes = messages.first?.attributes(from: 4) else { return (nil, nil) }
        let bssid = attributes[address].flatMap { $0.count == 6 ? $0.map(hexadecimal).joined(separator: ":") : nil }
        let information = attributes[stationInfo].map(Netlink.attributes) ?? [:]
        let signal = Netlink.number(information[Self.signal], Int8.self).map(Int.init)
        return (bssid, signal == 0 ? nil : signal)
    }

    private static func hexadecimal(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

    // MARK: Asking

    /// The answer to a question; empty when the kernel refuses it. It answers at once: a dump comes as it is read.
    private static func ask(_ socket: FileDescriptor, _ question: [UInt8]) -> [Netlink.Message] {
        guard question.withUnsafeBytes({ send(socket.rawValue, $0.baseAddress, $0.count, 0) }) == question.count else {
            return []
        }
        var buffer = [UInt8](repeating: 0, count: 32 << 10)
        var result: [Netlink.Message] = []
        for _ in 0..<64 {
            let count = buffer.withUnsafeMutableBytes {
                recv(socket.rawValue, $0.baseAddress, $0.count, CInt(MSG_DONTWAIT))
            }
            guard count > 0 else { break }
            for message in Netlink.messages(buffer.prefix(count)) {
                if message.type == Netlink.done || message.type == Netlink.error { return result }
                result.append(message)
                // Nothing else follows what is no dump.
                if question[6] == UInt8(truncatingIfNeeded: Netlink.request), question[7] == 0 { return result }
            }
        }
        return result
    }
}
