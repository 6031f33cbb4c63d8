package import GantryCore

/// Turns the chunks of control messages into messages. I/O thread only.
package struct ControlReceiver {
    private var assembler = MessageAssembler()

    package init() {}

    /// Calls `deliver` with a message that `chunk` completes; media and unknown messages are passed over.
    package mutating func consume(
        _ chunk: FrameChunk, _ deliver: (ControlMessage, UInt16) throws(GantryError) -> Void
    ) throws(GantryError) {
        try assembler.consume(chunk) { type, _, channel, payload throws(GantryError) in
            guard let message = try ControlMessage.decode(type: type, payload: payload) else { return }
            try deliver(message, channel)
        }
    }
}
