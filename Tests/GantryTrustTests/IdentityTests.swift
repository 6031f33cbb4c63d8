import GantryCore
import GantryPlatform
import GantryTrust
import Glibc
import Testing

@Suite struct IdentityTests {
    let scratch = ScratchFolder()

    @Test func theKeyStaysTheSame() throws {
        let folder = try scratch.state()
        let first = try Identity.loadOrCreate(in: folder)
        let second = try Identity.loadOrCreate(in: folder)
        #expect(first.keyID == second.keyID)
        #expect(first.publicKeyInfo == second.publicKeyInfo)
        #expect(ScratchFolder.mode(folder.file("identity.key")) == 0o600)
    }

    /// OpenSSL reads the file as it is, and finds the same public key.
    @Test func opensslAgrees() throws {
        let folder = try scratch.state()
        let identity = try Identity.loadOrCreate(in: folder)
        let result = Tool.openssl("pkey -in @state/identity.key -pubout -outform DER -out @public.der", in: scratch)
        #expect(result.status == 0)
        let info = ScratchFolder.contents(scratch.file("public.der"))
        #expect(info == identity.publicKeyInfo)
        let digest = Tool.openssl("dgst -sha256 -r @public.der", in: scratch).output
        #expect(hex(String(digest.prefix(64))) == identity.keyID.bytes)
    }

    @Test func aKeyMadeByOpensslIsTaken() throws {
        let folder = try scratch.state()
        Tool.openssl("genpkey -algorithm ed25519 -out @state/identity.key", in: scratch)
        chmod(folder.file("identity.key"), 0o600)
        #expect(throws: Never.self) { try Identity.loadOrCreate(in: folder) }
    }

    @Test func manyAtTheSameTimeGetOneKey() async throws {
        let path = try scratch.state().path
        let keys = scratch.file("keys")
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    await #expect(processExitsWith: .success) { [path = path as String, keys = keys as String] in
                        let identity = try Identity.loadOrCreate(in: try StateFolder.open(path))
                        let line = Array("\(identity.keyID)\n".utf8)
                        let descriptor = open(keys, O_WRONLY | O_CREAT | O_APPEND, 0o600)
                        _ = write(descriptor, line, line.count)
                    }
                }
            }
        }
        let lines = String(decoding: ScratchFolder.contents(keys), as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 4)
        #expect(Set(lines).count == 1)
    }

    /// Each is refused, and the file is as it was afterwards.
    @Test(arguments: ["empty", "text", "cut", "flipped", "rsa", "encrypted", "large", "public"])
    func aDamagedKeyIsRefusedAndKept(kind: String) throws {
        let folder = try scratch.state()
        let path = folder.file("identity.key")
        _ = try Identity.loadOrCreate(in: folder)
        var bytes = ScratchFolder.contents(path)
        switch kind {
        case "empty": bytes = []
        case "text": bytes = Array("hello\n".utf8)
        case "cut": bytes.removeLast(40)
        // The 64 characters of the key end with those of the secret.
        case "flipped":
            let end = try #require(bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 - 30 })
            bytes[end] = bytes[end] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        case "rsa":
            Tool.openssl("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out @other.key", in: scratch)
            bytes = ScratchFolder.contents(scratch.file("other.key"))
        case "encrypted":
            Tool.openssl("pkey -in @state/identity.key -aes256 -passout pass:x -out @other.key", in: scratch)
            bytes = ScratchFolder.contents(scratch.file("other.key"))
        case "large": bytes += [UInt8](repeating: 10, count: 5000)
        default:
            Tool.openssl("pkey -in @state/identity.key -pubout -out @other.key", in: scratch)
            bytes = ScratchFolder.contents(scratch.file("other.key"))
        }
        ScratchFolder.write(path, bytes)
        let error = #expect(throws: GantryError.self) { try Identity.loadOrCreate(in: folder) }
        #expect(error?.code == .identity)
        #expect(error?.message.contains("mv ") == true)
        #expect(ScratchFolder.contents(path) == bytes)
    }

    @Test func anOpenKeyFileIsRefusedUntilItIsRepaired() throws {
        let folder = try scratch.state()
        let keyID = try Identity.loadOrCreate(in: folder).keyID
        chmod(folder.file("identity.key"), 0o644)
        try expectRepair(folder, keyID, marker: "Close it: ")
    }

    @Test func aLinkedKeyFileIsRefusedUntilItIsRepaired() throws {
        let folder = try scratch.state()
        let keyID = try Identity.loadOrCreate(in: folder).keyID
        rename(folder.file("identity.key"), scratch.file("elsewhere"))
        symlink(scratch.file("elsewhere"), folder.file("identity.key"))
        try expectRepair(folder, keyID, marker: "Put the file itself there: ")
    }

    @Test func aKeyFileWithTwoNamesIsRefusedUntilItIsRepaired() throws {
        let folder = try scratch.state()
        let keyID = try Identity.loadOrCreate(in: folder).keyID
        link(folder.file("identity.key"), scratch.file("second"))
        try expectRepair(folder, keyID, marker: "Make it a file of its own: ")
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func aForeignKeyFileIsRefused() throws {
        let folder = try scratch.state()
        _ = try Identity.loadOrCreate(in: folder)
        chown(folder.file("identity.key"), 65534, 65534)
        let error = #expect(throws: GantryError.self) { try Identity.loadOrCreate(in: folder) }
        #expect(error?.message.contains("sudo chown 0 ") == true)
    }

    @Test func aPipeInItsPlaceDoesNotHang() throws {
        let folder = try scratch.state()
        mkfifo(folder.file("identity.key"), 0o600)
        #expect(throws: GantryError.self) { try Identity.loadOrCreate(in: folder) }
    }

    /// The command in the message mends it, and the key is the same.
    private func expectRepair(_ folder: StateFolder, _ keyID: KeyID, marker: String) throws {
        let error = #expect(throws: GantryError.self) { try Identity.loadOrCreate(in: folder) }
        #expect(error?.code == .identity)
        let command = try #require(error?.message.components(after: marker))
        let repair = Tool.run(["sh", "-c", command], in: scratch)
        #expect(repair.status == 0, "\(repair.output)")
        #expect(try Identity.loadOrCreate(in: folder).keyID == keyID)
    }
}
