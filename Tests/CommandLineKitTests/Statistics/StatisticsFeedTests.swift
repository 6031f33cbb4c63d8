import GantryCore
import GantryPlatform
import GantryTestSupport
import Testing

@testable import CommandLineKit

@Suite struct StatisticsFeedTests {
    @Test(arguments: [
        ("http://h", "http://h"), ("HTTP://h:8080/Path?a=B", "http://h:8080/Path?a=B"),
        ("HttpS://user:p@ss@[::1]:443/#part", "https://user:p@ss@[::1]:443/"), ("http://h?x", "http://h?x"),
    ])
    func urlsAreTaken(text: String, url: String) { #expect(StatisticsOptions.reporter(text) == url) }

    @Test(arguments: [
        "", "h", "http:", "http:/h", "http://", "http:///x", "http://:80/", "http://user@/", "http://h:0/",
        "http://h:65536",
        "http://h:x/", "http://[::1/", "http://h /", "ftp://h/", "httpx://h", "://h", "http://h\u{e9}/", "http://h\n/",
        "http://" + String(repeating: "h", count: 300),
    ])
    func otherTextsAreNot(text: String) { #expect(StatisticsOptions.reporter(text) == nil) }

    /// As one that waits for a name server: nothing ends it.
    @Test func aReportThatHangsIsLeftBehind() async throws {
        let table = Command("x", summary: "x", options: StatisticsOptions.table(usual: StatisticsOptions.studioMetrics))
        let words = ["--report-to", "http://h", "--report-every", "1s"]
        guard case .run(let arguments) = try CommandLineParser(table, version: "1").parse(words) else { return }
        let options = try StatisticsOptions(arguments, usual: StatisticsOptions.studioMetrics)
        let isSending = Watched(false)
        let release = LatestSlot<Bool>()
        let rows = Watched(0)
        var sinks = StatisticsFeed.Sinks()
        sinks.report = { _ in
            isSending.change { $0 = true }
            _ = release.take()
        }
        sinks.csv = { _ in rows.change { $0 += 1 } }
        let feed = StatisticsFeed(options, prefix: "test", sinks: sinks) { MetricSet([]) }
        try feed.start()
        #expect(try await isSending.wait { $0 })
        let before = rows.value
        let start = MonotonicClock.now()
        try await onThread { feed.stop() }
        // 1.5 s on a machine that is free; the report itself would never end.
        #expect(MonotonicClock.now() - start < .seconds(60))
        #expect(rows.value > before, "the last figures are written")
        release.close()
    }
}
