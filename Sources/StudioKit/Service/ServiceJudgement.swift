import GantryCore

/// Judges what is known of network, producers and sessions. Pure.
struct ServiceJudgement {
    typealias SessionID = ObjectIdentifier

    var isRunning = false
    /// An interface leads beyond this machine.
    var isNetworkUp = false
    var canSearch = true
    /// Those that are paired, on the network and on cables.
    var producers: [PairedDevice] = []
    /// Sessions that a producer has let in.
    private var connected: Set<SessionID> = []
    /// Sessions whose picture the link endangers or forbids.
    private var poor: Set<SessionID> = []

    var status: ServiceStatus { ServiceStatus(state: state, producers: isRunning ? producers : []) }

    private var state: ServiceState {
        guard isRunning else { return .down(.notRunning) }
        var reasons: ServiceDownReasons = poor.isEmpty ? [] : .poorQuality
        // By an address a producer may be received that nobody has found.
        if producers.isEmpty, connected.isEmpty {
            reasons.insert(.noProducers)
            if !isNetworkUp { reasons.insert(.networkDown) }
            if !canSearch { reasons.insert(.discoveryUnavailable) }
        }
        return reasons.isEmpty ? .up : .down(reasons)
    }

    mutating func note(_ event: StudioEvent, of session: SessionID) {
        switch event {
        case .connected:
            connected.insert(session)
            poor.remove(session)
        case .disconnected, .ended:
            connected.remove(session)
            poor.remove(session)
        case .videoState(let status) where status.reason == .quality:
            switch status.state {
            case .warning, .disabled: poor.insert(session)
            case .warningLifted, .enabled: poor.remove(session)
            }
        default: break
        }
    }
}
