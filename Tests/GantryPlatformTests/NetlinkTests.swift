import GantryCore
import GantryPlatform
import GantryTestSupport
import Testing

/// Netlink messages, byte by byte, and the networks of this machine.
@Suite struct NetlinkTests {
    /// What the kernel says about one interface (nl80211, NL80211_CMD_NEW_INTERFACE), on a little-endian machine.
    private static let interface: [UInt8] = [
        0x38, 0, 0, 0,  // length 56
        0x1C, 0, 0x02, 0, 1, 0, 0, 0, 0, 0, 0, 0,  // type 28, NLM_F_MULTI, sequence 1, port 0
        7, 1, 0, 0,  // command, version
        8, 0, 3, 0, 4, 0, 0, 0,  // NL80211_ATTR_IFINDEX: 4
        8, 0, 5, 0, 2, 0, 0, 0,  // NL80211_ATTR_IFTYPE: station
        0x0A, 0, 52, 0, 0x43, 0x61, 0x66, 0xC3, 0xA9, 0x21, 0, 0,  // NL80211_ATTR_SSID: "Café!", padded
        8, 0, 99, 0, 1, 2, 3, 4,  // an attribute of a later kernel
    ]

    /// And about the access point (NL80211_CMD_NEW_STATION).
    private static let station: [UInt8] = [
        0x34, 0, 0, 0, 0x1C, 0, 0x02, 0, 1, 0, 0, 0, 0, 0, 0, 0, 19, 1, 0, 0,
        8, 0, 3, 0, 4, 0, 0, 0,
        0x0A, 0, 6, 0, 0x04, 0xC5, 0xA4, 0x09, 0x55, 0x70, 0, 0,  // NL80211_ATTR_MAC
        0x0C, 0, 21, 0x80,  // NL80211_ATTR_STA_INFO, nested
        5, 0, 7, 0, 0xC4, 0, 0, 0,  // NL80211_STA_INFO_SIGNAL: -60
    ]

    @Test func aQuestionInBytes() {
        let question = Netlink.generic(
            family: 0x10, command: 3, flags: Netlink.request, attributes: [(2, Array("nl80211".utf8) + [0])])
        #expect(
            question == [
                0x20, 0, 0, 0, 0x10, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 3, 1, 0, 0, 12, 0, 2, 0, 0x6E, 0x6C, 0x38, 0x30,
                0x32, 0x31, 0x31, 0,
            ])
        #expect(Netlink.messages(question).first?.attributes(from: 4)[2]?.count == 8)
    }

    @Test("S13: name, access point and signal of a Wi-Fi network")
    func wifi() throws {
        let names = WiFiQuery.names(in: Netlink.messages(Self.interface))
        #expect(names.map(\.index) == [4])
        let (bssid, signal) = WiFiQuery.accessPoint(in: Netlink.messages(Self.station))
        let connection = WiFiConnection(ssid: try #require(names.first?.name), bssid: bssid, signal: signal)
        #expect(connection.ssid == "Café!")
        #expect(connection.bssid == "04:c5:a4:09:55:70")
        #expect(connection.signal == -60)
    }

    @Test("S13: a network's name from the air cannot move the cursor")
    func hostileName() {
        let hostile = WiFiConnection(ssid: Array("\u{1B}[2J\u{202E}x".utf8) + [0xFF, 0], bssid: nil, signal: nil)
        #expect(hostile.ssid == "[2Jx")
        #expect(hostile.ssidBytes.count == 10)
        #expect(WiFiConnection(ssid: [0, 0, 0], bssid: nil, signal: nil).ssid == nil)
    }

    @Test func damagedMessages() {
        let whole = Self.interface + Self.station
        #expect(Netlink.messages(whole).count == 2)
        for length in 0..<whole.count { Self.take(Array(whole.prefix(length))) }
        var random = SeededRandom(seed: 3)
        for _ in 0..<5000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            Self.take(bytes)
        }
        // Lengths that lead nowhere.
        #expect(Netlink.messages([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).isEmpty)
        #expect(Netlink.messages([0xFF, 0xFF, 0xFF, 0xFF] + whole).isEmpty)
        #expect(Netlink.attributes([0, 0, 1, 0, 5, 0, 2, 0]).isEmpty)
    }

    private static func take(_ bytes: [UInt8]) {
        let messages = Netlink.messages(bytes)
        #expect(WiFiQuery.names(in: messages).allSatisfy { 1...32 ~= $0.name.count })
        _ = WiFiQuery.accessPoint(in: messages)
        _ = WiFiQuery.family(in: messages)
    }

    @Test("S13: the interfaces of this machine, as ip shows them")
    func interfaces() async throws {
        let information = try await onThread { NetworkInformation.now() }
        let loopback = try #require(information.interfaces.first { $0.name == "lo" })
        #expect(loopback.kind == .loopback && !loopback.isUsable)
        #expect(loopback.addresses.contains("127.0.0.1"))
        #expect(loopback.index == 1)
        let text = try await ToolRun(["ip", "-o", "link", "show"]).end()
        guard text.status == 0 else { return }
        let names = text.lines.compactMap { $0.split(separator: " ").dropFirst().first }
            .map { $0.prefix { $0 != ":" && $0 != "@" } }
        #expect(Set(information.interfaces.map(\.name)) == Set(names.map(String.init)))
    }

    @Test func aWatchTellsAtOnceAndEnds() async throws {
        let told = Watched<[NetworkInformation]>([])
        let watch = try NetworkWatch { information in told.change { $0.append(information) } }
        try watch.start()
        #expect(try await told.wait { !$0.isEmpty })
        try await onThread { watch.stop() }
        #expect(told.value.first?.interfaces.isEmpty == false)
    }
}
