import GantryPlatform
import Testing

/// The level and the sink belong to the process, so these run one after another, and look only for their own lines.
@Suite(.serialized) struct LogTests {
    private func lines(at level: Log.Level, _ body: () -> Void) -> [String] {
        let former = Log.level
        let seen = BoundedQueue<String>(capacity: 100)
        Log.level = level
        Log.setSink { seen.push($0) }
        body()
        Log.setSink(nil)
        Log.level = former
        seen.close()
        var lines: [String] = []
        while let line = seen.pop() { if line.contains("log-test") { lines.append(line) } }
        return lines
    }

    @Test(arguments: Log.Level.allCases) func showsTheLevelAndAllAbove(level: Log.Level) {
        let seen = lines(at: level) {
            Log.error("log-test a")
            Log.warning("log-test b")
            Log.info("log-test c")
            Log.debug("log-test d")
        }
        let all = ["error: log-test a\n", "warning: log-test b\n", "info: log-test c\n", "debug: log-test d\n"]
        #expect(seen == Array(all.prefix(level.rawValue + 1)))
    }

    @Test func makesNoTextThatNobodySees() {
        var made = 0
        func text() -> String {
            made += 1
            return "log-test"
        }
        _ = lines(at: .warning) {
            Log.debug(text())
            Log.info(text())
        }
        #expect(made == 0)
        _ = lines(at: .info) { Log.info(text()) }
        #expect(made == 1)
    }
}
