package import GantryCore

/// What a running tool does for those who ask over its control socket.
package protocol ControlHandler: Sendable {
    /// On the thread of the connection: while it blocks, only this client waits.
    ///
    /// - Returns: the result to send, or nil when the call is answered later, through `ControlCall.finish`.
    /// - Throws: what the client is told as the error of its call.
    func perform(_ call: ControlCall) throws(GantryError) -> JSONValue?

    /// The client has gone; comes once, after its last call was performed. What is still unanswered can be let go.
    func connectionEnded(_ connection: UInt64)
}
