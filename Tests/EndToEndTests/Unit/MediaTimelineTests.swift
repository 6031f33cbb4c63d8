import GantryTestSupport
import Testing

@testable import GantryCore
@testable import StudioKit

@Suite struct MediaTimelineTests {
    @Test func positionsFollowTheStamps() {
        var line = MediaTimeline()
        // The third is sound of a little earlier, in the order in which it came.
        let positions = [1_000_000, 1_033_000, 1_010_000, 5_900_000].map { line.place($0) }
        #expect(positions == [0, 33_000, 10_000, 4_900_000])
        #expect(line.end == 4_900_000)
    }

    @Test func holesAreClosed() {
        var line = MediaTimeline(longestStep: .seconds(5))
        let positions = [0, 1_000_000, 7_000_000, 7_040_000].map { line.place($0) }
        #expect(positions == [0, 1_000_000, 1_033_000, 1_073_000])
        // Another clock.
        line.restart()
        let other = line.place(500)
        #expect(other == 1_106_000)
        let farBack = line.place(-2_000_000)
        #expect(farBack == 1_139_000)
    }

    /// Of a slow source, and of one that holds still for a while.
    @Test func longStepsAreNoHolesUnlessTheyAreToldOf() {
        var line = MediaTimeline()
        let positions = [0, 10_000_000, 100_000_000].map { line.place($0) }
        #expect(positions == [0, 10_000_000, 100_000_000])
    }

    @Test func pausesAreClosedHoweverShortTheyAre() {
        var line = MediaTimeline(longestStep: .seconds(5))
        let before = [0, 40_000].map { line.place($0) }
        #expect(before == [0, 40_000])
        line.paused()
        // What was under way, then what comes after the pause: picture, and sound of a little earlier.
        let after = [80_000, 3_000_000, 2_990_000, 3_040_000].map { line.place($0) }
        #expect(after == [80_000, 113_000, 103_000, 153_000])
        // It was one pause.
        let later = line.place(4_000_000)
        #expect(later == 1_113_000)
    }

    /// The picture alone is paused: sound goes on, and the time with it.
    @Test func nothingIsClosedWhileAnythingComes() {
        var line = MediaTimeline()
        _ = line.place(0)
        line.paused()
        for sound in 1...200 { _ = line.place(Int64(sound) * 10_000) }
        let picture = line.place(2_010_000)
        #expect(picture == 2_010_000)
    }

    @Test(arguments: [nil, MediaDuration.seconds(5)]) func anyStampIsTaken(_ longest: MediaDuration?) {
        var line = MediaTimeline(longestStep: longest)
        var random = SeededRandom(seed: 5)
        for _ in 0..<10_000 {
            if random.next() % 16 == 0 { line.restart() }
            if random.next() % 16 == 0 { line.paused() }
            let extremes = [Int64.min, .max, 0, -1, Int64(bitPattern: random.next())]
            _ = line.place(extremes[Int(random.next() % 5)])
        }
    }
}
