import GantryCore
import GantryPlatform
import Glibc
import Testing

@Suite struct StateFolderTests {
    let scratch = ScratchFolder()

    @Test func missingParentsAreMadePrivate() throws {
        let folder = try StateFolder.open(scratch.file("a/b/c/"))
        #expect(folder.path == scratch.file("a/b/c"))
        for part in ["a", "a/b", "a/b/c"] { #expect(ScratchFolder.mode(scratch.file(part)) == 0o700) }
        #expect(try StateFolder.open(scratch.file("a/b/c")).path == folder.path)
    }

    @Test func anOpenFolderIsRefusedWithTheRepair() throws {
        let path = scratch.file("it's open")
        mkdir(path, 0o755)
        let error = #expect(throws: GantryError.self) { try StateFolder.open(path) }
        #expect(error?.code == .stateFolder)
        let command = try #require(error?.message.components(after: "Close it: "))
        #expect(Tool.run(["sh", "-c", command], in: scratch).status == 0)
        #expect(throws: Never.self) { try StateFolder.open(path) }
    }

    @Test func aLinkIsRefused() throws {
        mkdir(scratch.file("real"), 0o700)
        symlink(scratch.file("real"), scratch.file("link"))
        for path in ["link", "link/", "link//"] {
            let error = #expect(throws: GantryError.self) { try StateFolder.open(scratch.file(path)) }
            #expect(error?.message.contains("symbolic link") == true)
        }
    }

    @Test func aFileInItsPlaceIsRefused() {
        scratch.write("file", [1])
        #expect(throws: GantryError.self) { try StateFolder.open(scratch.file("file")) }
        #expect(throws: GantryError.self) { try StateFolder.open(scratch.file("file/below")) }
        #expect(throws: GantryError.self) { try StateFolder.open("") }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func aForeignOwnerIsRefused() {
        mkdir(scratch.file("foreign"), 0o700)
        chown(scratch.file("foreign"), 65534, 65534)
        let error = #expect(throws: GantryError.self) { try StateFolder.open(scratch.file("foreign")) }
        #expect(error?.message.contains("sudo chown -R 0 ") == true)
    }

    /// The environment belongs to the whole process, so this looks in processes of its own.
    @Test func theEnvironmentNamesTheFolderInOrder() async {
        let base = scratch.path
        await #expect(processExitsWith: .success) { [base = base as String] in
            try Self.expectOrder(base)
        }
    }

    private static func expectOrder(_ base: String) throws {
        for name in ["GANTRY_STATE_DIR", "STATE_DIRECTORY", "XDG_STATE_HOME"] { unsetenv(name) }
        setenv("HOME", base + "/home", 1)
        #expect(try StateFolder.open(nil).path == base + "/home/.local/state/gantry")
        setenv("XDG_STATE_HOME", "relative", 1)
        #expect(try StateFolder.open(nil).path == base + "/home/.local/state/gantry")
        setenv("XDG_STATE_HOME", base + "/xdg", 1)
        #expect(try StateFolder.open(nil).path == base + "/xdg/gantry")
        mkdir(base + "/real", 0o700)
        symlink(base + "/real", base + "/systemd")
        setenv("STATE_DIRECTORY", base + "/systemd:/elsewhere", 1)
        #expect(try StateFolder.open(nil).path == base + "/systemd")
        setenv("GANTRY_STATE_DIR", base + "/own", 1)
        #expect(try StateFolder.open(nil).path == base + "/own")
        #expect(try StateFolder.open(base + "/explicit").path == base + "/explicit")
    }

    @Test func aFileIsMadeOnceAndWhole() throws {
        let folder = try scratch.state()
        ScratchFolder.write(folder.file("x.new"), [9, 9, 9])  // Left behind by a process that died.
        let create = { (bytes: [UInt8]) throws in
            try bytes.withUnsafeBytes { try SecureFile.create("x", in: folder, contents: $0, code: .identity) }
        }
        #expect(try create([1, 2, 3]))
        #expect(try !create([4]))
        #expect(try SecureFile.read("x", in: folder, limit: 3, code: .identity) == [1, 2, 3])
        #expect(throws: GantryError.self) { try SecureFile.read("x", in: folder, limit: 2, code: .identity) }
        #expect(ScratchFolder.mode(folder.file("x")) == 0o600)
        #expect(!ScratchFolder.exists(folder.file("x.new")))
        #expect(try SecureFile.read("y", in: folder, limit: 3, code: .identity) == nil)
        #expect(try !SecureFile.check("y", in: folder, code: .identity))
    }

    @Test func pathsAreQuotedForTheShell() {
        for path in ["/plain/path", "/with blank", "/it's", "/$(reboot)", "-dash"] {
            let output = Tool.run(["sh", "-c", "printf %s " + SecureFile.quoted(path)], in: scratch).output
            #expect(output == path)
        }
    }
}

extension String {
    /// What follows the marker, to the end.
    func components(after marker: String) -> String? {
        ranges(of: marker).first.map { String(self[$0.upperBound...]) }
    }
}
