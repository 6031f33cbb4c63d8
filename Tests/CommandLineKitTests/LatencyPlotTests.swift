import CommandLineKit
import Foundation
import GantryTestSupport
import Testing

@Suite struct LatencyPlotTests {
    @Test func isWellFormedWhateverIsInIt() async throws {
        let points = (0..<600).map { LatencyPlot.Point(seconds: Double($0) / 30, milliseconds: 11 + Double($0 % 7)) }
        let hostile = "<script>&\u{1B}[2J \"'日本語"
        for points in [points, [], [.init(seconds: .nan, milliseconds: 1)], [.init(seconds: -1, milliseconds: -5)]] {
            let svg = LatencyPlot(title: hostile, points: points, marks: [("p50", 12), ("p99", .infinity)]).svg
            let read = try await Oracle.check(
                [
                    "python3", "-c",
                    "import sys, xml.etree.ElementTree as x; r = x.fromstring(sys.stdin.buffer.read());"
                        + "print(r.tag, len(r), r[1].text)",
                ], input: Data(svg.utf8))
            #expect(read.text.contains("{http://www.w3.org/2000/svg}svg"))
            #expect(read.text.contains("<script>&?[2J \"'日本語"), "\(read.text)")
            #expect(!svg.contains("nan") && !svg.contains("inf"))
        }
    }

    @Test func showsEachPictureAndHowMany() {
        let svg = LatencyPlot(
            title: "t", points: [.init(seconds: 0, milliseconds: 5), .init(seconds: 10, milliseconds: 10)],
            marks: [("p50", 5)]
        ).svg
        // The plot goes from 0 to 10 s and from 0 to 10 ms.
        #expect(svg.contains("points=\"56.0,182.0 616.0,44.0\""))
        #expect(svg.contains(">p50 5.0<") && svg.contains(">10<"))
        #expect(svg.ranges(of: "fill=\"#90b4d8\"").count == 2, "two bars of the histogram")
    }
}
