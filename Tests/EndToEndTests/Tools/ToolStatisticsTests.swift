import Foundation
import GantryCore
import GantryTestSupport
import Glibc
import StudioKit
import Testing

extension EndToEnd {
    /// `--stats`, `--stats-csv`, `--metrics` and `--report-to` of both tools, judged by other programs.
    @Suite struct ToolStatisticsTests {
        /// Says its port, then each document that is posted to it; refuses those that go to /no.
        private static let collector = """
            import http.server, json, sys
            class H(http.server.BaseHTTPRequestHandler):
                def do_POST(self):
                    body = self.rfile.read(int(self.headers['Content-Length']))
                    print(self.headers['Content-Type'], json.dumps(json.loads(body)), flush=True)
                    self.send_response(500 if self.path == '/no' else 204)
                    self.end_headers()
                def log_message(self, *a): pass
            s = http.server.HTTPServer(('127.0.0.1', 0), H)
            print(s.server_port, flush=True)
            s.serve_forever()
            """

        private func startCollector() async throws -> (tool: ToolRun, port: String) {
            let tool = try ToolRun(["python3", "-u", "-c", Self.collector])
            let came = try await tool.state.wait { !$0.lines.isEmpty || $0.outputEnded }
            #expect(came)
            return (tool, try #require(tool.state.value.lines.first))
        }

        private func metrics(_ tool: ToolRun) async throws -> [PrometheusText.Sample] {
            let line = try await tool.line(containing: "\"metrics\"")
            let url = try #require(jsonLine(line)?["url"] as? String)
            let program =
                "import sys, urllib.request as r; sys.stdout.write(r.urlopen(sys.argv[1], timeout=20).read().decode())"
            return try PrometheusText.read(try await Oracle.check(["python3", "-c", program, url]).text)
        }

        @Test("O7: both tools tell their figures in every way") func bothToolsTellTheirFiguresInEveryWay() async throws
        {
            let stage = try ToolStage()
            try await stage.pair()
            let collector = try await startCollector()
            func options(_ name: String) throws -> [String] {
                [
                    "--stats", "--stats-csv", stage.file("\(name).csv"), "--report-to",
                    "http://user:secret@127.0.0.1:\(collector.port)/\(name)", "--report-every", "1s",
                    "--metrics=127.0.0.1:\(try LoopbackSocket.freePort())",
                ]
            }
            let producer = try await stage.startPattern(try options("producer"))
            let studio = try await stage.startReceiving(["Camera"] + options("studio"))
            for tool in [producer, studio] {
                let came = try await tool.state.wait {
                    $0.outputEnded || $0.lines.count { $0.contains("\"event\":\"statistics\"") } >= 4
                }
                #expect(came)
            }
            let received = try await metrics(studio)
            let sent = try await metrics(producer)
            #expect(received.allSatisfy { $0.name.hasPrefix("gantry_studio_") })
            #expect(sent.allSatisfy { $0.name.hasPrefix("gantry_producer_") })
            #expect(try #require(received.first { $0.name == "gantry_studio_frames_received_total" }).value > 10)
            let total = received.first { $0.labels == ["stage": "total", "quantile": "0.5"] }
            #expect(0.0001...5 ~= (total?.value ?? 0))
            #expect(try #require(sent.first { $0.name == "gantry_producer_frames_sent_total" }).value > 10)
            let reports = try await collector.tool.state.wait { $0.lines.count >= 5 || $0.outputEnded }
            #expect(reports)
            for tool in [studio, producer] {
                tool.signal(SIGINT)
                let end = try await tool.end()
                #expect(end.status == 0, "\(end.errorText)")
                #expect(end.errorText == "")
            }
            let figures = try #require(studio.state.value.event("statistics"))
            for stage in ["capture", "encode", "ready", "queue", "network", "transit", "decode", "total"] {
                #expect(figures["\(stage)MillisecondsP50"] is NSNumber, "\(stage): \(figures)")
            }
            #expect(figures["clockOffsetMilliseconds"] is NSNumber)
            #expect(figures["qualityStep"] as? Int == 0)
            let own = try #require(producer.state.value.event("statistics"))
            #expect(own["qualityStep"] as? Int == 0)
            for stage in ["capture", "encode", "ready", "queue"] {
                #expect(own["\(stage)MillisecondsP95"] is NSNumber, "\(stage): \(own)")
            }
            try await judgeFiles(stage, collector.tool.state.value.lines.dropFirst())
        }

        private func judgeFiles(_ stage: ToolStage, _ reports: ArraySlice<String>) async throws {
            let program = """
                import csv, sys
                rows = list(csv.DictReader(open(sys.argv[1], newline='')))
                assert len(rows) >= 4 and all(None not in row and None not in row.values() for row in rows)
                times = [float(row['seconds']) for row in rows]
                assert times == sorted(times)
                # What passed in no time is no rate: the last row comes when the tool is ended.
                for before, after in zip(rows, rows[1:]):
                    if float(after['seconds']) - float(before['seconds']) < 0.45:
                        assert after['fps'] == after['videoMegabitsPerSecond'] == after['audioPacketsPerSecond'] == '', after
                print(rows[-1][sys.argv[2]])
                """
            for (name, column) in [("studio", "framesReceived"), ("producer", "framesSent")] {
                let last = try await Oracle.check(["python3", "-c", program, stage.file("\(name).csv"), column])
                #expect(try #require(Int(last.lines.first ?? "")) > 10)
            }
            #expect(reports.allSatisfy { $0.hasPrefix("application/json {") })
            #expect(reports.contains { $0.contains("\"framesSent\"") })
            #expect(reports.contains { $0.contains("\"framesReceived\"") })
        }

        @Test func aServerThatRefusesIsToldOnceAndHoldsNothingUp() async throws {
            let stage = try ToolStage()
            let collector = try await startCollector()
            let refused = try stage.producer([
                "run", "test", "--port", stage.port, "--size", "320x180", "--report-to",
                "http://user:secret@127.0.0.1:\(collector.port)/no", "--report-every", "1s",
            ])
            _ = try await collector.tool.state.wait { $0.lines.count >= 4 || $0.outputEnded }
            refused.signal(SIGINT)
            let end = try await refused.end()
            #expect(end.status == 0)
            #expect(end.errorText.components(separatedBy: "could not be reported").count == 2, "\(end.errorText)")
            #expect(end.errorText.contains("http://127.0.0.1:\(collector.port)"))
            #expect(!end.errorText.contains("secret"))
        }

        @Test func aServerThatNeverAnswersIsNotWaitedForAtTheEnd() async throws {
            let stage = try ToolStage()
            let silent = try ToolRun([
                "python3", "-u", "-c",
                "import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1]); "
                    + "c = s.accept()[0]; print(c.recv(4)); s.accept()",
            ])
            _ = try await silent.state.wait { !$0.lines.isEmpty || $0.outputEnded }
            let port = try #require(silent.state.value.lines.first)
            let producer = try stage.producer([
                "run", "test", "--port", stage.port, "--size", "320x180", "--report-to", "http://127.0.0.1:\(port)/",
                "--report-every", "1s",
            ])
            _ = try await silent.line(containing: "POST")
            producer.signal(SIGINT)
            #expect(try await producer.end().status == 0)
        }

        @Test(arguments: [
            (["--metrics=example.org:1"], "address of this machine"), (["--metrics=nowhere"], "an address and a port"),
            (["--report-to", "file:///etc/passwd"], "https://host"), (["--report-to", "http://:80/"], "https://host"),
            (["--report-every", "5s"], "--report-to"),
            (["--report-to", "http://h/", "--report-every", "0.5s"], "1s at least"),
            (["--stats-csv", "/dev/full"], "no file"),
            (["--stats-csv", "-"], "no file"),
        ])
        func whatCannotBeIsToldAtOnce(arguments: [String], words: String) async throws {
            let stage = try ToolStage()
            let end = try await stage.producer(["run", "test", "--port", stage.port] + arguments, json: false).end()
            expectFailure(end, status: 2, saying: [words])
        }

        @Test("S11: a program sends the statistics of a session to a server, too")
        func theKitReports() async throws {
            let stage = try Stage()
            try await stage.pair()
            let collector = try await startCollector()
            var configuration = StudioSessionConfiguration()
            configuration.wantsVideo = false
            let run = try await stage.connect(configuration)
            let reporter = try StatisticsReporter(url: "http://127.0.0.1:\(collector.port)/", every: .seconds(1))
            try reporter.start(run.session, browser: stage.studio.makeBrowser())
            #expect(throws: GantryError.self) { try reporter.start(run.session) }
            #expect(try await collector.tool.state.wait { $0.lines.count >= 3 || $0.outputEnded })
            let line = try #require(collector.tool.state.value.lines.dropFirst().first)
            #expect(line.hasPrefix("application/json"))
            let report = try #require(jsonLine(String(line.drop { $0 != "{" })))
            #expect(report["framesReceived"] as? Int == 0)
            #expect(report["totalMillisecondsP50"] is NSNull)
            #expect((report["announcements"] as? [Any])?.isEmpty == true)
            #expect(try await onThread { waitUntil { reporter.reportCount >= 2 } })
            #expect(reporter.lastFailure == nil)
            try await onThread { reporter.stop() }

            let refused = try StatisticsReporter(url: "http://127.0.0.1:\(collector.port)/no", every: .seconds(1))
            try refused.start(run.session)
            #expect(try await onThread { waitUntil { refused.lastFailure?.code == .outputFailed } })
            try await onThread { refused.stop() }
            #expect(refused.reportCount == 0)
            #expect(throws: GantryError.self) { try StatisticsReporter(url: "ftp://x") }
            #expect(throws: GantryError.self) { try StatisticsReporter(url: "http://x", every: .milliseconds(10)) }
            #expect(try await run.close() == nil)
            try await stage.stop()
        }
    }
}
