/// What `TLSEngine.readPlaintext` found.
package enum PlaintextResult: Sendable, Hashable {
    /// So many bytes are in the buffer.
    case bytes(Int)
    /// Nothing whole is there yet: give it more ciphertext.
    case needsInput
    /// The peer said goodbye (`close_notify`); nothing follows.
    case closedByPeer
}
