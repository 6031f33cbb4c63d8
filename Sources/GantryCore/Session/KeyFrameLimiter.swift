/// Merges the requests for key frames of one channel: the first goes through at once, those within 250 ms after it become
/// one at the end of that time.
package struct KeyFrameLimiter: Sendable {
    private var last: MediaTimestamp?
    /// The request that waits.
    private var pending: Keyframe?

    package init() {}

    /// When `due` has something to give; nil when nothing waits.
    package var deadline: MediaTimestamp? {
        guard pending != nil, let last else { return nil }
        return last + SessionLimits.keyFrameInterval
    }

    /// Returns the request when it may go through now.
    package mutating func requested(_ request: Keyframe, now: MediaTimestamp) -> Keyframe? {
        if let last, now < last + SessionLimits.keyFrameInterval {
            if pending == nil { pending = request }
            return nil
        }
        last = now
        pending = nil
        return request
    }

    /// Returns the request that waited, when its time has come.
    package mutating func due(now: MediaTimestamp) -> Keyframe? {
        guard let deadline, now >= deadline, let request = pending else { return nil }
        last = now
        pending = nil
        return request
    }
}
