package import GantryCore
import GantryPlatform

/// Takes figures each second and hands them to all that want them: lines, a CSV file, Prometheus, a reporter's server.
///
/// Threads: "statistics" takes and writes, "metrics" answers, "report" sends; a server that does not answer holds up
/// nothing but its own reports.
package final class StatisticsFeed: @unchecked Sendable {  // `latest` is guarded by `lock`; threads are set in `start`.
    package struct Sinks: Sendable {
        /// Shows a line; nil: not wanted.
        package var line: (@Sendable (MetricSet) -> Void)?
        /// Appends to the CSV file. What it throws is told once, and ends the file.
        package var csv: (@Sendable (String) throws(GantryError) -> Void)?
        /// Sends one JSON object; may take seconds. What it throws is told when it is another failure than before.
        package var report: (@Sendable (String) throws(GantryError) -> Void)?

        package init() {}
    }

    private let options: StatisticsOptions
    private let prefix: String
    private let sinks: Sinks
    private let sample: @Sendable () -> MetricSet
    private let lock = Lock()
    private var latest = MetricSet([])
    private let stopping = LatestSlot<Bool>()
    private let reports = LatestSlot<String>()
    private var server: MetricsServer?
    private var threads: [NamedThread] = []
    private var reporting: NamedThread?
    /// Closed when the thread "report" has ended.
    private let reported = LatestSlot<Bool>()
    /// How long the end may take for a report that is on its way.
    private static let patience = MediaDuration.milliseconds(1500)

    /// Seconds over which a rate means something. What is left at the end may be shorter.
    package static let shortestSpan = 0.5

    /// - Parameters:
    ///   - prefix: of all names for Prometheus: "gantry_studio".
    ///   - sample: the figures now; called once a second, on one thread.
    package init(
        _ options: StatisticsOptions, prefix: String, sinks: Sinks, sample: @escaping @Sendable () -> MetricSet
    ) {
        self.options = options
        self.prefix = prefix
        self.sinks = sinks
        self.sample = sample
    }

    /// - Throws: what is wrong with the address of `--metrics`.
    package func start() throws(GantryError) {
        if let endpoint = options.metrics {
            let server = try MetricsServer(endpoint) { [weak self] in self?.prometheus ?? "" }
            try server.start()
            self.server = server
            Log.info("metrics at http://\(server.endpoint)/metrics")
        }
        threads.append(try NamedThread("statistics") { [self] in run() })
        if sinks.report != nil {
            reporting = try NamedThread("report") { [self] in
                report()
                reported.close()
            }
        }
    }

    /// Where metrics are to be had; nil: nowhere.
    package var metricsEndpoint: Endpoint? { server?.endpoint }

    /// Writes the last figures and ends. Waits a moment for a report that is on its way; where that hangs in what cannot
    /// be ended (a name server that does not answer), its thread is left behind.
    package func stop() {
        stopping.close()
        reports.close()
        for thread in threads { thread.join() }
        if let reporting {
            _ = reported.take(until: MonotonicClock.now() + Self.patience)
            if reported.closed { reporting.join() }
        }
        server?.stop()
    }

    private var prometheus: String { lock.withLock { latest }.prometheus(prefix: prefix) }

    private func run() {
        var csv = sinks.csv
        var isFirst = true
        var next = MonotonicClock.now()
        var nextReport = next + options.reportInterval
        while !stopping.closed {
            next = max(next + .seconds(1), MonotonicClock.now())
            _ = stopping.take(until: next)
            let figures = sample()
            lock.withLock { latest = figures }
            if !stopping.closed { sinks.line?(figures) }
            do throws(GantryError) {
                try csv?(isFirst ? figures.csvHeader + figures.csvRow : figures.csvRow)
            } catch {
                csv = nil
                Log.warning("No more figures are written. \(error)")
            }
            isFirst = false
            if MonotonicClock.now() >= nextReport {
                // From when it was due: the seconds are not even.
                nextReport = max(nextReport + options.reportInterval, MonotonicClock.now())
                reports.put(JSONValue.object(figures.json).text)
            }
        }
    }

    private func report() {
        var former: String?
        while let text = reports.take() {
            do throws(GantryError) {
                try sinks.report?(text)
                if former != nil { Log.info("statistics are reported again") }
                former = nil
            } catch {
                // At the end the one that is on its way is given up.
                if stopping.closed || error.code == .cancelled { return }
                if former != error.message { Log.warning("\(error)") }
                former = error.message
            }
        }
    }
}
