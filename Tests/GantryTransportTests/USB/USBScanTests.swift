import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import GantryTransport
import Testing

/// The look at sysfs, on folders that are made as the kernel makes them.
@Suite(.timeLimit(.minutes(3))) struct USBScanTests {
    private static func write(_ files: [String: String], to folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, text) in files {
            try (text + "\n").write(toFile: folder + "/" + name, atomically: false, encoding: .utf8)
        }
    }

    private static func device(
        _ root: String, _ port: String, bus: String = "1", address: String = "5",
        ids: (String, String) = ("1209", "0001"),
        serial: String? = "SER1"
    ) throws {
        var files = [
            "busnum": bus, "devnum": address, "idVendor": ids.0, "idProduct": ids.1, "speed": "480",
            "product": "Gantry producer",
        ]
        files["serial"] = serial
        try write(files, to: root + "/" + port)
    }

    private static func interface(
        _ root: String, _ name: String, number: String = "00", triple: (String, String, String) = ("ff", "43", "01"),
        text: String? = "gantry/1"
    ) throws {
        var files = [
            "bInterfaceNumber": number, "bInterfaceClass": triple.0, "bInterfaceSubClass": triple.1,
            "bInterfaceProtocol": triple.2,
        ]
        files["interface"] = text
        try write(files, to: root + "/" + name)
    }

    @Test func producersAreFoundByTheirInterface() throws {
        let folder = try TestFolder()
        let root = folder.file("devices")
        try Self.write([:], to: root + "/usb1")
        try Self.write(["bInterfaceClass": "09"], to: root + "/1-0:1.0")
        // Ours is the second function of the gadget.
        try Self.device(root, "1-1.4", address: "17")
        try Self.interface(root, "1-1.4:1.0", triple: ("02", "0d", "00"), text: "CDC NCM")
        try Self.interface(root, "1-1.4:1.2", number: "02")
        try Self.device(root, "2-1", bus: "2", ids: ("1d6b", "0104"), serial: nil)
        try Self.interface(root, "2-1:1.0")
        // A name that begins with another port's.
        try Self.device(root, "2-10", bus: "2", address: "9", ids: ("046d", "c52b"))
        try Self.interface(root, "2-10:1.0", triple: ("03", "01", "01"), text: nil)
        let scan = USBScan.now(root: root)
        #expect(
            scan.devices == [
                USBDevice(
                    bus: 1, address: 17, port: "1-1.4", interface: 2, serial: "SER1", product: "Gantry producer",
                    speed: 480),
                USBDevice(
                    bus: 2, address: 5, port: "2-1", interface: 0, serial: "", product: "Gantry producer", speed: 480),
            ])
        #expect(scan.refused.isEmpty)
        #expect(scan.devices.map(\.node) == ["/dev/bus/usb/001/017", "/dev/bus/usb/002/005"])
        #expect(scan.devices.map(\.description) == ["usb:SER1", "usb:2-1"])
    }

    @Test func foreignGadgetsAreNamed() throws {
        let folder = try TestFolder()
        let root = folder.file("devices")
        try Self.device(root, "1-1")
        try Self.interface(root, "1-1:1.0", triple: ("ff", "42", "01"), text: "vm-bench")
        try Self.device(root, "1-2", ids: ("1d6b", "0104"))
        try Self.interface(root, "1-2:1.0", text: "\u{1B}[31mother")
        try Self.device(root, "1-3", ids: ("1d6b", "0104"))
        let scan = USBScan.now(root: root)
        #expect(scan.devices.isEmpty)
        #expect(scan.refused.map(\.port) == ["1-1", "1-2"])
        #expect(scan.refused.first?.reason.contains("1209:0001") == true)
        #expect(scan.refused.last?.reason.contains("\"[31mother\"") == true)
    }

    @Test func whatIsNotThereOrDamagedIsPassedOver() throws {
        #expect(USBScan.now(root: "/no/such/folder") == USBScan())
        let folder = try TestFolder()
        let root = folder.file("devices")
        try Self.device(root, "1-1", bus: "999", ids: ("zz", ""))
        try Self.interface(root, "1-1:1.0")
        try Self.device(root, "1-2", ids: ("zz", ""))
        try Self.interface(root, "1-2:1.0", number: "1ff")
        try Self.interface(root, "1-3:1.0")
        #expect(USBScan.now(root: root) == USBScan())
    }

    @Test func aSerialNumberIsMadeFitForPeople() throws {
        let folder = try TestFolder()
        let root = folder.file("devices")
        try Self.device(root, "1-1", serial: "\u{1B}]0;x\u{7}A\u{202E}B" + String(repeating: "9", count: 500))
        try Self.interface(root, "1-1:1.0")
        let serial = USBScan.now(root: root).devices.first?.serial ?? ""
        #expect(serial.hasPrefix("]0;xAB9"))
        #expect(serial.utf8.count <= 128)
    }

    @Test func theWatchTellsOfEachChange() async throws {
        let folder = try TestFolder()
        let root = folder.file("devices")
        try Self.write([:], to: root)
        let scans = Watched<[USBScan]>([])
        let watch = try USBWatch(root: root, interval: .milliseconds(10)) { scan in scans.change { $0.append(scan) } }
        try watch.start()
        #expect(try await scans.wait { $0.count == 1 })
        try Self.interface(root, "1-1:1.0")
        try Self.device(root, "1-1")
        #expect(try await scans.wait { $0.last?.devices.first?.speed == 480 })
        try FileManager.default.removeItem(atPath: root + "/1-1")
        #expect(try await scans.wait { $0.last == USBScan() && $0.count > 2 })
        try await onThread { watch.stop() }
        let seen = scans.value
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0 != $1 })
    }
}
