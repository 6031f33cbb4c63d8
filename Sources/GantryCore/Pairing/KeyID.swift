/// Who a device is: SHA-256 over the DER form of its public key (SubjectPublicKeyInfo, RFC 5280 section 4.1). 32 bytes.
public struct KeyID: Hashable, Sendable, CustomStringConvertible {
    /// SHA-256 of the key: `size` bytes.
    public let bytes: [UInt8]

    /// Bytes.
    public static let size = 32

    /// Nil unless exactly 32 bytes.
    public init?(bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }

    /// From the 52 characters of `description`, in any case.
    public init?(text: some StringProtocol) {
        guard let bytes = Base32.decode(text) else { return nil }
        self.init(bytes: bytes)
    }

    /// Base 32, 52 characters.
    public var description: String { Base32.encode(bytes) }

    /// The first 16 characters: enough for people and for the `id` of a service record.
    public var short: String { String(description.prefix(16)) }
}
