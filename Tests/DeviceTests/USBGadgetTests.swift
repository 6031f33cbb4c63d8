import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import GantryTransport
import Testing

/// The gadget on a real kernel: dummy_hcd is a device controller and a host in one machine. See `scripts/vm --tests`.
@Suite(
    .serialized,
    .enabled(
        if: ProcessInfo.processInfo.environment["GANTRY_VM"] == "1",
        "needs a device controller: run it in a virtual machine with scripts/vm --tests"))
struct USBGadgetTests {
    private static let gadgets = "/sys/kernel/config/usb_gadget"
    private static let script = CoreVectors.repository.appending(path: "udev/gantry-gadget").path

    /// A name of its own for each test, so that none stumbles over what another left.
    private func configuration(_ name: String, controller: String = "dummy_udc.0") -> GadgetConfiguration {
        var configuration = GadgetConfiguration(serial: "T-\(name)")
        configuration.gadget = name
        configuration.function = name
        configuration.controller = controller
        configuration.mountPoint = "/run/gantry-test/\(name)"
        return configuration
    }

    /// The least that FunctionFS takes: an interface FF/43/01 with two bulk endpoints at full and high speed, and its
    /// string (linux/usb/functionfs.h). Bound as long as the object lives.
    private final class Descriptors {
        let descriptor: FileDescriptor

        init(_ mountPoint: String) throws {
            descriptor = FileDescriptor(
                takingOwnership: try syscall("open ep0") { open(mountPoint + "/ep0", O_RDWR | O_CLOEXEC) })
            let interface: [UInt8] = [9, 4, 0, 0, 2, 0xff, 0x43, 0x01, 1]
            let speeds = [64, 512].map { (size: Int) -> [UInt8] in
                let size = [UInt8(size & 0xff), UInt8(size >> 8)]
                return interface + [7, 5, 0x81, 2] + size + [0] + [7, 5, 0x02, 2] + size + [0]
            }
            let body = Self.words(3, 3) + speeds[0] + speeds[1]
            try write(Self.words(3, UInt32(12 + body.count), 1 | 2) + body)
            let text = [0x09, 0x04] + Array("gantry/1".utf8) + [0]
            try write(Self.words(2, UInt32(16 + text.count), 1, 1) + text)
        }

        private static func words(_ numbers: UInt32...) -> [UInt8] {
            numbers.flatMap { number in (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }
        }

        private func write(_ bytes: [UInt8]) throws {
            #expect(try bytes.withUnsafeBytes { try descriptor.write($0) } == .bytes(bytes.count))
        }
    }

    /// The host's view: the folder in sysfs of the device with this serial number.
    private func device(_ serial: String) -> String? {
        let devices = "/sys/bus/usb/devices"
        return ((try? FileManager.default.contentsOfDirectory(atPath: devices)) ?? [])
            .map { "\(devices)/\($0)" }.first { text($0 + "/serial") == serial }
    }

    private func text(_ path: String) -> String? {
        (try? String(contentsOfFile: path, encoding: .utf8))?.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Looks until it is so: sysfs tells nobody.
    private func until(_ limit: MediaDuration = patience, _ isSo: @escaping @Sendable () -> Bool) async throws -> Bool {
        try await onThread {
            let deadline = MonotonicClock.now() + limit
            while !isSo() {
                if MonotonicClock.now() > deadline { return false }
                MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(20))
            }
            return true
        }
    }

    /// A gadget of somebody else, by the tools of a shell.
    private func shell(_ commands: String) async throws -> ToolRun.State {
        try await ToolRun.run(["bash", "-c", "cd \(Self.gadgets) && " + commands])
    }

    private func makeTheirs(_ name: String, function: String) async throws {
        let run = try await shell(
            """
            mkdir -p \(name)/strings/0x409 \(name)/configs/c.1 && mkdir \(name)/functions/\(function) &&
            echo 0x1d6b >\(name)/idVendor && echo 0x0104 >\(name)/idProduct &&
            echo T-\(name) >\(name)/strings/0x409/serialnumber &&
            ln -s \(name)/functions/\(function) \(name)/configs/c.1/
            """)
        #expect(run.status == 0, "\(run.errorText)")
    }

