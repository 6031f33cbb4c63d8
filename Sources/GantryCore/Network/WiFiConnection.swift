/// What a Wi-Fi interface is connected to.
public struct WiFiConnection: Sendable, Hashable {
    /// The network's name, safe to print: it comes from the air. Nil: hidden, or nothing in it can be shown.
    public let ssid: String?
    /// The name as it is: up to 32 bytes of anything.
    public let ssidBytes: [UInt8]
    /// The access point: "04:c5:a4:09:55:70". Nil: not known.
    public let bssid: String?
    /// How strong it is received, in dBm: about -30 (beside it) to -90 (hardly). Nil: not known.
    public let signal: Int?

    package init(ssid: [UInt8], bssid: String?, signal: Int?) {
        ssidBytes = ssid
        let text = DisplayName.sanitized(String(decoding: ssid, as: UTF8.self), graphemes: 32, bytes: 96)
        self.ssid = text.isEmpty ? nil : text
        self.bssid = bssid
        self.signal = signal
    }
}
