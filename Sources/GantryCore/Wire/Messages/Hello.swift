/// HELLO (01): the first message of each side.
package struct Hello: Hashable, Sendable {
    /// Field 1, u16. The session speaks the smaller of both.
    package var minor: UInt16
    /// Field 2, u64. The session has what both have.
    package var capabilities: Capabilities
    /// Field 3, text ≤ 64.
    package var name: DisplayName
    /// Field 4, text ≤ 32.
    package var model: String
    /// Field 5, text ≤ 32: the version of the program.
    package var version: String
    /// Field 6, u16, studio: samples of each channel that it wants in an audio packet.
    package var samplesPerPacket: UInt16?
    /// Field 7, 2 × u16, studio: the largest picture that it can take.
    package var largestPicture: PictureSize?
    /// Field 8, u8 each, studio: codecs that it can decode. Unknown numbers are skipped.
    package var codecs: [MediaCodec]
    /// Field 9, u64, producer: changes with every start of the program.
    package var bootID: UInt64?
    /// Field 10, u64: the sender cannot work with a peer that lacks one of these.
    package var required: Capabilities
    /// Field 11, u16: the sender cannot work with a smaller minor version.
    package var smallestMinor: UInt16
    /// Fields 12, 13 and 14, text ≤ 48 each, producer: venue, owner, app.
    package var fieldOfUse: FieldOfUse

    package init(
        minor: UInt16 = WireLimits.minorVersion, capabilities: Capabilities = .all, name: DisplayName,
        model: String = "",
        version: String = "", samplesPerPacket: UInt16? = nil, largestPicture: PictureSize? = nil,
        codecs: [MediaCodec] = [], bootID: UInt64? = nil, required: Capabilities = [], smallestMinor: UInt16 = 0,
        fieldOfUse: FieldOfUse = FieldOfUse()
    ) {
        self.minor = minor
        self.capabilities = capabilities
        self.name = name
        self.model = model
        self.version = version
        self.samplesPerPacket = samplesPerPacket
        self.largestPicture = largestPicture
        self.codecs = codecs
        self.bootID = bootID
        self.required = required
        self.smallestMinor = smallestMinor
        self.fieldOfUse = fieldOfUse
    }

    init(_ reader: inout TLVReader) throws(GantryError) {
        minor = try reader.required(1)
        capabilities = Capabilities(rawValue: try reader.required(2))
        name = DisplayName(try reader.text(3, limit: WireLimits.maximumName))
        model = try reader.text(4, limit: WireLimits.maximumModel)
        version = try reader.text(5, limit: WireLimits.maximumVersion)
        samplesPerPacket = try reader.number(6)
        largestPicture = try reader.size(7)
        codecs = try reader.numbers(8, UInt8.self, limit: WireLimits.maximumCodecs).compactMap(
            MediaCodec.init(rawValue:))
        bootID = try reader.number(9)
        required = Capabilities(rawValue: try reader.number(10) ?? 0)
        smallestMinor = try reader.number(11) ?? 0
        fieldOfUse = FieldOfUse(
            venue: try reader.text(12, limit: FieldOfUse.maximumBytes),
            owner: try reader.text(13, limit: FieldOfUse.maximumBytes),
            app: try reader.text(14, limit: FieldOfUse.maximumBytes))
    }

    func encode() -> [UInt8] {
        var writer = TLVWriter()
        writer.number(1, minor)
        writer.number(2, capabilities.rawValue)
        writer.text(3, name.text, limit: WireLimits.maximumName)
        writer.text(4, model, limit: WireLimits.maximumModel)
        writer.text(5, version, limit: WireLimits.maximumVersion)
        writer.number(6, samplesPerPacket)
        writer.size(7, largestPicture)
        if !codecs.isEmpty { writer.numbers(8, codecs.prefix(WireLimits.maximumCodecs).map(\.rawValue)) }
        writer.number(9, bootID)
        if !required.isEmpty { writer.number(10, required.rawValue) }
        if smallestMinor > 0 { writer.number(11, smallestMinor) }
        writer.text(12, fieldOfUse.venue ?? "", limit: FieldOfUse.maximumBytes)
        writer.text(13, fieldOfUse.owner ?? "", limit: FieldOfUse.maximumBytes)
        writer.text(14, fieldOfUse.app ?? "", limit: FieldOfUse.maximumBytes)
        return writer.payload
    }
}
