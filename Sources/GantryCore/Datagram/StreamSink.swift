/// Who takes what a `StreamReceiver` has put together. All calls come on the receiver's thread, one after the other.
package protocol StreamSink: AnyObject {
    /// Bytes of media have come, by themselves or again; parity does not count.
    func mediaArrived(bytes: Int)
    /// As much of a unit as was needed, or its last packet, has come by itself: the time that it took tells of the way, and of no
    /// waiting for a packet that was asked for again. Comes at most once for a unit, before it begins here, and not at all where it
    /// cannot be told.
    func unitArrived(_ header: MediaHeader, now: MediaTimestamp)
    /// A whole unit is there, the next in order. False: not yet, ask again soon.
    func unitBegins(_ header: MediaHeader, now: MediaTimestamp) -> Bool
    /// A piece of it, in order; valid during the call.
    func unitContinues(_ bytes: UnsafeRawBufferPointer)
    /// - Parameter isWhole: false when its content is broken: it must not be used.
    func unitEnds(isWhole: Bool)
    /// A unit did not come in time, and is left out.
    func unitLost()
}
