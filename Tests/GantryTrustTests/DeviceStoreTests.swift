import GantryCore
import GantryPlatform
import GantryTrust
import Glibc
import Testing

@Suite struct DeviceStoreTests {
    let scratch = ScratchFolder()

    @Test func whatIsSavedIsThereAfterOpeningAgain() throws {
        let folder = try scratch.state()
        var device = sample(1, "Kitchen camera")
        device.confirmed = true
        device.via = .usb
        device.kind = .studio
        device.lastSeen = 77
        device.lastAddress = "[fe80::1%eth0]:4711"
        try DeviceStore.open(in: folder).save(device)
        let store = try DeviceStore.open(in: folder)
        #expect(try store.devices() == [device])
        #expect(try store.device(keyID: device.keyID) == device)
        #expect(try store.device(keyID: sample(2, "x").keyID) == nil)
        for name in ["paired.sqlite", "paired.sqlite-wal", "paired.sqlite-shm"] {
            #expect(ScratchFolder.mode(folder.file(name)) == 0o600, "\(name)")
        }
    }

    @Test func trustFollowsTheRecord() throws {
        let store = try DeviceStore.open(in: try scratch.state())
        let device = sample(1, "A")
        #expect(store.trust(of: device.keyID) == .unknown)
        try store.save(device)
        #expect(store.trust(of: device.keyID) == .trusted)
        #expect(try store.remove(keyID: device.keyID, now: 5))
        #expect(store.trust(of: device.keyID) == .revoked)
        #expect(try !store.remove(keyID: device.keyID, now: 6))
        #expect(try store.devices().isEmpty)
        try store.save(device)
        #expect(store.trust(of: device.keyID) == .trusted)
        #expect(store.trust(of: sample(2, "A").keyID) == .unknown)
    }

    @Test func aKeyWithAForeignIDIsNotSaved() throws {
        let store = try DeviceStore.open(in: try scratch.state())
        var device = sample(1, "A")
        device.publicKeyInfo = sample(2, "A").publicKeyInfo
        #expect(throws: GantryError.self) { try store.save(device) }
        device.publicKeyInfo = [1, 2, 3]
        #expect(throws: GantryError.self) { try store.save(device) }
        #expect(try store.devices().isEmpty)
    }

    @Test func pairingAgainRenewsTheRecord() throws {
        let store = try DeviceStore.open(in: try scratch.state())
        try store.save(sample(1, "Old"))
        try store.rename(keyID: sample(1, "").keyID, to: "Mine")
        try store.noteSeen(keyID: sample(1, "").keyID, at: 50, address: "10.0.0.1:1")
        try store.markRejectedByPeer(keyID: sample(1, "").keyID)
        var again = sample(1, "New")
        again.pairedAt = 99
        let saved = try store.save(again)
        #expect(saved.name == "New" && saved.alias == "Mine" && saved.displayedName == "Mine")
        #expect(saved.state == .active && saved.pairedAt == 99)
        #expect(saved.lastSeen == 50 && saved.lastAddress == "10.0.0.1:1")
        #expect(try store.devices() == [saved])
    }

    @Test func equalNamesGetNumbers() throws {
        let store = try DeviceStore.open(in: try scratch.state())
        #expect(try store.save(sample(1, "Phone")).displayedName == "Phone")
        #expect(try store.save(sample(2, "Phone")).displayedName == "Phone (2)")
        #expect(try store.save(sample(3, "Phone")).displayedName == "Phone (3)")
        #expect(try store.save(sample(2, "Phone")).displayedName == "Phone (2)")
        let long = String(repeating: "x", count: 32)
        #expect(try store.save(sample(4, long)).displayedName == long)
        #expect(try store.save(sample(5, long)).displayedName == String(repeating: "x", count: 28) + " (2)")
    }

