/// What is published about a service. A value.
package struct ServiceAdvertisement: Sendable, Hashable {
    package var type: ServiceType
    /// The instance name that is wished for: any UTF-8, cut to 63 bytes between characters. A conflict gives it a number.
    package var name: String
    package var port: UInt16
    /// TXT keys (ASCII, without "=") and values, 200 bytes together at most.
    package var text: [String: String]

    package init(type: ServiceType, name: String, port: UInt16, text: [String: String]) {
        self.type = type
        self.name = name
        self.port = port
        self.text = text
    }
}
