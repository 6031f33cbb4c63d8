import GantryCore
import GantryPlatform
import GantryTrust
import Glibc
import Testing

/// Death, full disks, damage, other versions: the last good state, an empty one, or an error; never more trust.
@Suite struct DeviceStoreDamageTests {
    let scratch = ScratchFolder()

    @Test(arguments: [3, 7, 12, 20, 33])
    func aProcessKilledWhileSavingLosesNothingThatWasSaved(milliseconds: Int) async throws {
        let path = try scratch.state().path
        let acknowledged = scratch.file("acknowledged")
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, acknowledged = acknowledged as String, milliseconds = milliseconds as Int] in
            let store = try DeviceStore.open(in: try StateFolder.open(path))
            let log = open(acknowledged, O_WRONLY | O_CREAT, 0o600)
            let start = MonotonicClock.now().microseconds
            let killer = try NamedThread("killer") {
                MonotonicClock.sleep(until: MediaTimestamp(microseconds: start + Int64(milliseconds) * 1000))
                kill(getpid(), SIGKILL)
            }
            for number in 1... {
                try store.save(sample(number, "Device \(number)"))
                _ = write(log, "x", 1)
            }
            killer.join()
        }
        let count = ScratchFolder.contents(acknowledged).count
        let store = try DeviceStore.open(in: try StateFolder.open(path))
        let devices = try store.devices()
        // One more may be there than its writer lived to tell.
        #expect(devices.count == count || devices.count == count + 1)
        for (index, device) in devices.enumerated() { #expect(device == sample(index + 1, "Device \(index + 1)")) }
        #expect(!ScratchFolder.exists(path + "/paired.sqlite.damaged"))
    }

    @Test(.enabled(if: geteuid() == 0, "a small file system can be mounted only by root"))
    func aFullDiskIsAnErrorAndKeepsWhatWasThere() async throws {
        let mount = scratch.file("small")
        mkdir(mount, 0o700)
        let mounted = Tool.run(["mount", "-t", "tmpfs", "-o", "size=400k,mode=0700", "none", mount], in: scratch)
        guard mounted.status == 0 else {
            try Test.cancel("no tmpfs here: \(mounted.output)")
        }
        defer { Tool.run(["umount", "-l", mount], in: scratch) }
        let folder = try StateFolder.open(mount)
        let store = try DeviceStore.open(in: folder)
        for number in 1...5 { try store.save(sample(number, "Device \(number)")) }
        ScratchFolder.write(mount + "/filler", [UInt8](repeating: 1, count: 400_000))
        var saved = 5
        var failure: GantryError?
        while failure == nil && saved < 10_000 {
            do throws(GantryError) {
                try store.save(sample(saved + 1, "Device \(saved + 1)"))
                saved += 1
            } catch {
                failure = error
            }
        }
        #expect(failure?.code == .store)
        #expect(failure?.message.contains("room") == true, "\(String(describing: failure))")
        #expect(try store.devices().count == saved)
        #expect(store.trust(of: sample(1, "").keyID) == .trusted)
        #expect(store.trust(of: sample(saved + 1, "").keyID) == .unknown)
        unlink(mount + "/filler")
        try store.save(sample(saved + 1, "after"))
        #expect(try DeviceStore.open(in: folder).devices().count == saved + 1)
    }

    /// Sound to SQLite, but without our columns.
    @Test(arguments: ["ALTER TABLE device RENAME COLUMN spki TO other", "DROP TABLE tombstone"])
    func aFileWithForeignTablesIsPutAside(change: String) throws {
        let folder = try scratch.state()
        try fill(folder, count: 2)
        #expect(Tool.run(["sqlite3", folder.file("paired.sqlite"), change], in: scratch).status == 0)
        #expect(try DeviceStore.open(in: folder).devices().isEmpty)
        #expect(ScratchFolder.exists(folder.file("paired.sqlite.damaged")))
    }

    @Test(arguments: ["text", "header", "middle", "cut", "zeroes"])
    func aDamagedFileIsPutAside(kind: String) throws {
        let folder = try scratch.state()
        try fill(folder)
        let path = folder.file("paired.sqlite")
        var bytes = ScratchFolder.contents(path)
        #expect(bytes.count > 16384)
        switch kind {
        case "text": bytes = Array("this is no database, and long enough to be looked at as one\n".utf8)
        case "header": bytes.replaceSubrange(0..<16, with: [UInt8](repeating: 7, count: 16))
        case "middle": for index in 4096..<12288 { bytes[index] = UInt8(truncatingIfNeeded: index &* 7) }
        case "cut": bytes.removeLast(bytes.count / 2)
        default: for index in 100..<bytes.count { bytes[index] = 0 }
        }
        ScratchFolder.write(path, bytes)
        do {
            let store = try DeviceStore.open(in: folder)
            #expect(try store.devices().isEmpty)
            #expect(store.trust(of: sample(1, "").keyID) == .unknown)
            #expect(ScratchFolder.contents(path + ".damaged") == bytes)
            try store.save(sample(1, "again"))
            #expect(try DeviceStore.open(in: folder).devices().count == 1)
        }
        // A second time does not overwrite the first.
        ScratchFolder.write(path, Array("damaged again, and long enough to be looked at as a database\n".utf8))
        #expect(try DeviceStore.open(in: folder).devices().isEmpty)
        #expect(ScratchFolder.contents(path + ".damaged") == bytes)
        #expect(ScratchFolder.exists(path + ".damaged-2"))
    }

    /// Any one flipped bit: the store opens, and trusts nobody who was not in it.
    @Test func aFlippedBitNeverMeansMoreTrust() throws {
        let folder = try scratch.state()
        try fill(folder, count: 3)
        let path = folder.file("paired.sqlite")
        let good = ScratchFolder.contents(path)
        let known = Set((1...3).map { sample($0, "").keyID })
        for position in stride(from: 0, to: good.count, by: good.count / 150) {
            for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
            var bytes = good
            bytes[position] ^= 1 << UInt8(position % 8)
            ScratchFolder.write(path, bytes)
            let store: DeviceStore
            do throws(GantryError) { store = try DeviceStore.open(in: folder) } catch {
                #expect(error.code == .store)
                continue
            }
            #expect(store.trust(of: sample(9, "").keyID) != .trusted)
            if let devices = try? store.devices() {
                #expect(devices.allSatisfy { known.contains($0.keyID) })
            }
        }
    }

    @Test func aRecordOfAnotherKeyIsNotTrusted() throws {
        let folder = try scratch.state()
        try fill(folder, count: 2)
        let stranger = sample(9, "").keyID.bytes.map { format(byte: $0) }.joined()
        let result = Tool.run(
            [
                "sqlite3", folder.file("paired.sqlite"),
                "UPDATE device SET key_id = x'\(stranger)' WHERE name = 'Device 1'",
            ],
            in: scratch)
        #expect(result.status == 0)
        let store = try DeviceStore.open(in: folder)
        #expect(store.trust(of: sample(9, "").keyID) == .unknown)
        #expect(store.trust(of: sample(1, "").keyID) == .unknown)
        #expect(store.trust(of: sample(2, "").keyID) == .trusted)
        #expect(try store.devices().count == 1)
    }

    /// Values of 200 MB, which SQLite takes: nothing of that length is copied or looked at.
    @Test(arguments: ["spki = zeroblob(200000000)", "name = printf('%.*c', 200000000, 'x')"])
    func aHugeValueIsNotTaken(change: String) throws {
        let folder = try scratch.state()
        try fill(folder, count: 2)
        let result = Tool.run(
            ["sqlite3", folder.file("paired.sqlite"), "UPDATE device SET \(change) WHERE name = 'Device 1'"],
            in: scratch)
        #expect(result.status == 0)
        let devices = try DeviceStore.open(in: folder).devices()
        #expect(devices.contains { $0.name == "Device 2" })
        #expect(devices.allSatisfy { $0.name.utf8.count <= 64 })
        #expect(devices.count == (change.hasPrefix("name") ? 2 : 1))
    }

    @Test func aNewerSchemaIsReadAndNotWritten() throws {
        let folder = try scratch.state()
        try fill(folder, count: 2)
        let changes = "PRAGMA user_version = 2; ALTER TABLE device ADD COLUMN colour TEXT"
        #expect(Tool.run(["sqlite3", folder.file("paired.sqlite"), changes], in: scratch).status == 0)
        let store = try DeviceStore.open(in: folder)
        #expect(try store.devices().count == 2)
        #expect(store.trust(of: sample(1, "").keyID) == .trusted)
        for write in [
            { try store.save(sample(3, "C")) }, { try store.remove(keyID: sample(1, "").keyID, now: 1) },
            { try store.rename(keyID: sample(1, "").keyID, to: "x") },
        ] as [() throws -> Any] {
            let error = #expect(throws: GantryError.self) { _ = try write() }
            #expect(error?.code == .store)
            #expect(error?.message.contains("newer") == true)
        }
        #expect(try store.devices().count == 2)
        let version = Tool.run(["sqlite3", folder.file("paired.sqlite"), "PRAGMA user_version"], in: scratch)
        #expect(version.output == "2\n")
        #expect(!ScratchFolder.exists(folder.file("paired.sqlite.damaged")))
    }

    @Test func aReplacedFileIsNoticed() throws {
        let folder = try scratch.state()
        let store = try DeviceStore.open(in: folder)
        try store.save(sample(1, "A"))
        let counter = store.changeCounter
        for suffix in ["", "-wal", "-shm"] { unlink(folder.file("paired.sqlite" + suffix)) }
        #expect(store.trust(of: sample(1, "").keyID) == .unknown)
        #expect(store.changeCounter != counter)
        try store.save(sample(2, "B"))
        #expect(try DeviceStore.open(in: folder).devices().map(\.name) == ["B"])
    }

    @Test func unsafeFilesAreRefused() throws {
        let folder = try scratch.state()
        try fill(folder, count: 1)
        let path = folder.file("paired.sqlite")
        chmod(path, 0o644)
        #expect(throws: GantryError.self) { try DeviceStore.open(in: folder) }
        chmod(path, 0o600)
        link(path, scratch.file("second"))
        #expect(throws: GantryError.self) { try DeviceStore.open(in: folder) }
        unlink(scratch.file("second"))
        #expect(try DeviceStore.open(in: folder).devices().count == 1)
        rename(path, scratch.file("real"))
        symlink(scratch.file("real"), path)
        let error = #expect(throws: GantryError.self) { try DeviceStore.open(in: folder) }
        #expect(error?.code == .store)
    }

    /// Opens, writes and closes, so that all is in the main file.
    private func fill(_ folder: StateFolder, count: Int = 100) throws {
        let store = try DeviceStore.open(in: folder)
        for number in 1...count { try store.save(sample(number, "Device \(number)")) }
    }

    private func format(byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return digits.utf8.count == 1 ? "0" + digits : digits
    }
}
