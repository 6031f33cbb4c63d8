import GantryCore
import GantryPlatform
import StudioKit

/// What a session that is measured tells of its producer. Any thread.
final class LatencyPeer: @unchecked Sendable {  // What varies is guarded by `lock`.
    private struct State {
        var name: String
        var address = ""
        var format: VideoStreamFormat?
        var connected: MediaTimestamp?
        var firstPicture: MediaTimestamp?
    }

    private let lock = Lock()
    private var state: State

    /// Reads the session's events until it has ended.
    init(_ session: StudioSession, ended: @escaping @Sendable (GantryError?) -> Void) {
        state = State(name: session.target.name)
        let events = session.events
        Task.detached { [self] in
            for await event in events {
                note(event)
                if case .ended(let error) = event { ended(error) }
            }
        }
    }

    private func note(_ event: StudioEvent) {
        lock.withLock {
            switch event {
            case .connected(let name, let address, _):
                (state.name, state.address) = (name, address)
                state.connected = MonotonicClock.now()
            case .format(.video(let video)): state.format = video
            case .firstFrame: state.firstPicture = MonotonicClock.now()
            default: break
            }
        }
    }

    var name: String { lock.withLock { state.name } }
    var address: String { lock.withLock { state.address } }
    var connected: MediaTimestamp? { lock.withLock { state.connected } }
    var firstPicture: MediaTimestamp? { lock.withLock { state.firstPicture } }
    var size: PixelSize? { lock.withLock { state.format.map { PixelSize(width: $0.width, height: $0.height) } } }
    var frameRate: FrameRate? { lock.withLock { state.format?.frameRate } }
}
