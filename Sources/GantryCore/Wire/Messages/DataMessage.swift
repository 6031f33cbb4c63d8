/// DATA (10), on a channel of kind data. The one message of this enum that is not made of fields:
/// `u8 length of label | label, UTF-8 ≤ 32 | bytes`, at most 64 KiB together.
package struct DataMessage: Hashable, Sendable {
    package let label: String
    package let bytes: [UInt8]
    /// Bytes of the payload, label and its length with it, as it is on the wire: both ends count by it.
    package let payloadSize: Int

    package init(label: String, bytes: [UInt8]) {
        self.label = label
        self.bytes = bytes
        payloadSize = min(1 + label.utf8.count + bytes.count, WireLimits.maximumData)
    }

    init(_ payload: [UInt8]) throws(GantryError) {
        guard let count = payload.first.map(Int.init), count <= WireLimits.maximumDataLabel, payload.count > count
        else {
            throw GantryError(
                .protocolError, "The other end broke the protocol: a data message without its label. Update both ends.")
        }
        label = DisplayName.sanitized(
            String(decoding: payload.dropFirst().prefix(count), as: UTF8.self),
            graphemes: WireLimits.maximumDataLabel, bytes: WireLimits.maximumDataLabel)
        bytes = Array(payload.dropFirst(1 + count))
        payloadSize = payload.count
    }

    /// What it says; how long the label was before it was made fit for showing does not count.
    package static func == (a: Self, b: Self) -> Bool { a.label == b.label && a.bytes == b.bytes }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(label)
        hasher.combine(bytes)
    }

    func encode() -> [UInt8] {
        let label = Array(label.prefix(bytes: WireLimits.maximumDataLabel).utf8)
        return [UInt8(label.count)] + label + bytes.prefix(WireLimits.maximumData - 1 - label.count)
    }
}
