import Testing

@testable import GantryMedia

@Suite struct RecordingTimelineTests {
    @Test func followsTheStampsWithinASession() {
        var timeline = RecordingTimeline()
        #expect(timeline.place(stamp: 7_000_000, arrival: 1, duration: 33_000) == 0)
        // Uneven stamps stay as they are, late arrival does not matter.
        #expect(timeline.place(stamp: 7_033_000, arrival: 5_000_000, duration: 33_000) == 33_000)
        #expect(timeline.place(stamp: 7_020_000, arrival: 5_000_001, duration: 10_000) == 20_000)
        #expect(timeline.place(stamp: 17_020_000, arrival: 5_000_002, duration: 10_000) == 10_020_000)
    }

    @Test func anotherClockGoesOnByTheTimeThatPassedHere() {
        var timeline = RecordingTimeline()
        _ = timeline.place(stamp: 900_000_000, arrival: 10_000_000, duration: 33_000)
        timeline.restart()
        #expect(timeline.place(stamp: 3_000_000, arrival: 14_000_000, duration: 33_000) == 4_000_000)
        #expect(timeline.place(stamp: 3_033_000, arrival: 14_033_000, duration: 33_000) == 4_033_000)
    }

    @Test func theSameClockAfterAReconnectionIsKeptExactly() {
        var timeline = RecordingTimeline()
        _ = timeline.place(stamp: 1_000_000, arrival: 10_000_000, duration: 33_000)
        timeline.restart()
        // 4 s by the stamps, 4.3 s by arrival: the connection was slow, the clock is the same.
        #expect(timeline.place(stamp: 5_000_000, arrival: 14_300_000, duration: 33_000) == 4_000_000)
    }

    @Test func jumpsWithoutNoticeAreMended() {
        var timeline = RecordingTimeline()
        _ = timeline.place(stamp: 1_000_000_000, arrival: 10_000_000, duration: 33_000)
        #expect(timeline.place(stamp: 5, arrival: 10_033_000, duration: 33_000) == 33_000)
        #expect(timeline.place(stamp: 900_000_000, arrival: 10_066_000, duration: 33_000) == 66_000)
    }

    @Test func withoutArrivalTimesTheNewSessionFollowsTheOld() {
        var timeline = RecordingTimeline()
        _ = timeline.place(stamp: 50_000_000, arrival: 0, duration: 33_000)
        timeline.restart()
        #expect(timeline.place(stamp: 2, arrival: 0, duration: 33_000) == 33_000)
    }

    @Test(arguments: [Int64.min, Int64.max, 0, -1]) func extremeStampsDoNotTrap(stamp: Int64) {
        var timeline = RecordingTimeline()
        _ = timeline.place(stamp: stamp, arrival: 1, duration: .max)
        timeline.restart()
        _ = timeline.place(stamp: 0 &- stamp, arrival: .max, duration: .min)
        let next = timeline.place(stamp: stamp, arrival: .min, duration: 10)
        #expect(next >= -1_000_000)
    }
}
