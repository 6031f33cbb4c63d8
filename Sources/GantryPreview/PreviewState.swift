import GantryCore
import GantryPlatform
import StudioKit

/// What other threads tell the thread of the window.
final class PreviewState: @unchecked Sendable {  // Everything is guarded by `lock`.
    struct Content {
        var producer = ""
        /// Below "NO SIGNAL", while there is no picture.
        var waiting = "Connecting…"
        /// There was a connection, and what has become of it is said until there is another.
        var isLost = false
        var format: VideoStreamFormat?
        var isProducerPaused = false
        /// The producer sends none, because of the link or by its own will.
        var isPictureOff = false
        var isMuted = false
        var recordingSince: MediaTimestamp?
        var message: (text: String, until: MediaTimestamp)?
    }

    private let lock = Lock()
    private var content = Content()
    private var generation = 0
    private weak var session: StudioSession?
    private var perform: (@Sendable (PreviewCommand, VideoFrame?) -> Void)?
    private var shown = 0
    private var latency = PercentileWindow(capacity: 8192)

    func change(_ body: (inout Content) -> Void) {
        lock.withLock {
            body(&content)
            generation &+= 1
        }
    }

    /// Nil when nothing has changed since `seen`, which is brought up to date.
    func content(newerThan seen: inout Int) -> Content? {
        lock.withLock {
            guard seen != generation else { return nil }
            seen = generation
            return content
        }
    }

    func attach(_ session: StudioSession, _ perform: @escaping @Sendable (PreviewCommand, VideoFrame?) -> Void) {
        lock.withLock {
            self.session = session
            self.perform = perform
            generation &+= 1
        }
    }

    /// What is shown just now.
    var currentSession: StudioSession? { lock.withLock { session } }

    func send(_ command: PreviewCommand, _ frame: VideoFrame?) {
        let perform = lock.withLock { self.perform }
        perform?(command, frame)
    }

    /// A picture is in the window.
    func shown(after latency: MediaDuration?) {
        lock.withLock {
            shown += 1
            if let latency { self.latency.add(latency) }
        }
    }

    var statistics: PreviewStatistics {
        lock.withLock {
            let times = latency.percentiles()
            return PreviewStatistics(
                shown: shown, latencyCount: times.count, p50: Int(times.p50), p95: Int(times.p95), p99: Int(times.p99))
        }
    }
}