    @Test func renaming() throws {
        let store = try DeviceStore.open(in: try scratch.state())
        try store.save(sample(1, "A"))
        try store.save(sample(2, "B"))
        #expect(try store.rename(keyID: sample(1, "").keyID, to: "Stage left").displayedName == "Stage left")
        #expect(try store.find("Stage left").keyID == sample(1, "").keyID)
        #expect(code { try store.rename(keyID: sample(1, "").keyID, to: "B") } == .invalidArgument)
        #expect(code { try store.rename(keyID: sample(1, "").keyID, to: " \u{202e}\n ") } == .invalidArgument)
        #expect(code { try store.rename(keyID: sample(9, "").keyID, to: "C") } == .unknownDevice)
        try store.rename(keyID: sample(2, "").keyID, to: "A")
        // The own name is taken now, so it comes back with a number.
        #expect(try store.rename(keyID: sample(1, "").keyID, to: nil).displayedName == "A (2)")
    }

    @Test func namesCannotSteerATerminal() throws {
        let store = try DeviceStore.open(in: try scratch.state())
        let names = [
            "\u{1b}[31mred\u{7}", "a\u{202e}b\u{200b}\nc\0d", String(repeating: "é", count: 1300), "\u{1b}", "",
        ]
        for (index, name) in names.enumerated() {
            let saved = try store.save(sample(index + 1, name))
            #expect(!saved.displayedName.isEmpty)
            #expect(saved.displayedName.utf8.count <= 64)
            #expect(saved.displayedName.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
            #expect(saved.displayedName.unicodeScalars.allSatisfy { $0.properties.generalCategory != .format })
        }
        try store.noteSeen(keyID: sample(1, "").keyID, at: 1, address: "10.0.0.1:1\u{1b}[2J\n")
        #expect(try store.device(keyID: sample(1, "").keyID)?.lastAddress == "10.0.0.1:1[2J")
    }

    @Test func findingWhatAPersonMeans() throws {
        let store = try DeviceStore.open(in: try scratch.state())
        let devices = try (1...3).map { try store.save(sample($0, $0 == 3 ? "Other" : "Phone")) }
        #expect(try store.find("Phone").keyID == devices[0].keyID)
        #expect(try store.find("Phone (2)").keyID == devices[1].keyID)
        let key = devices[2].keyID.description
        #expect(try store.find(key).keyID == devices[2].keyID)
        #expect(try store.find(key.prefix(8).lowercased()).keyID == devices[2].keyID)
        let unknown = #expect(throws: GantryError.self) { try store.find("nobody") }
        #expect(unknown?.code == .unknownDevice)
        #expect(unknown?.message.contains("devices list") == true)
        #expect(code { try store.find(String(key.prefix(3))) } == .unknownDevice)
        #expect(code { try store.find("") } == .unknownDevice)
        #expect(try store.find(" Phone\u{200B}").keyID == devices[0].keyID)
        let long = String(repeating: "long ", count: 20)
        try store.rename(keyID: devices[2].keyID, to: long)
        #expect(try store.find(long).keyID == devices[2].keyID)
        // Both call themselves Phone and neither is shown so.
        try store.rename(keyID: devices[0].keyID, to: "Left")
        let ambiguous = #expect(throws: GantryError.self) { try store.find("Phone") }
        #expect(ambiguous?.code == .invalidArgument)
        #expect(ambiguous?.message.contains(devices[0].keyID.short) == true)
        #expect(ambiguous?.message.contains(devices[1].keyID.short) == true)
    }

    @Test func beingSeenMakesActiveAgain() throws {
        let store = try DeviceStore.open(in: try scratch.state())
        try store.save(sample(1, "A"))
        #expect(try store.markRejectedByPeer(keyID: sample(1, "").keyID))
        #expect(try store.device(keyID: sample(1, "").keyID)?.state == .rejectedByPeer)
        #expect(try store.noteSeen(keyID: sample(1, "").keyID, at: -5, address: nil))
        #expect(try store.device(keyID: sample(1, "").keyID)?.state == .active)
        #expect(try store.device(keyID: sample(1, "").keyID)?.lastSeen == -5)
        #expect(try !store.noteSeen(keyID: sample(2, "").keyID, at: 1, address: nil))
        #expect(try !store.markRejectedByPeer(keyID: sample(2, "").keyID))
    }

