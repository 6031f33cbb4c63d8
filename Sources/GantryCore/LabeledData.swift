/// Bytes that one end of a session has for the other, under the name of what they are about. They are delivered once and in
/// order, beside the media and never in front of sound.
public struct LabeledData: Hashable, Sendable {
    /// Of a label, UTF-8.
    public static let maximumLabel = WireLimits.maximumDataLabel
    /// Of the bytes, whatever the label.
    public static let maximumBytes = WireLimits.maximumData - 1 - maximumLabel

    /// 1 to 32 bytes of UTF-8 without control characters; safe to print.
    public let label: String
    /// 0 to 65503.
    public let bytes: [UInt8]

    /// - Throws: `invalidArgument` when label or bytes are too long, or the label is empty or not printable.
    public init(label: String, bytes: [UInt8]) throws(GantryError) {
        let shown = DisplayName.sanitized(label, graphemes: Self.maximumLabel, bytes: Self.maximumLabel)
        guard !label.isEmpty, shown == label else {
            throw GantryError(
                .invalidArgument, "The label of data must be 1 to \(Self.maximumLabel) bytes of printable text.")
        }
        guard bytes.count <= Self.maximumBytes else {
            throw GantryError(
                .invalidArgument,
                "\(bytes.count) bytes of data are too many for one message: send at most \(Self.maximumBytes), and the rest "
                    + "in further ones.")
        }
        self.label = label
        self.bytes = bytes
    }

    /// What has come: the label was made fit for showing.
    package init(_ message: DataMessage) {
        label = message.label
        bytes = message.bytes
    }

    package var message: DataMessage { DataMessage(label: label, bytes: bytes) }
}
