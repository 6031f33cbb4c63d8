/// Who takes what a `StreamReceiver` has put together. All calls come on the receiver's thread, one after the other.
package protocol StreamSink: AnyObject {
    /// A whole unit is there, the next in order. False: not yet, ask again soon.
    func unitBegins(_ header: MediaHeader, now: MediaTimestamp) -> Bool
    /// A piece of it, in order; valid during the call.
    func unitContinues(_ bytes: UnsafeRawBufferPointer)
    /// - Parameter isWhole: false when its content is broken: it must not be used.
    func unitEnds(isWhole: Bool)
    /// A unit did not come in time, and is left out.
    func unitLost()
}
