public import GantryCore

/// What a session receives, changed while it runs. All of it may come before `start()` and from any thread, holds for every
/// connection of the session, and returns at once.
extension StudioSession {
    /// Has the producer stop sending: to this studio alone, which stays connected. What comes after the return is let go,
    /// until `resume`; what had come before is still decoded, and reaches outputs a moment later.
    public func pause(_ media: MediaSelection = .all) { changeWishes { $0.paused.formUnion(media) } }

    /// Goes on after `pause`; the picture with a key frame. A hidden picture stays hidden.
    public func resume(_ media: MediaSelection = .all) { changeWishes { $0.paused.subtract(media) } }

    /// While the picture is hidden it is not sent, and sound goes on.
    public func setVideoHidden(_ isHidden: Bool) { changeWishes { $0.isVideoHidden = isHidden } }

    /// What is paused or hidden here. The producer's own pause is an event.
    public var stoppedMedia: MediaSelection { wishes.stopped }

    /// Asks for another picture from now on. What is nil stays as it was wished before.
    ///
    /// - Throws: `invalidArgument` for sizes and bitrates that cannot be.
    public func prefer(_ picture: PreferredPicture) throws(GantryError) {
        try picture.check()
        changeWishes { $0.preferred = $0.preferred.changed(by: picture) }
    }

    /// What has been wished so far.
    public var preferredPicture: PreferredPicture { wishes.preferred }
}
