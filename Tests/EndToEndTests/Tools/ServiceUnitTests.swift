import Foundation
import GantryTestSupport
import Testing

/// The units, as systemd judges them. That they start: `SystemdUnitTests`, in the virtual machine.
@Suite struct ServiceUnitTests {
    private static let folder = CoreVectors.repository.appending(path: "udev")

    /// In tenths, the most that `systemd-analyze security` may find. docs/service.md has the figures.
    @Test(arguments: [
        ("gantry-camera.service", 20), ("gantry-producer.service", 20), ("gantry-gadget.service", 47),
    ]) func exposure(unit: String, most: Int) async throws {
        let judged = try await Oracle.run([
            "systemd-analyze", "security", "--offline=true", "--threshold=\(most)",
            Self.folder.appending(path: unit).path,
        ])
        #expect(judged.status == 0, "\(judged.text)\(judged.errors)")
    }

    /// Nothing in them that systemd does not know, and programs that are there.
    @Test func areWhole() async throws {
        let work = try TestFolder()
        defer { withExtendedLifetime(work) {} }
        for (manager, source) in [("--system", Self.folder), ("--user", Self.folder.appending(path: "user"))] {
            let names = try FileManager.default.contentsOfDirectory(atPath: source.path)
                .filter { $0.hasSuffix(".service") }
            #expect(names.count >= 2)
            let copies = URL(fileURLWithPath: work.file(manager))
            try FileManager.default.createDirectory(at: copies, withIntermediateDirectories: true)
            var paths: [String] = []
            for name in names {
                let text = try String(contentsOf: source.appending(path: name), encoding: .utf8)
                    .replacing("/usr/local/bin", with: ToolRun.folder)
                    .replacing("/usr/local/libexec/gantry", with: Self.folder.path)
                let copy = copies.appending(path: name.replacing("@.", with: "@Stage.")).path
                try Data(text.utf8).write(to: URL(fileURLWithPath: copy))
                paths.append(copy)
            }
            let judged = try await Oracle.run(
                ["env", "XDG_RUNTIME_DIR=\(work.path)", "systemd-analyze", manager, "verify", "--man=no"] + paths)
            #expect(judged.status == 0 && judged.errors.isEmpty, "\(judged.errors)")
        }
    }
}
