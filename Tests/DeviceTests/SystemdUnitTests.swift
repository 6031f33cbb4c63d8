import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Testing

/// What `scripts/install` puts in place, as a board runs it: systemd starts the producer, and the studio finds it on the cable.
@Suite(.serialized, .enabled(if: CableStage.isHere, CableStage.reason))
struct SystemdUnitTests {
    private static let units = ["gantry-gadget", "gantry-gadget-bind", "gantry-producer"]
    private static let gadget = "/sys/kernel/config/usb_gadget/gantry"

    @Test(.timeLimit(.minutes(15))) func theUnitsSendOverTheCable() async throws {
        let stage = try CableStage()
        try await install()
        let manager = try await ServiceManager()
        let enabled = try await manager.systemctl(["enable"] + Self.units)
        #expect(enabled.status == 0, "\(enabled.errors)")
        // Type=notify: this returns when the producer says that it is ready.
        let started = try await manager.systemctl(["start", "gantry-producer"])
        for unit in Self.units {
            let (state, journal) = try await (manager.show(unit, "ActiveState"), manager.journal(unit))
            #expect(state == "active", "\(unit): \(started.errors) \(journal)")
        }
        #expect(try await manager.show("gantry-producer", "User") == "gantry")
        try await takesAStudio(stage)
        #expect(try await manager.show("gantry-producer", "StatusText").contains("USB"))

        // A producer that dies is started again, and put on the controller again.
        let killed = try await manager.systemctl(["kill", "-s", "KILL", "gantry-producer"])
        #expect(killed.status == 0, "\(killed.errors)")
        _ = try await ServiceManager.wait("it was not started again") {
            let (restarts, state) = try await (
                manager.show("gantry-producer", "NRestarts"), manager.show("gantry-producer", "ActiveState")
            )
            return restarts == "1" && state == "active" ? true : nil
        }
        try await takesAStudio(stage)

        // Away with all of it.
        _ = try await manager.systemctl(["stop", "gantry-producer", "gantry-gadget"])
        #expect(try await manager.show("gantry-gadget-bind", "ActiveState") == "inactive")
        #expect(try await manager.show("gantry-producer", "Result") == "success")
        #expect(!FileManager.default.fileExists(atPath: Self.gadget))
    }

    private func takesAStudio(_ stage: CableStage) async throws {
        _ = try await ServiceManager.wait("the gadget was not bound") {
            let bound = try? String(contentsOfFile: Self.gadget + "/UDC", encoding: .utf8)
            return bound?.hasPrefix("dummy_udc") == true ? true : nil
        }
        let received = try await stage.run("studio", ["receive", "usb", "-d", "300ms"])
        #expect(received.contains { $0["event"] as? String == "format" }, "\(received)")
    }

    private func install() async throws {
        for tool in ["gantry-producer", "gantry-studio"] {
            _ = try await Oracle.check(["install", "-D", ToolRun.folder + "/" + tool, "/usr/local/bin/" + tool])
        }
        _ = try await Oracle.check([CoreVectors.repository.path + "/scripts/install", "--udev-only"])
        try Data("GANTRY_ARGUMENTS=test --size 160x120 --fps 10 --audio off --usb-trust tofu\n".utf8).write(
            to: URL(fileURLWithPath: "/etc/default/gantry-producer"))
        // There are two here.
        try Data("GANTRY_USB_CONTROLLER=dummy_udc.0\n".utf8).write(
            to: URL(fileURLWithPath: "/etc/default/gantry-gadget"))
    }
}