    private func removeTheirs(_ name: String) async throws {
        let run = try await shell(
            """
            { echo >\(name)/UDC; rm \(name)/configs/c.1/*.*; } 2>/dev/null
            rmdir \(name)/functions/* \(name)/configs/c.1 \(name)/strings/0x409 \(name)
            """)
        #expect(run.status == 0, "\(run.errorText)")
    }

    // MARK: Tests

    @Test(.timeLimit(.minutes(5))) func theHostSeesTheDevice() async throws {
        let setup = GadgetSetup(configuration("seen"))
        let prepared = try setup.prepare()
        #expect(prepared.origin == .made)
        #expect(throws: GantryError.self) { try setup.bind() }
        var producer: Descriptors? = try Descriptors(prepared.mountPoint)
        let controller = try setup.bind()
        #expect(controller.user == .gadget("seen"))
        #expect(try await until { self.device("T-seen").flatMap { self.text($0 + "/bConfigurationValue") } == "1" })
        let device = try #require(self.device("T-seen"))
        #expect(text(device + "/idVendor") == "1209")
        #expect(text(device + "/idProduct") == "0001")
        #expect(text(device + "/product") == "Gantry producer")
        #expect(text(device + "/manufacturer") == "Gantry")
        let interface = device + "/" + (device as NSString).lastPathComponent + ":1.0"
        #expect(text(interface + "/bInterfaceClass") == "ff")
        #expect(text(interface + "/bInterfaceSubClass") == "43")
        #expect(text(interface + "/interface") == "gantry/1")
        let listed = try await ToolRun.run(["lsusb", "-d", "1209:0001"])
        #expect(listed.lines.count == 1, "\(listed.lines)")

        try setup.unbind()
        #expect(try await until { self.device("T-seen") == nil })
        try setup.bind()
        #expect(try await until { self.device("T-seen") != nil })
        // The producer ends: the kernel takes the gadget off, and the next one is put on again.
        producer = nil
        #expect(try await until { self.text(Self.gadgets + "/seen/UDC") == "" })
        producer = try Descriptors(prepared.mountPoint)
        try setup.bind()
        #expect(try await until { self.device("T-seen") != nil })
        // In the wrong order, too: the files are still open.
        try setup.remove()
        withExtendedLifetime(producer) {}
        producer = nil
        #expect(!FileManager.default.fileExists(atPath: Self.gadgets + "/seen"))
        #expect(!FunctionFSMount.all().contains { $0.function == "seen" })
        #expect(try await until { self.device("T-seen") == nil })
        let again = GadgetSetup(configuration("seen"))
        #expect(try again.prepare().origin == .made)
        try again.remove()
    }

    @Test(.timeLimit(.minutes(5))) func aTakenControllerIsRefusedByName() async throws {
        try await makeTheirs("theirs", function: "ncm.usb9")
        #expect(try await shell("echo dummy_udc.0 >theirs/UDC").status == 0)
        let error = #expect(throws: GantryError.self) { try GadgetSetup(configuration("refused")).prepare() }
        #expect(error?.code == .usbControllerTaken)
        #expect(error?.message.contains("\"theirs\"") == true, "\(String(describing: error))")
        #expect(!FileManager.default.fileExists(atPath: Self.gadgets + "/refused"))
        // The other controller is free, and the only one.
        var free = configuration("other")
        free.controller = nil
        let setup = GadgetSetup(free)
        let prepared = try setup.prepare()
        let producer = try Descriptors(prepared.mountPoint)
        #expect(try setup.bind().name == "dummy_udc.1")
        withExtendedLifetime(producer) {}
        try setup.remove()
        #expect(text(Self.gadgets + "/theirs/UDC") == "dummy_udc.0", "left alone")
        try await removeTheirs("theirs")
    }

    @Test(.timeLimit(.minutes(5))) func twoFreeControllersAreAChoice() throws {
        var configuration = configuration("choice")
        configuration.controller = nil
        let error = #expect(throws: GantryError.self) { try GadgetSetup(configuration).prepare() }
        #expect(error?.code == .usbNoController)
        #expect(error?.message.contains("dummy_udc.1") == true)
    }

