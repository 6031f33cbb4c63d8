import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Glibc
import Testing

extension EndToEnd {
    /// Priority where the kernel gives none to the user, but RealtimeKit does: the real service on a system bus of its own.
    @Suite(.enabled(if: geteuid() == 0, "needs root, to start RealtimeKit"))
    struct ToolRealtimeKitTests {
        /// A message bus that starts RealtimeKit and PolicyKit when they are asked for, as that of the system does.
        private final class Bus {
            let address: String
            private let daemon: ToolRun

            init(_ folder: TestFolder) async throws {
                address = "unix:path=" + folder.file("bus.socket")
                try """
                <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
                 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
                <busconfig>
                  <listen>\(address)</listen>
                  <auth>EXTERNAL</auth>
                  <standard_system_servicedirs/>
                  <policy context="default">
                    <allow user="*"/> <allow own="*"/>
                    <allow send_destination="*"/> <allow receive_sender="*"/>
                  </policy>
                </busconfig>
                """.write(toFile: folder.file("bus.conf"), atomically: true, encoding: .utf8)
                // What it starts looks for it at the usual address of a system bus.
                daemon = try ToolRun([
                    "DBUS_SYSTEM_BUS_ADDRESS=\(address)", "dbus-daemon", "--config-file=" + folder.file("bus.conf"),
                    "--nofork", "--nopidfile", "--print-address",
                ])
                try await daemon.line(containing: "unix:path=")
            }

            /// What it has started ends with it.
            func end() async throws {
                daemon.signal(SIGTERM)
                _ = try await daemon.end()
            }
        }

        /// A tool that may not raise its threads, in front of a system bus.
        private static func start(
            _ tool: String, _ stage: ToolStage, bus address: String, _ arguments: [String]
        ) throws -> ToolRun {
            try ToolRun(
                [
                    "DBUS_SYSTEM_BUS_ADDRESS=\(address)", "setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice",
                    "prlimit", "--rtprio=0:0", "--nice=0:0", "\(ToolRun.folder)/gantry-\(tool)", "--state-dir",
                    stage.file(tool), "--json",
                ] + arguments)
        }

        private static func runPattern(_ stage: ToolStage, bus address: String) throws -> ToolRun {
            try start("producer", stage, bus: address, ["run", "test", "--port", stage.port, "--size", "320x180"])
        }

        @Test func itGivesWhatTheKernelRefuses() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let bus = try await Bus(stage.folder)
            let producer = try Self.runPattern(stage, bus: bus.address)
            try await producer.line(containing: "\"started\"")
            let studio = try Self.start("studio", stage, bus: bus.address, ["receive", "127.0.0.1:\(stage.port)"])
            try await studio.line(containing: "\"firstFrame\"")
            try await ThreadPolicy.expectUrgencies(stage, producer, studio)
            let insisting = try Self.start(
                "producer", stage, bus: bus.address,
                ["run", "test", "--port", stage.port, "--priority", "realtime", "--duration", "100ms"])
            #expect(try await insisting.end().status == 0)
            try await bus.end()
        }

        /// The service goes while the tool runs, and takes back what it gave: those threads go on, and those that start later.
        @Test func withoutItTheToolGoesOn() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let bus = try await Bus(stage.folder)
            let producer = try Self.runPattern(stage, bus: bus.address)
            try await producer.line(containing: "\"started\"")
            try await bus.end()
            let studio = try await stage.startReceiving(["127.0.0.1:\(stage.port)", "--duration", "1s"])
            #expect(try await studio.end().status == 0)
            producer.signal(SIGTERM)
            #expect(try await producer.end().status == 0)
        }

        /// libdbus waits for an answer for 25 seconds.
        @Test func aBusThatSaysNothingHoldsNobodyUp() async throws {
            let stage = try ToolStage()
            let silent = try ToolRun([
                "python3", "-c",
                "import socket, sys, time; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); "
                    + "print('listens', flush=True); time.sleep(600)",
                stage.file("bus.socket"),
            ])
            try await silent.line(containing: "listens")
            let producer = try Self.runPattern(stage, bus: "unix:path=" + stage.file("bus.socket"))
            let isStarted = try await producer.state.wait(.seconds(15)) {
                $0.event("started") != nil || $0.outputEnded
            }
            #expect(isStarted, "\(producer.state.value.errorText)")
            let status = try await stage.producer(["status"]).end()
            #expect(status.event("status")?["priority"] as? String == "normal")
            producer.signal(SIGTERM)
            #expect(try await producer.end().status == 0)
            silent.signal(SIGKILL)
        }
    }
}
