import GantryCore

/// Follows the events of a session: its state, and what its player does. A plain value.
struct SessionProgress {
    private(set) var state = SessionState.idle
    private let wanted: MediaSelection
    private var hasStood = false
    private var isPausedThere = false
    private var stoppedHere: MediaSelection = []
    /// Media have come on this connection.
    private var hasMedia = false
    private var isReplaying = false
    /// What was received and has gone.
    private var lost: MediaSelection = []
    private var hasLostStreams: Bool { !lost.isEmpty && lost.isSuperset(of: received) }
    /// What this connection brings, as far as it is known.
    private var received: MediaSelection = []

    init(wanted: MediaSelection) { self.wanted = wanted }

    var player: PlayerState {
        switch state {
        case .idle, .ended, .failed: return []
        case .connecting, .connected, .reconnecting: break
        }
        var player: PlayerState = .open
        if state == .connected { player.insert(.active) }
        if wanted.contains(.video), !stoppedHere.contains(.video) { player.insert(.visible) }
        let isPaused = state == .connected && isPausedThere || (!wanted.isEmpty && stoppedHere.isSuperset(of: wanted))
        if isReplaying {
            player.insert(.playing)
        } else if isPaused {
            player.insert(.paused)
        } else if hasLostStreams {
            player.insert(.stopped)
        } else {
            player.insert(hasMedia ? .playing : .buffering)
        }
        return player
    }

    mutating func started(_ isStarted: Bool = true) {
        if state == (isStarted ? .idle : .connecting) { state = isStarted ? .connecting : .idle }
    }

    mutating func mediaCame() { if state == .connected { hasMedia = true } }

    mutating func note(_ event: StudioEvent) {
        switch event {
        case .connecting: if state == .idle { state = .connecting }
        case .connected(_, _, let streams):
            hasStood = true
            state = .connected
            begin()
            received = []
            for stream in streams where stream.kind != .data {
                received.insert(stream.kind == .video ? .video : .audio)
            }
            received.formIntersection(wanted)
        case .paused: isPausedThere = true
        case .resumed: isPausedThere = false
        case .stoppedHere(let media): stoppedHere = media
        case .replay(let behind): isReplaying = behind != nil
        case .playbackStopped(let stream):
            lost.insert(stream.kind == .video ? .video : .audio)
            // Of two the other one goes on.
            if hasLostStreams { hasMedia = false }
        case .format(.video): lost.remove(.video)
        case .format(.audio): lost.remove(.audio)
        case .disconnected:
            state = hasStood ? .reconnecting : .connecting
            begin()
        case .ended(let error): state = error.map { .failed($0) } ?? .ended
        case .discoveryUnavailable, .paired, .streams, .firstFrame, .rate, .videoState, .decodingFailed, .player: break
        }
    }

    private mutating func begin() {
        isPausedThere = false
        hasMedia = false
        lost = []
    }
}