    @Test func theCounterMovesWithEachChangeOfAnybody() async throws {
        let folder = try scratch.state()
        let store = try DeviceStore.open(in: folder)
        var counters = [store.changeCounter]
        #expect(store.changeCounter == counters[0])
        try store.save(sample(1, "A"))
        counters.append(store.changeCounter)
        let other = try DeviceStore.open(in: folder)
        try other.save(sample(2, "B"))
        counters.append(store.changeCounter)
        let path = folder.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let store = try DeviceStore.open(in: try StateFolder.open(path))
            try store.remove(keyID: sample(1, "").keyID, now: 1)
        }
        counters.append(store.changeCounter)
        #expect(Set(counters).count == 4, "\(counters)")
        #expect(store.changeCounter == counters.last)
        #expect(store.trust(of: sample(1, "").keyID) == .revoked)
        #expect(store.trust(of: sample(2, "").keyID) == .trusted)
    }

    @Test func twoProcessesWriteAtTheSameTime() async throws {
        let path = try scratch.state().path
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<2 {
                group.addTask {
                    await #expect(processExitsWith: .success) { [path = path as String, writer = writer as Int] in
                        let store = try DeviceStore.open(in: try StateFolder.open(path))
                        for number in 1...40 { try store.save(sample(writer * 100 + number, "Camera")) }
                    }
                }
            }
        }
        let devices = try DeviceStore.open(in: try StateFolder.open(path)).devices()
        #expect(devices.count == 80)
        #expect(Set(devices.map(\.displayedName)).count == 80)
        #expect(devices.allSatisfy { $0.name == "Camera" })
    }

    @Test func tenThousandDevices() throws {
        let store = try DeviceStore.open(in: try scratch.state())
        for number in 1...100 { try store.save(sample(number, "Device \(number)")) }
        let few = try lookups(store, 100)
        Tool.run(["sqlite3", scratch.file("state/paired.sqlite"), Self.copies], in: scratch)
        let count = try store.devices().count  // Those that were copied have no sound key and are passed over.
        #expect(count == 100)
        let many = try lookups(store, 100)
        // A scan over 10 000 would be a hundred times slower.
        #expect(many < few * 10 + .milliseconds(20), "\(few) \(many)")
    }

    /// 10 000 rows with keys of their own, beside those that are there.
    private static let copies = """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
        INSERT INTO device SELECT randomblob(32), spki, kind, 'copy ' || i, NULL, via, confirmed, state, paired_at,
        NULL, NULL FROM n, (SELECT * FROM device LIMIT 1)
        """

    private func lookups(_ store: DeviceStore, _ count: Int) throws -> Duration {
        let start = ContinuousClock.now
        for number in 1...count {
            #expect(store.trust(of: sample(number, "").keyID) == .trusted)
            #expect(try store.device(keyID: sample(number, "").keyID) != nil)
        }
        return start.duration(to: .now)
    }

    private func code<R>(_ body: () throws -> R) -> GantryError.Code? {
        do { _ = try body() } catch { return (error as? GantryError)?.code }
        return nil
    }
}

/// A device with the made-up key `number`.
func sample(_ number: Int, _ name: String) -> PairedDevice {
    let prefix: [UInt8] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00]
    let info = prefix + PairingCryptography.sha256(Array("key \(number)".utf8))
    guard let keyID = KeyID(bytes: PairingCryptography.sha256(info)) else {
        preconditionFailure("SHA-256 has 32 bytes")
    }
    return PairedDevice(
        keyID: keyID, publicKeyInfo: info, kind: .producer, name: name, pairedAt: Int64(1000 + number))
}
