import GantryCore

/// What the application wants of a session, whichever connection that has. A plain value.
struct ReceptionWishes: Hashable, Sendable {
    var paused: MediaSelection = []
    var isVideoHidden = false
    var preferred = PreferredPicture()

    /// What shall not come at the moment.
    var stopped: MediaSelection { isVideoHidden ? paused.union(.video) : paused }

    /// What to tell a producer that knows `former`.
    ///
    /// - Parameters:
    ///   - video: the channel of the picture, where there is one; `audio` likewise.
    func messages(after former: ReceptionWishes, video: UInt16?, audio: UInt16?) -> [ControlMessage] {
        var messages: [ControlMessage] = []
        for (kind, channel) in [(MediaSelection.video, video), (.audio, audio)] {
            guard let channel, channel < 16, stopped.contains(kind) != former.stopped.contains(kind) else { continue }
            let reason: Pause.Reason =
                kind == .video && !paused.union(former.paused).contains(.video) ? .hidden : .user
            let what = Pause(mask: 1 << channel, reason: reason)
            messages.append(stopped.contains(kind) ? .pause(what) : .resume(what))
        }
        if preferred != former.preferred && video != nil { messages.append(.prefer(preferred.message)) }
        return messages
    }
}
