public import GantryCore
import GantryMedia
import GantryPlatform

/// Sends the statistics of a session to a server, as JSON by HTTP POST, again and again: what `gantry-studio receive
/// --report-to` does. Any thread.
///
/// The object is that of `StudioStatistics.json`, and with a browser also `announcements`. The server has 5 seconds to answer
/// with 2xx; https looks at its certificate. What it does not take is not kept: the next report is newer. Thread: "report".
public final class StatisticsReporter: @unchecked Sendable {  // What varies is guarded by `lock`.
    private let post: HTTPPost
    private let interval: MediaDuration
    private let lock = Lock()
    private let stopping = LatestSlot<Bool>()
    private var thread: NamedThread?
    private var hasStarted = false
    private var failure: GantryError?
    private var count = 0

    /// - Parameters:
    ///   - url: begins with http:// or https://. A password in it is never told.
    ///   - interval: one second at least.
    /// - Throws: `invalidArgument` for another URL or interval.
    public init(url: String, every interval: MediaDuration = .seconds(10)) throws(GantryError) {
        guard ValueForm.url.accepts(url) else {
            throw GantryError(.invalidArgument, "Statistics cannot be sent there. Give \(ValueForm.url.expected).")
        }
        guard interval >= .seconds(1) else {
            throw GantryError(.invalidArgument, "Statistics are sent once a second at most.")
        }
        post = HTTPPost(url: url)
        self.interval = interval
    }

    deinit { stop() }

    /// Begins to send; the first report goes after the interval. Once only.
    ///
    /// - Parameters:
    ///   - session: kept until the end.
    ///   - browser: whose announcements are told as well.
    /// - Throws: `invalidState` the second time, `general` when the system gives no thread.
    public func start(_ session: StudioSession, browser: ProducerBrowser? = nil) throws(GantryError) {
        let isFirst = lock.withLock {
            defer { hasStarted = true }
            return !hasStarted
        }
        guard isFirst else {
            throw GantryError(.invalidState, "The reporter has been started already. Make another one.")
        }
        let thread = try NamedThread("report") { [weak self, stopping, interval] in
            var next = MonotonicClock.now() + interval
            while !stopping.closed {
                _ = stopping.take(until: next)
                guard !stopping.closed, let self else { return }
                self.report(session, browser)
                // After a server that was slow there is one report, not many.
                next = max(next + interval, MonotonicClock.now())
            }
        }
        lock.withLock { self.thread = thread }
    }

    /// Ends it; a report that is on its way is given up. Blocks until its thread has ended: not on the cooperative pool.
    public func stop() {
        stopping.close()
        post.stop()
        lock.withLock { thread }?.join()
    }

    /// How many reports the server has taken.
    public var reportCount: Int { lock.withLock { count } }

    /// Why the last report was not taken; nil: it was.
    public var lastFailure: GantryError? { lock.withLock { failure } }

    private func report(_ session: StudioSession, _ browser: ProducerBrowser?) {
        var members = session.statistics.members
        if let browser { members.append(.init("announcements", .array(browser.announcements.map(\.json)))) }
        let result = Result { () throws(GantryError) in try post.send(json: JSONValue.object(members).text) }
        let former = lock.withLock { () -> GantryError? in
            defer {
                switch result {
                case .success:
                    failure = nil
                    count += 1
                case .failure(let error): failure = error
                }
            }
            return failure
        }
        // Told once.
        if case .failure(let error) = result, error.code != .cancelled, error.message != former?.message {
            Log.warning("\(error)")
        }
    }
}
