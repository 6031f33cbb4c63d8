/// What stands in the QR code: who the studio is, a secret, and hints for finding it.
///
/// ```
/// GANTRY:1/<K>/<S>[/<option>]*     at most 220 characters, upper case, read in any case
/// K  base 32 of the studio's key id (52 characters)      S  base 32 of the secret (26)
/// A<ipv4>:<port>  B<base 32 of IPv6 and port>  N<base 32 of a name ≤ 24 bytes>  T<seconds ≤ 600>  X… must be understood
/// C<check>, see `PairingCodeCheck`
/// ```
package struct PairingCode: Sendable, CustomStringConvertible {
    package let studio: KeyID
    package let secret: PairingSecret
    /// `A` and `B`, in the order of the code.
    package let endpoints: [PairingEndpoint]
    /// `N`: a hint, made fit for showing.
    package let name: DisplayName?
    /// `T`: seconds that the code lives from the moment it was drawn.
    package let life: Int?

    package static let version = 1
    package static let prefix = "GANTRY:"

    package init(
        studio: KeyID, secret: PairingSecret, endpoints: [PairingEndpoint] = [], name: DisplayName? = nil,
        life: Int? = nil
    ) {
        self.studio = studio
        self.secret = secret
        self.endpoints = endpoints
        self.name = name
        self.life = life.map { min(max($0, 1), PairingLimits.longestLife) }
    }

    /// Without the secret.
    package var description: String { "pairing code of studio \(studio.short)" }

    /// The text for the QR code. Contains the secret: never log it, and wipe it after use (`SecretText`). Endpoints that
    /// do not fit are left out.
    package func text() -> String {
        var text: [UInt8] = []
        // All of it at once: what grows leaves copies behind.
        text.reserveCapacity(PairingLimits.codeLength)
        defer { SecretText.wipe(&text) }
        text += "\(Self.prefix)\(Self.version)/\(studio)/".utf8
        _ = try? secret.withBytes { (bytes) throws(GantryError) in Base32.append(bytes, to: &text) }
        var options: [String] = []
        if let life { options.append("T\(life)") }
        if let name {
            let hint = name.text.prefix(bytes: PairingLimits.nameHintSize)
            if !hint.isEmpty { options.append("N" + Base32.encode(Array(hint.utf8))) }
        }
        options += endpoints.map(Self.option)
        let head = text.count
        let room = PairingLimits.codeLength - PairingCodeCheck.size
        for option in options where text.count + 1 + option.utf8.count <= room { text += "/\(option)".utf8 }
        var check = PairingCodeCheck()
        check.add(text)
        text.insert(contentsOf: "/C\(check.value)".utf8, at: head)
        return String(decoding: text, as: UTF8.self)
    }

    private static func option(_ endpoint: PairingEndpoint) -> String {
        switch endpoint {
        case .ipv4: "A\(endpoint)"
        case .ipv6(let address, let port):
            "B" + Base32.encode(address + [UInt8(port >> 8), UInt8(port & 0xff)])
        }
    }
}
