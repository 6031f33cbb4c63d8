/// Reads the prefix of a media message out of pieces that may cut it anywhere. One for each channel; nothing is allocated.
package struct MediaPrefixReader: Sendable {
    private var storage = InlineArray<22, UInt8>(repeating: 0)
    private var count = 0
    /// The prefix of the current message, once all of it has come.
    package private(set) var prefix: MediaPrefix?

    package init() {}

    /// Takes a piece of a message and returns what of it lies behind the prefix. Begins anew at `startsMessage`.
    ///
    /// - Throws: `.protocolError` when the message ends inside its prefix.
    package mutating func consume(_ chunk: FrameChunk) throws(GantryError) -> UnsafeRawBufferPointer {
        if chunk.startsMessage {
            count = 0
            prefix = nil
        }
        let piece = chunk.payload
        guard prefix == nil else { return piece }
        var used = 0
        if count == 0, let whole = MediaPrefix(piece) {
            prefix = whole
            used = MediaPrefix.size
        } else {
            while used < piece.count, count < MediaPrefix.size {
                storage[count] = piece[used]
                count += 1
                used += 1
            }
            if count == MediaPrefix.size { prefix = fromStorage() }
        }
        if chunk.endsMessage, prefix == nil {
            throw GantryError(
                .protocolError,
                "The other end sent a media packet without its prefix. Update both ends and connect again.")
        }
        return UnsafeRawBufferPointer(rebasing: piece[used...])
    }

    private func fromStorage() -> MediaPrefix {
        func number(_ range: Range<Int>) -> UInt64 {
            var value: UInt64 = 0
            for index in range { value = value << 8 | UInt64(storage[index]) }
            return value
        }
        return MediaPrefix(
            sequence: UInt32(truncatingIfNeeded: number(0..<4)), presentationTime: number(4..<12),
            captureTime: number(12..<20), epoch: UInt16(truncatingIfNeeded: number(20..<22)))
    }
}
