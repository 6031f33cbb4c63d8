import GantryCore
import Testing

/// A path that dies, in virtual time: how long it takes until that is noticed, and that a living one is left alone.
@Suite struct PathWatchTests {
    /// A picture every `interval`, each known to have arrived after `answer` while the path lives. When it was given up, in
    /// milliseconds after its death at 5 s; nil: not in the 10 s after that.
    private func noticed(interval: Int64, answer: Int64, diesAt death: Int64 = 5000, losesOne: Bool = false) -> Int64? {
        var watch = PathWatch(answer: .milliseconds(answer))
        var answers: [Int64] = []
        for time in 0..<death + 10_000 as Range<Int64> {
            let now = MediaTimestamp(microseconds: time * 1000)
            if answers.first == time {
                answers.removeFirst()
                watch.arrived(now: now)
            }
            if time % interval == 0 {
                watch.sent(now: now)
                if time < death, !losesOne || time % (2 * interval) != 0 { answers.append(time + answer) }
            }
            if watch.isDead(now: now) { return time - death }
            if watch.isQuestionDue(now: now), time < death { answers.append(time + answer) }
            answers.sort()
        }
        return nil
    }

    @Test(arguments: [10, 33, 200, 500] as [Int64], [1, 120, 600] as [Int64])
    func deathIsNoticed(interval: Int64, answer: Int64) throws {
        let time = try #require(noticed(interval: interval, answer: answer))
        // An answer that was under way still comes; then half a second and the time of one.
        #expect(time <= interval + 2 * answer + 500)
        #expect(time <= 2000)
    }

    @Test(arguments: [33, 500, 3000] as [Int64]) func aLivingPathIsLeftAlone(interval: Int64) {
        #expect(noticed(interval: interval, answer: 300, diesAt: 60_000).map { $0 >= 0 } == true)
        // Each second packet is lost, and nothing comes behind it for a while: a probe asks.
        #expect(noticed(interval: interval, answer: 50, diesAt: 60_000, losesOne: true).map { $0 >= 0 } == true)
    }

    @Test func nothingSentIsNothingToBeHeardOf() {
        var watch = PathWatch(answer: .zero)
        #expect(watch.deadline == nil)
        #expect(!watch.isDead(now: MediaTimestamp(microseconds: .max)))
        watch.sent(now: MediaTimestamp(microseconds: 0))
        #expect(watch.deadline == MediaTimestamp(microseconds: 100_000))
        watch.arrived(now: MediaTimestamp(microseconds: 90_000))
        #expect(watch.deadline == nil)
        let asks = watch.isQuestionDue(now: MediaTimestamp(microseconds: .max))
        #expect(!asks)
    }
}
