import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Testing

@testable import GantryTransport

@Suite struct GadgetConfigurationTests {
    @Test func idsAreReadAsLsusbShowsThem() throws {
        #expect(try USBIdentifiers("1209:0001") == .development)
        #expect(try USBIdentifiers("AbCd:00ff") == USBIdentifiers(vendor: 0xabcd, product: 0xff))
        #expect(USBIdentifiers.hexadecimal(0x0001) == "0x0001")
        #expect(USBIdentifiers.hexadecimal(0xabcd) == "0xabcd")
    }

    @Test(arguments: [
        "", ":", "1209", "1209:1", "1209:0001:", "12090:0001", "+209:0001", "1209:-001", "12g9:0001", "0x1209:0x0001",
    ])
    func otherTextIsNoIds(text: String) {
        let error = #expect(throws: GantryError.self) { try USBIdentifiers(text) }
        #expect(error?.code == .invalidArgument)
    }

    @Test func onlyTheIdsForDevelopmentAreWarnedOf() {
        var configuration = GadgetConfiguration(serial: "A")
        #expect(configuration.warning?.contains("development only") == true)
        configuration.identifiers = USBIdentifiers(vendor: 0x1234, product: 1)
        #expect(configuration.warning == nil)
    }

    /// A name must not lead to another folder, a string must be one that the kernel takes.
    @Test func namesAndStringsAreChecked() throws {
        try GadgetConfiguration(serial: "A").check()
        let changes: [(inout GadgetConfiguration) -> Void] = [
            { $0.gadget = "" }, { $0.gadget = ".." }, { $0.gadget = "../../etc" }, { $0.gadget = "a/b" },
            { $0.gadget = String(repeating: "a", count: 41) }, { $0.function = "a b" }, { $0.function = ".hidden" },
            { $0.controller = "" }, { $0.controller = "a\nb" }, { $0.controller = "../x" }, { $0.serial = "" },
            { $0.serial = "a\nb" }, { $0.product = "Käse" }, { $0.manufacturer = String(repeating: "a", count: 127) },
            { $0.mountPoint = "here" }, { $0.mountPoint = "" }, { $0.mountPoint = "/a\0b" },
        ]
        for (number, change) in changes.enumerated() {
            var configuration = GadgetConfiguration(serial: "A")
            change(&configuration)
            let error = #expect(throws: GantryError.self, "change \(number)") { try configuration.check() }
            #expect(error?.code == .invalidArgument)
        }
    }

