public import GantryCore
import GantryMedia
import GantryPlatform
import GantryTransport
import GantryTrust

/// One session with a producer: connects, decodes, and feeds the outputs until either side ends it.
///
/// Threads: "studio-session" (dials, later finishes the outputs), "studio-io", "video-decode", "audio-decode".
public final class StudioSession: @unchecked Sendable {  // What varies is guarded by `lock`.
    struct Context {
        let identity: Identity
        let store: DeviceStore
        let name: DisplayName
    }

    /// How long a connection attempt may take.
    private static let dialLimit = MediaDuration.seconds(10)

    public let target: ProducerTarget
    /// Newest 64 are kept for a reader that is slow.
    public let events: AsyncStream<StudioEvent>

    let context: Context
    let configuration: StudioSessionConfiguration
    private let continuation: AsyncStream<StudioEvent>.Continuation
    private let lock = Lock()
    private var cancelling: EventDescriptor?
    private var thread: NamedThread?
    private var connection: StudioConnection?
    private var hasStarted = false
    private var isClosing = false
    private var startTime = MediaTimestamp(microseconds: 0)
    private var sawFrame = false

    init(context: Context, target: ProducerTarget, configuration: StudioSessionConfiguration) {
        self.context = context
        self.target = target
        self.configuration = configuration
        (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
    }

    deinit { continuation.finish() }

    /// Begins to connect; what follows comes as events. Once only.
    ///
    /// - Throws: `invalidState` the second time.
    public func start() throws(GantryError) {
        let wake = try EventDescriptor()
        let isFirst = lock.withLock {
            defer { hasStarted = true }
            startTime = MonotonicClock.now()
            cancelling = wake
            return !hasStarted
        }
        guard isFirst else { throw GantryError(.invalidState, "The session has been started already.") }
        let thread = try NamedThread("studio-session") { [self] in run(cancelling: wake) }
        lock.withLock { self.thread = thread }
    }

    /// Says goodbye and finishes all outputs; `ended` follows. Returns at once.
    public func close() {
        let (connection, wake) = lock.withLock {
            isClosing = true
            return (self.connection, cancelling)
        }
        wake?.signal()
        connection?.close()
    }

    /// Blocks until the session has ended and all outputs are finished. Not on the cooperative pool, and not from an
    /// output: the session waits for its outputs.
    public func waitUntilEnded() { lock.withLock { thread }?.join() }

    public var statistics: StudioStatistics { lock.withLock { connection }?.statistics ?? StudioStatistics() }

    // MARK: Session thread

    private func run(cancelling wake: EventDescriptor) {
        var failure: GantryError?
        continuation.yield(.connecting(target.name))
        do throws(GantryError) {
            let link = try TCPDialer.dial(
                target.endpoint, until: MonotonicClock.now() + Self.dialLimit, cancel: wake)
            let connection = try StudioConnection(session: self, link: link)
            let isWanted = lock.withLock {
                if isClosing { return false }
                self.connection = connection
                return true
            }
            if isWanted { failure = try connection.run() }
        } catch {
            // A cancelled dial is an end that was asked for.
            failure = error.code == .cancelled ? nil : error
        }
        for output in configuration.packetOutputs { output.finish() }
        continuation.yield(.ended(failure))
        continuation.finish()
    }

    // MARK: From the connection's threads

    func report(_ event: StudioEvent) { continuation.yield(event) }

    /// The first decoded picture is told once.
    func pictureDecoded() {
        let elapsed = lock.withLock { () -> Int64? in
            if sawFrame { return nil }
            sawFrame = true
            return (MonotonicClock.now() - startTime).microseconds
        }
        if let elapsed { continuation.yield(.firstFrame(afterMicroseconds: Int(elapsed))) }
    }
}
