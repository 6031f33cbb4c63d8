/// A piece of one message, as `FrameDecoder` found it.
package struct FrameChunk {
    package let type: MessageType
    /// Of the message's first fragment, without MORE.
    package let flags: FrameFlags
    package let channel: UInt16
    /// May be empty. Valid only until the sink returns.
    package let payload: UnsafeRawBufferPointer
    package let startsMessage: Bool
    package let endsMessage: Bool
}