    @Test(.timeLimit(.minutes(5))) func anotherFunctionStaysBesideOurs() async throws {
        try await makeTheirs("beside", function: "ncm.usb8")
        let setup = GadgetSetup(configuration("beside"))
        let prepared = try setup.prepare()
        let producer = try Descriptors(prepared.mountPoint)
        try setup.bind()
        #expect(try await until { self.device("T-beside").flatMap { self.text($0 + "/bNumInterfaces") } == "3" })
        #expect(text(try #require(self.device("T-beside")) + "/idVendor") == "1d6b", "their ids")
        withExtendedLifetime(producer) {}
        try setup.remove()
        #expect(try await until { self.device("T-beside").flatMap { self.text($0 + "/bNumInterfaces") } == "2" })
        #expect(text(Self.gadgets + "/beside/UDC") == "dummy_udc.0")
        try await removeTheirs("beside")
    }

    @Test(.timeLimit(.minutes(5))) func aGadgetWithOurFunctionIsAdopted() async throws {
        try await makeTheirs("board", function: "ffs.adopted")
        let setup = GadgetSetup(configuration("adopted"))
        let prepared = try setup.prepare()
        #expect(prepared.origin == .adopted)
        #expect(prepared.gadget == "board")
        let producer = try Descriptors(prepared.mountPoint)
        try setup.bind()
        #expect(try await until { self.device("T-board") != nil })
        withExtendedLifetime(producer) {}
        try setup.remove()
        #expect(FileManager.default.fileExists(atPath: Self.gadgets + "/board/configs/c.1/ffs.adopted"))
        try await removeTheirs("board")
    }

    /// Of a process that was killed, everything is still there; of one that runs, nothing is touched.
    @Test(.timeLimit(.minutes(5))) func leftoversAreTakenOver() async throws {
        var crashed: GadgetSetup? = GadgetSetup(configuration("left"))
        let prepared = try #require(try crashed?.prepare())
        let busy = #expect(throws: GantryError.self) { try GadgetSetup(configuration("left")).prepare() }
        #expect(busy?.code == .usbGadgetInUse)
        var producer: Descriptors? = try Descriptors(prepared.mountPoint)
        try crashed?.bind()
        // Without `remove`, as a crash does it.
        crashed = nil
        let bound = #expect(throws: GantryError.self) { try GadgetSetup(configuration("left")).prepare() }
        #expect(bound?.code == .usbGadgetInUse, "its ep0 is open")
        #expect(text(Self.gadgets + "/left/UDC") == "dummy_udc.0")
        producer = nil
        let next = GadgetSetup(configuration("left"))
        #expect(try next.prepare().origin == .takenOver)
        producer = try Descriptors(prepared.mountPoint)
        try next.bind()
        #expect(try await until { self.device("T-left") != nil })
        withExtendedLifetime(producer) {}
        producer = nil
        try next.remove()
        #expect(!FileManager.default.fileExists(atPath: Self.gadgets + "/left"))
    }

    @Test(.timeLimit(.minutes(5))) func withoutRootItSaysWhatToRun() async throws {
        let run = try await ToolRun.run([
            "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", Self.script, "start",
        ])
        #expect(run.status == 10)
        #expect(run.errorText.contains("sudo gantry-gadget start"))
    }

    // MARK: The script for the start of the machine

