import GantryCore
import GantryTestSupport
import Testing

@testable import CommandLineKit

@Suite struct MetricSetTests {
    private let set = MetricSet(
        [
            Metric("fps", 29.97, name: "frames_per_second", help: "Pictures in a second."),
            Metric(
                "lost", 3, name: "dropped_total", kind: .counter, help: "By cause.", labels: [.init("cause", "net")]),
            Metric(
                "late", nil, name: "dropped_total", kind: .counter, help: "By cause.", labels: [.init("cause", "late")]),
            Metric(
                "odd", 4, name: "dropped_total", kind: .counter, help: "By cause.",
                labels: [.init("cause", "a\"b\\c\nd")]),
            Metric("wrong", .infinity, name: "wrong", help: "Not a number: left out."),
        ] + StageMetrics.metrics("decode", (1500, 2500, nil)))

    @Test func jsonHasEveryKeyAndNullForWhatIsNotKnown() {
        #expect(
            JSONValue.object(set.json).text
                == #"{"fps":29.97,"lost":3,"late":null,"odd":4,"wrong":null,"decodeMillisecondsP50":1.5,"#
                + #""decodeMillisecondsP95":2.5,"decodeMillisecondsP99":null}"#)
        #expect(set["lost"] == 3)
        #expect(set["late"] == nil)
        #expect(set["none"] == nil)
    }

    @Test func csvHasAColumnForEachKey() {
        #expect(
            set.csvHeader
                == "fps,lost,late,odd,wrong,decodeMillisecondsP50,decodeMillisecondsP95,decodeMillisecondsP99\r\n")
        #expect(set.csvRow == "29.97,3,,4,,1.5,2.5,\r\n")
    }

    @Test func prometheusReadsBaseUnitsAndEscapes() throws {
        let text = set.prometheus(prefix: "gantry_test")
        #expect(
            text == """
                # HELP gantry_test_frames_per_second Pictures in a second.
                # TYPE gantry_test_frames_per_second gauge
                gantry_test_frames_per_second 29.97
                # HELP gantry_test_dropped_total By cause.
                # TYPE gantry_test_dropped_total counter
                gantry_test_dropped_total{cause="net"} 3
                gantry_test_dropped_total{cause="a\\"b\\\\c\\nd"} 4
                # HELP gantry_test_stage_seconds Time of a picture in each stage, over the last second.
                # TYPE gantry_test_stage_seconds gauge
                gantry_test_stage_seconds{stage="decode",quantile="0.5"} 0.0015
                gantry_test_stage_seconds{stage="decode",quantile="0.95"} 0.0025

                """)
        let samples = try PrometheusText.read(text)
        #expect(samples.map(\.name).count == 5)
        #expect(samples[2].labels["cause"] == "a\"b\\c\nd")
        #expect(samples[3].value == 0.0015)
    }
}