    @Test func mountsAreRead() {
        let text = """
            proc /proc proc rw,nosuid 0 0
            gantry /dev/usb-ffs/gantry functionfs rw,relatime 0 0
            adb /with\\040space\\134x functionfs rw 0 0
            functionfs /other tmpfs rw 0 0
            broken functionfs
            odd /end\\04 functionfs rw 0 0

            """
        #expect(
            FunctionFSMount.parse(text) == [
                FunctionFSMount(function: "gantry", path: "/dev/usb-ffs/gantry"),
                FunctionFSMount(function: "adb", path: "/with space\\x"),
                FunctionFSMount(function: "odd", path: "/end\\04"),
            ])
        #expect(FunctionFSMount.parse("").isEmpty)
    }

    // MARK: On plain folders

    /// The real files, but nothing is mounted.
    private struct PlainFiles: GadgetFiles {
        let kernel = KernelGadgetFiles()
        func exists(_ path: String) -> Bool { kernel.exists(path) }
        func entries(_ path: String) -> [String] { kernel.entries(path) }
        func read(_ path: String) throws(SystemError) -> String { try kernel.read(path) }
        func write(_ text: String, to path: String) throws(SystemError) { try kernel.write(text, to: path) }
        func makeFolder(_ path: String) throws(SystemError) { try kernel.makeFolder(path) }
        func removeFolder(_ path: String) throws(SystemError) { try kernel.removeFolder(path) }
        func makeLink(_ path: String, to target: String) throws(SystemError) {
            try kernel.makeLink(path, to: target)
        }
        func removeLink(_ path: String) throws(SystemError) { try kernel.removeLink(path) }
        func mount(_ mount: FunctionFSMount, owner: GadgetOwner) throws(SystemError) {
            try kernel.write("", to: mount.path + "/ep0")
        }
        func unmount(_ path: String, evenIfBusy: Bool) throws(SystemError) {}
        func mounts() -> [FunctionFSMount] { [] }
        func loadModule(_ name: String) throws(SystemError) {}
        func lock(_ path: String) throws(SystemError) -> FileDescriptor { try kernel.lock(path) }
    }

    private func configuration(_ folder: TestFolder) throws -> GadgetConfiguration {
        for path in ["gadgets", "udc/udc.0"] {
            try FileManager.default.createDirectory(
                atPath: folder.file(path), withIntermediateDirectories: true)
        }
        var configuration = GadgetConfiguration(serial: "ABCD2345")
        configuration.gadgetsFolder = folder.file("gadgets")
        configuration.controllersFolder = folder.file("udc")
        configuration.mountPoint = folder.file("mounts/gantry")
        return configuration
    }

    @Test func theFilesAreWritten() throws {
        let folder = try TestFolder()
        let setup = GadgetSetup(try configuration(folder), files: PlainFiles())
        let prepared = try setup.prepare()
        #expect(prepared.mountPoint == folder.file("mounts/gantry"))
        let root = folder.file("gadgets/gantry")
        let text = { (path: String) in try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8) }
        #expect(try text("idVendor") == "0x1209\n")
        #expect(try text("idProduct") == "0x0001\n")
        #expect(try text("strings/0x409/manufacturer") == "Gantry\n")
        #expect(try text("strings/0x409/product") == "Gantry producer\n")
        #expect(try text("strings/0x409/serialnumber") == "ABCD2345\n")
        let target = try FileManager.default.destinationOfSymbolicLink(atPath: root + "/configs/c.1/ffs.gantry")
        #expect(target == root + "/functions/ffs.gantry")
        #expect(throws: GantryError.self) { try setup.bind() }
        try "".write(toFile: prepared.mountPoint + "/ep1", atomically: false, encoding: .utf8)
        try setup.bind()
        #expect(try text("UDC") == "udc.0\n")
        try setup.unbind()
        #expect(try text("UDC") == "\n")
    }

    @Test func theLockIsTheProcessesOwn() throws {
        let folder = try TestFolder()
        let configuration = try configuration(folder)
        let first = GadgetSetup(configuration, files: PlainFiles())
        _ = try first.prepare()
        let error = #expect(throws: GantryError.self) {
            try GadgetSetup(configuration, files: PlainFiles()).prepare()
        }
        #expect(error?.code == .usbGadgetInUse)
        withExtendedLifetime(first) {}
    }

    @Test func controllersAreListed() throws {
        let folder = try TestFolder()
        let files = [
            "udc/b/state": "configured\n", "udc/b/maximum_speed": "super-speed\n", "udc/b/function": "g1\n",
            "udc/a/state": "not attached\n", "udc/a/maximum_speed": "UNKNOWN\n", "udc/a/function": "\n",
            "udc/c/function": "g_mass_storage\n", "gadgets/g1/UDC": "b\n", "gadgets/g2/UDC": "\n",
        ]
        for (path, text) in files {
            let file = folder.file(path)
            try FileManager.default.createDirectory(
                atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try text.write(toFile: file, atomically: false, encoding: .utf8)
        }
        let list = USBController.list(
            controllersFolder: folder.file("udc"), gadgetsFolder: folder.file("gadgets"))
        #expect(
            list == [
                USBController(name: "a", state: "not attached", maximumSpeed: "UNKNOWN", user: nil),
                USBController(name: "b", state: "configured", maximumSpeed: "super-speed", user: .gadget("g1")),
                USBController(name: "c", state: "", maximumSpeed: "", user: .driver("g_mass_storage")),
            ])
        #expect(
            list.map(\.description) == [
                "a (free)", "b (super-speed, used by the gadget \"g1\")", "c (used by g_mass_storage)",
            ])
        #expect(USBController.list(controllersFolder: folder.file("none")).isEmpty)
    }
}
