/// What becomes of media over UDP. Told on the carrier's thread.
package enum DatagramEvent: Hashable, Sendable {
    /// Datagrams of this payload pass, both ways: media may go.
    case opened(payload: Int)
    /// Nothing came through.
    case blocked
    /// It worked, and does not any more: nothing arrives, or no reports come.
    case silent
    /// So much is lost that TLS is better.
    case lossy
}
