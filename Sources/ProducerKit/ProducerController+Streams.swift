public import GantryCore
import GantryPlatform

/// Streams that begin and end while studios are connected. Any thread; nothing blocks.
extension ProducerController {
    /// Offers picture or sound again after `endStream`. Connected studios are told, and receive it as a new stream; the picture
    /// begins with a key frame. May come before `start()`.
    ///
    /// What has never been in the configuration cannot begin. Data is always there.
    ///
    /// - Returns: false when nothing has changed: it is offered already, or cannot be.
    @discardableResult
    public func beginStream(_ kind: MediaKind) -> Bool { setOffered(kind, true) }

    /// Takes picture or sound away, until `beginStream`: because its device has gone, or the application has no more of it. Connected
    /// studios are told, and go on with what is left; those that connect meanwhile do not see it. What is enqueued for it is let go.
    /// Holds for the next `start()`, too.
    ///
    /// To send nothing for a while, of streams that stay, there is `pause()`.
    ///
    /// - Returns: false when nothing has changed: it is not offered, or is data.
    @discardableResult
    public func endStream(_ kind: MediaKind) -> Bool { setOffered(kind, false) }

    /// Whether studios can have it: the configuration has it, and it has not been ended. Changes are told
    /// (`ProducerEvent.streamBegan`, `streamEnded`) while it runs.
    public func isOffered(_ kind: MediaKind) -> Bool {
        if let running { return running.offers(kind) }
        return isConfigured(kind) && !lock.withLock { endedStreams.contains(kind) }
    }

    private func isConfigured(_ kind: MediaKind) -> Bool {
        switch kind {
        case .video: configuration.video != nil
        case .audio: configuration.audio != nil
        case .data: true
        }
    }

    private func setOffered(_ kind: MediaKind, _ isOffered: Bool) -> Bool {
        guard kind != .data else { return false }
        return streamOrder.withLock {
            let isNew = lock.withLock {
                isOffered ? endedStreams.remove(kind) != nil : endedStreams.insert(kind).inserted
            }
            guard let running else { return isNew && isConfigured(kind) }
            return running.setOffered(kind, isOffered)
        }
    }

    /// For a run that has just begun: what was changed while it was made.
    func applyStreams(to server: ProducerServer) {
        streamOrder.withLock {
            for kind in [MediaKind.video, .audio] {
                _ = server.setOffered(kind, !lock.withLock { endedStreams.contains(kind) })
            }
        }
    }
}
