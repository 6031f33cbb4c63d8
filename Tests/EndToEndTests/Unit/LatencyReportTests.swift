import GantryCore
import StudioKit
import Testing

@Suite struct LatencyReportTests {
    /// Pictures of 30 a second whose latencies are 10, 11, 12 … ms.
    private static func entries(_ numbers: [UInt32], offset: MediaDuration = .zero) -> [LatencyLog.Entry] {
        numbers.enumerated().map { index, number in
            let capture = MediaTimestamp(microseconds: 1_000_000 + Int64(index) * 33_333)
            let seen = capture + .milliseconds(Int64(10 + index))
            return LatencyLog.Entry(
                number: number, capture: capture + offset, seen: seen, arrived: seen - .milliseconds(4),
                decoded: seen - .milliseconds(1), clockOffset: offset)
        }
    }

    @Test func timesAndStages() {
        let report = LatencyReport(Self.entries([5, 6, 7, 8, 9]), clock: .same)
        #expect(report.points.map(\.latency.milliseconds) == [10, 11, 12, 13, 14])
        #expect(report.total.p50 == 12_000 && report.total.maximum == 14_000 && report.least == 10_000)
        #expect(report.transit.p50 == 8_000 && report.decode.p50 == 3_000 && report.output.p50 == 1_000)
        #expect((report.missing, report.duplicates, report.late) == (0, 0, 0))
        #expect(report.points[1].time.microseconds == 34_333)
    }

    @Test(
        arguments: [
            (numbers: [1, 2, 5, 6], missing: 2, duplicates: 0, late: 0),
            (numbers: [1, 1, 1, 2], missing: 0, duplicates: 2, late: 0),
            (numbers: [1, 3, 2, 4], missing: 0, duplicates: 0, late: 1),
            (numbers: [3, 1, 4], missing: 1, duplicates: 0, late: 1),
            // 24 bits.
            (numbers: [0xFF_FFFE, 0xFF_FFFF, 0, 2], missing: 1, duplicates: 0, late: 0),
            // The producer was started again.
            (numbers: [500_000, 500_001, 500_003, 0, 1, 1, 3], missing: 2, duplicates: 1, late: 0),
            (numbers: [], missing: 0, duplicates: 0, late: 0),
        ] as [(numbers: [UInt32], missing: Int, duplicates: Int, late: Int)])
    func numbersAreCounted(_ numbers: [UInt32], _ missing: Int, _ duplicates: Int, _ late: Int) {
        let report = LatencyReport(Self.entries(numbers), clock: .same)
        #expect(report.missing == missing && report.duplicates == duplicates && report.late == late)
        #expect(report.points.count == numbers.count - duplicates)
    }

    @Test func anotherClockIsTakenOff() {
        let offset = MediaDuration.seconds(-5000)
        let clock = LatencyReport.Clock(offset: offset, roundTrip: .milliseconds(3))
        #expect(clock == .estimated(offset: offset, error: MediaDuration(microseconds: 1500)))
        let report = LatencyReport(
            Self.entries([1, 2, 3], offset: offset), clock: .estimated(offset: offset, error: .milliseconds(1)))
        #expect(report.points.map(\.latency.milliseconds) == [10, 11, 12])
    }

    @Test func oneClockIsSeenAsOne() {
        #expect(LatencyReport.Clock(offset: .milliseconds(1), roundTrip: MediaDuration(microseconds: 200)) == .same)
        #expect(LatencyReport.Clock(offset: .milliseconds(-20), roundTrip: .milliseconds(40)) == .same)
        #expect(LatencyReport.Clock(offset: .milliseconds(5), roundTrip: .milliseconds(2)) != .same)
        #expect(LatencyReport.Clock(offset: .zero, roundTrip: .zero) == nil, "no exchange")
    }

    @Test func aFurtherReaderIsComparedByNumber() {
        let entries = Self.entries([1, 2, 3, 4])
        let further = [1, 1, 3, 9].map { number in
            LatencyLog.Entry(
                number: number, capture: .init(microseconds: 0),
                seen: (entries.first { $0.number == number }?.seen ?? .init(microseconds: 0)) + .milliseconds(2))
        }
        let delay = LatencyReport.delay(from: entries, to: further)
        #expect(delay.count == 2 && delay.p50 == 2_000 && delay.maximum == 2_000)
    }
}
