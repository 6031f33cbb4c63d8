import GantryTrust

/// The keys of one attempt to use UDP: HKDF-SHA-256 (RFC 5869) of the TLS exporter's value, with the attempt's token as salt. So
/// they belong to this TLS connection, and no two attempts share any.
package struct DatagramKeys: Sendable {
    package struct Direction: Sendable {
        /// 16 bytes of master key, 12 of master salt (RFC 7714 section 12).
        package let keyAndSalt: [UInt8]
    }

    package static let size = 28

    package let producer: Direction
    package let studio: Direction

    /// - Parameters:
    ///   - exporter: 32 bytes, of the label `DatagramLimits.exporterLabel`.
    ///   - token: of CARRIER_OFFER.
    package init(exporter: [UInt8], token: [UInt8]) {
        func keys(_ info: String) -> Direction {
            Direction(
                keyAndSalt: PairingCryptography.hkdfSHA256(
                    salt: token, ikm: exporter, info: Array(info.utf8), count: Self.size))
        }
        producer = keys("gantry datagram producer")
        studio = keys("gantry datagram studio")
    }
}
