import Foundation
import GantryTestSupport
import Testing

extension LabTests {
    /// The real tools on networks in good order.
    @Suite struct PairingLabTests {
        @Test("C5, C6: pairing by _camopairing._tcp alone") func pairingByTheNetworkAlone() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let (camera, desk) = (LabTool.producer(lab, 1), LabTool.studio(lab, 2))
                let paired = try await pair(camera, desk, .mdns)
                #expect(paired["name"] as? String == "Camera")
                // Nobody sends yet.
                #expect(paired["connected"] as? Bool == false)
                let running = try await camera.send()
                try await desk.receive(["Camera"]).stop()
                // A running producer pairs by itself, and the studio looks at once whether it can connect.
                let second = try await pair(camera, LabTool.studio(lab, 2, "Second"), .mdns)
                #expect(second["connected"] as? Bool == true)
                #expect(try await camera.devices() == ["Desk paired", "Second paired"])
                try await running.stop()
            }
        }

        @Test func pairingByTheAddressAlone() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                for host in 1...2 { try await lab.control(["firewall", "\(host)", "on"]) }
                let (camera, desk) = (LabTool.producer(lab, 1), LabTool.studio(lab, 2))
                let running = try await camera.send(until: "started")
                let paired = try await pair(camera, desk)
                #expect(paired["address"] as? String == "10.77.0.1:7787")
                #expect(paired["connected"] as? Bool == true)
                let receiving = try await desk.receive(["Camera"])
                #expect(receiving.state.value.event("connected")?["address"] as? String == "10.77.0.1:7787")
                try await receiving.stop()
                try await desk.expectList(["Camera away paired"])
                try await running.stop()
            }
        }

        @Test(arguments: [false, true])
        func pairingWithIPv6Alone(linkLocalOnly: Bool) async throws {
            try await Lab.with(hosts: 2) { lab in
                for host in 1...2 {
                    let address = linkLocalOnly ? [] : ["fd77::\(host)/64"]
                    try await lab.control(["addr", "\(host)", "eth0", "set"] + address)
                    try await lab.control(["mdns", "up", "\(host)"])
                }
                let (camera, desk) = (LabTool.producer(lab, 1), LabTool.studio(lab, 2))
                let running = try await camera.send()
                let expected = linkLocalOnly ? "[fe80::77:ff:fe00:1%eth0]:7787" : "[fd77::1]:7787"
                for way in [PairingWay.mdns, .asShown] {
                    // The second time only the address is left.
                    if way == .asShown { for host in 1...2 { try await lab.control(["firewall", "\(host)", "on"]) } }
                    let paired = try await pair(camera, desk, way)
                    #expect(paired["address"] as? String == expected)
                    #expect(paired["connected"] as? Bool == true)
                    try await desk.receive(["Camera"]).stop()
                }
                #expect(try await desk.devices() == ["Camera paired"])
                try await running.stop()
            }
        }

        /// The code names an address of one network; only the other one leads there.
        @Test func anotherNetworkThanTheCodeNames() async throws {
            try await Lab.with(hosts: 2, networks: 2, mdns: [1, 2]) { lab in
                try await lab.control(["link", "1", "eth0", "down"])
                let (camera, desk) = (LabTool.producer(lab, 1), LabTool.studio(lab, 2))
                let running = try await camera.send()
                let paired = try await pair(camera, desk, window: ["--address", "10.77.0.2"])
                #expect(paired["connected"] as? Bool == true)
                let receiving = try await desk.receive(["Camera"])
                let address = receiving.state.value.event("connected")?["address"] as? String
                #expect(address == "10.78.0.1:7787" || address == "[fd78::1]:7787")
                try await receiving.stop()
                // Now the other way round.
                try await lab.control(["link", "1", "eth0", "up"])
                try await lab.control(["link", "1", "eth1", "down"])
                let back = try await desk.receive(["Camera"])
                let other = back.state.value.event("connected")?["address"] as? String
                #expect(other == "10.77.0.1:7787" || other == "[fd77::1]:7787")
                try await back.stop()
                try await running.stop()
            }
        }

        @Test func twoStudiosAndTwoProducers() async throws {
            try await Lab.with(hosts: 4, mdns: [1, 2, 3, 4]) { lab in
                let cameras = [LabTool.producer(lab, 1, "Left"), LabTool.producer(lab, 2, "Right")]
                let studios = [LabTool.studio(lab, 3, "Desk"), LabTool.studio(lab, 4, "Attic")]
                var running: [ToolRun] = []
                for camera in cameras { running.append(try await camera.send()) }
                try await studios[0].expectList(["Left free stranger", "Right free stranger"])
                for (camera, studio) in [(0, 0), (1, 1), (0, 1), (1, 0)] {
                    try await pair(cameras[camera], studios[studio], camera == studio ? .mdns : .asShown)
                }
                for camera in cameras { #expect(try await camera.devices() == ["Attic paired", "Desk paired"]) }
                for studio in studios { #expect(try await studio.devices() == ["Left paired", "Right paired"]) }

                // Both receive one at the same time, then one of them the other as well.
                let first = try await studios[0].receive(["Left"])
                let second = try await studios[1].receive(["Left"])
                try await studios[1].expectList(["Left active paired", "Right free paired"])
                let third = try await studios[1].receive(["Right"])
                try await cameras[1].check(["pause"])
                try await third.event("paused")
                try await studios[0].expectList(["Left active paired", "Right paused paired"])
                try await cameras[1].check(["resume"])
                for studio in [first, second, third] {
                    let end = try await studio.stop()
                    #expect(end.event("summary")?["framesReceived"] as? Int ?? 0 > 0)
                }
                try await studios[0].expectList(["Left free paired", "Right free paired"])
                for producer in running { try await producer.stop() }
                try await studios[0].expectList(["Left away paired", "Right away paired"])
            }
        }

        @Test func aProducerWithoutRoomSaysSo() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let (camera, desk) = (LabTool.producer(lab, 1), LabTool.studio(lab, 2))
                let running = try await camera.send()
                try await pair(camera, desk)
                var studios: [ToolRun] = []
                for _ in 0..<16 {
                    let studio = try desk.start(["receive", "Camera", "--no-video"])
                    try await studio.event("connected")
                    studios.append(studio)
                }
                try await desk.expectList(["Camera full paired"])
                let refused = try await desk.run(["receive", "Camera"], json: false)
                #expect(refused.status == 5, "\(refused.errorText)")
                for studio in studios { studio.signal(SIGINT) }
                for studio in studios { #expect(try await studio.end().status == 0) }
                try await desk.receive(["Camera"]).stop()
                try await running.stop()
            }
        }

        // MARK: receive --pair

        @Test func receivingWithACodePairsAndReceives() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let (camera, desk) = (LabTool.producer(lab, 1), LabTool.studio(lab, 2))
                let running = try await camera.send()
                let (code, receiving) = try await desk.showCode(["receive", "--pair"])
                try await camera.check(["pair", "-"], input: .text(PairingWay.mdns.code(code)))
                try await receiving.line(containing: "\"firstFrame\"")
                try await receiving.stop()
                // Now it is paired and here: nobody has to scan anything.
                let at = ContinuousClock.now
                let again = try await desk.receive(["--pair", "--text"])
                #expect(again.state.value.event("connected")?["name"] as? String == "Camera")
                #expect(ContinuousClock.now - at < .seconds(10))
                try await again.stop()
                #expect(try await desk.devices() == ["Camera paired"])
                #expect(try await camera.devices() == ["Desk paired"])
                try await running.stop()
            }
        }
    }
}