    @Test(.timeLimit(.minutes(5))) func theScriptDoesTheSame() async throws {
        func script(_ command: String, controller: String = "dummy_udc.0") async throws -> ToolRun.State {
            try await ToolRun.run([
                "env", "GANTRY_USB_CONTROLLER=\(controller)", "GANTRY_USB_OWNER=nobody", "GANTRY_USB_SERIAL=T-boot",
                Self.script, command,
            ])
        }
        var run = try await script("start")
        #expect(run.status == 0, "\(run.errorText)")
        run = try await script("start")
        #expect(run.status == 0, "a second time nothing is wrong: \(run.errorText)")
        let mount = try #require(FunctionFSMount.all().first { $0.function == "gantry" })
        #expect(mount.path == "/dev/usb-ffs/gantry")
        let attributes = try FileManager.default.attributesOfItem(atPath: mount.path + "/ep0")
        #expect(attributes[.ownerAccountName] as? String == "nobody")
        run = try await script("bind")
        #expect(run.status == 10 && run.errorText.contains("no producer has opened"), "\(run.errorText)")

        // It binds when a producer comes, and when the next one comes.
        let watch = try ToolRun([
            "env", "GANTRY_USB_CONTROLLER=dummy_udc.0", Self.script, "watch",
        ])
        for _ in 0..<2 {
            let producer = try Descriptors(mount.path)
            #expect(try await until { self.device("T-boot") != nil })
            withExtendedLifetime(producer) {}
        }
        #expect(try await until { self.text(Self.gadgets + "/gantry/UDC") == "" })
        watch.signal(SIGTERM)
        _ = try await watch.end()

        // The library finds it, too, and takes away what the script made.
        run = try await script("status")
        #expect(run.lines.contains("FunctionFS /dev/usb-ffs/gantry: no producer"), "\(run.lines)")
        run = try await script("stop")
        #expect(run.status == 0, "\(run.errorText)")
        #expect(!FileManager.default.fileExists(atPath: Self.gadgets + "/gantry"))
        #expect(!FunctionFSMount.all().contains { $0.function == "gantry" })
        #expect(try await script("stop").status == 0)
    }

    // MARK: udev

    /// Who sits at the machine, by a seat file of logind's; who is in plugdev, by the mode.
    @Test(.timeLimit(.minutes(5))) func theRulesLetTheUserIn() async throws {
        let rules = CoreVectors.repository.appending(path: "udev/70-gantry.rules").path
        let install = try await ToolRun.run([
            "bash", "-c",
            """
            mkdir -p /run/udev/rules.d /run/systemd/seats && cp \(rules) /run/udev/rules.d/ &&
            { getent group plugdev || groupadd plugdev; } >/dev/null &&
            printf 'IS_ACTIVE=1\\nACTIVE=c1\\nACTIVE_UID=1000\\n' >/run/systemd/seats/seat0 &&
            udevadm control --reload
            """,
        ])
        #expect(install.status == 0, "\(install.errorText)")
        let setup = GadgetSetup(configuration("rules"))
        let prepared = try setup.prepare()
        let producer = try Descriptors(prepared.mountPoint)
        try setup.bind()
        #expect(try await until { self.device("T-rules").flatMap { self.text($0 + "/bConfigurationValue") } == "1" })
        let device = try #require(self.device("T-rules"))
        _ = try await ToolRun.run(["udevadm", "settle", "-t", "60"])
        let number = { (name: String) in
            let digits = self.text("\(device)/\(name)") ?? ""
            return String(repeating: "0", count: max(3 - digits.count, 0)) + digits
        }
        let node = "/dev/bus/usb/\(number("busnum"))/\(number("devnum"))"
        let access = try await ToolRun.run(["getfacl", "--absolute-names", "--numeric", node])
        #expect(access.lines.contains("user:1000:rw-"), "\(access.lines) \(access.errorText)")
        let owner = try await ToolRun.run(["stat", "-c", "%G %a", node])
        #expect(owner.lines == ["plugdev 660"])
        let tags = try await ToolRun.run(["udevadm", "info", "--query=property", "--property=CURRENT_TAGS", node])
        #expect(tags.lines.first?.contains(":uaccess:") == true, "\(tags.lines)")
        // Only ours: the root hub has other interfaces.
        let hub = try await ToolRun.run(["getfacl", "--absolute-names", "--numeric", "/dev/bus/usb/001/001"])
        #expect(!hub.lines.contains("user:1000:rw-"), "\(hub.lines)")
        withExtendedLifetime(producer) {}
        try setup.remove()
        try FileManager.default.removeItem(atPath: "/run/udev/rules.d/70-gantry.rules")
        try FileManager.default.removeItem(atPath: "/run/systemd/seats/seat0")
        _ = try await ToolRun.run(["udevadm", "control", "--reload"])
    }
}
