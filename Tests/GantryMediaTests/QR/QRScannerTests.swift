import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Testing

@testable import GantryMedia

@Suite struct QRScannerTests {
    /// A code of ours (zbarimg reads those, see QRDrawingTests), changed by ImageMagick.
    private func picture(_ text: String, _ changes: [String], name: String = "c.png") async throws -> TestFolder {
        let folder = try TestFolder()
        try QRImage.writePNG(try QRCode(text), to: folder.file("plain.png"), moduleSize: 8)
        _ = try await Oracle.check(["convert", folder.file("plain.png")] + changes + [folder.file(name)])
        return folder
    }

    @Test(arguments: [
        [], ["-negate"], ["-rotate", "17"], ["-rotate", "90"], ["-background", "gray", "-rotate", "200"],
        ["-seed", "1", "-attenuate", "0.5", "+noise", "Gaussian"], ["-blur", "0x2"], ["-resize", "900%"],
        ["-resize", "60%"],
        ["-virtual-pixel", "white", "-distort", "Perspective", "0,0 30,20 328,0 300,10 0,328 5,310 328,328 320,300"],
        ["-brightness-contrast", "-30x-60"], ["-transparent", "white"],
        ["-gravity", "center", "-background", "gray", "-extent", "1280x720"],
    ]) func readsWhatCamerasSee(changes: [String]) async throws {
        let folder = try await picture(sampleCode, changes)
        #expect(try ImageFileScanner.scan(path: folder.file("c.png")) == sampleCode)
    }

    @Test(arguments: ["c.jpg", "c.bmp", "c.webp", "c-without-ending"]) func readsOtherFormats(name: String) async throws
    {
        let folder = try await picture(
            sampleCode, name.contains(".") ? [] : ["-set", "filename:x", "x"], name: "c.png")
        let path = folder.file(name)
        let target = name.contains(".") ? path : "png:" + path
        _ = try await Oracle.check(["convert", folder.file("c.png"), target])
        #expect(try ImageFileScanner.scan(path: path) == sampleCode)
    }

    @Test func lowerCaseIsAGantryCodeToo() async throws {
        let folder = try await picture(sampleCode.lowercased(), [])
        #expect(try ImageFileScanner.scan(path: folder.file("c.png")) == sampleCode.lowercased())
    }

    @Test func theGantryCodeWinsOverOthers() async throws {
        let other = try await picture("https://example.org/", [])
        let ours = try await picture(sampleCode, [])
        let path = other.file("both.png")
        _ = try await Oracle.check(["convert", other.file("c.png"), ours.file("c.png"), "+append", path])
        #expect(try ImageFileScanner.codes(path: path).count == 2)
        #expect(try ImageFileScanner.scan(path: path) == sampleCode)
    }

    @Test func readsRowsWithPaddingOfAPicture() async throws {
        let folder = try await picture(sampleCode, [])
        let gray = try await Oracle.check(["convert", folder.file("c.png"), "-depth", "8", "gray:-"]).output
        let side = 41 * 8
        #expect(gray.count == side * side)
        let picture = try #require(Picture(format: .i420, width: side, height: side))
        #expect(picture.stride(0) > side)
        for y in 0..<side { for x in 0..<side { picture.plane(0)[y * picture.stride(0) + x] = gray[y * side + x] } }
        let scanner = try QRScanner()
        #expect(scanner.scan(picture) == [sampleCode])
        // The same scanner again, with another size in between.
        #expect(scanner.scan(luma: picture.plane(0), width: 100, height: 3, stride: 100).isEmpty)
        #expect(scanner.scan(picture) == [sampleCode])
    }

    private func failure(_ path: String) -> GantryError? {
        do throws(GantryError) {
            _ = try ImageFileScanner.scan(path: path)
            return nil
        } catch {
            return error
        }
    }

    @Test func everyKindOfWrongFileHasItsMessage() async throws {
        let foreign = try await picture("WIFI:secret-of-a-stranger", [])
        let error = failure(foreign.file("c.png"))
        #expect(error?.code == .pairingCodeInvalid)
        #expect(error?.message.contains("not one of Gantry") == true)
        #expect(error?.message.contains("stranger") == false)

        _ = try await Oracle.check(["convert", "-size", "640x480", "plasma:", foreign.file("none.png")])
        #expect(failure(foreign.file("none.png"))?.message.contains("No QR code") == true)
        #expect(failure(foreign.file("missing.png"))?.code == .sourceNotFound)
        #expect(failure(foreign.path)?.code == .sourceUnreadable)
        try "just text".write(toFile: foreign.file("t.png"), atomically: true, encoding: .utf8)
        #expect(failure(foreign.file("t.png"))?.message.contains("not a picture") == true)
        try "".write(toFile: foreign.file("empty.png"), atomically: true, encoding: .utf8)
        #expect(failure(foreign.file("empty.png"))?.code == .sourceUnreadable)
        // No file that a decoder could open elsewhere: the content decides, a play list is not followed.
        try "#EXTM3U\n/etc/passwd\n".write(toFile: foreign.file("l.jpg"), atomically: true, encoding: .utf8)
        #expect(failure(foreign.file("l.jpg"))?.code == .sourceUnreadable)
        #expect(failure("/dev/zero")?.code == .sourceUnreadable)
    }

    @Test func hugeAndCutPicturesAreRefusedWithoutMuchMemory() async throws {
        let folder = try await picture(sampleCode, [])
        // A header that claims 60000 x 60000; its checksum is made right, so that only the size is wrong.
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.file("c.png"))))
        for (at, value) in zip(16..., [0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60] as [UInt8]) { bytes[at] = value }
        let sum = crc32(bytes[12..<29])
        for index in 0..<4 { bytes[29 + index] = UInt8(truncatingIfNeeded: sum >> UInt32(24 - 8 * index)) }
        try Data(bytes).write(to: URL(fileURLWithPath: folder.file("huge.png")))
        #expect(failure(folder.file("huge.png"))?.code == .sourceUnreadable)
        #expect(failure(folder.file("huge.png"))?.message.contains("8192") == true)
        let whole = try Data(contentsOf: URL(fileURLWithPath: folder.file("c.png")))
        try whole.prefix(60).write(to: URL(fileURLWithPath: folder.file("cut.png")))
        #expect(failure(folder.file("cut.png")) != nil)
    }

    @Test func garbageNeverCrashes() async throws {
        let folder = try await picture(sampleCode, [])
        _ = try await Oracle.check(["convert", folder.file("c.png"), folder.file("c.jpg")])
        var random = SeededRandom(seed: 5)
        for name in ["c.png", "c.jpg"] {
            let whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.file(name))))
            for _ in 0..<60 {
                var bytes = whole
                for _ in 0..<8 {
                    bytes[Int.random(in: 4..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
                }
                let path = folder.file("fuzz")
                try Data(bytes).write(to: URL(fileURLWithPath: path))
                if let error = failure(path) {
                    #expect([.sourceUnreadable, .pairingCodeInvalid, .general].contains(error.code))
                }
            }
        }
        let scanner = try QRScanner()
        for _ in 0..<40 {
            let (width, height) = (Int.random(in: 1...300, using: &random), Int.random(in: 1...300, using: &random))
            let noise = (0..<(width * height)).map { _ in
                UInt8.random(in: 0...255, using: &random) > 127 ? UInt8(255) : 0
            }
            noise.withUnsafeBufferPointer { pixels in
                guard let base = pixels.baseAddress else { return }
                #expect(
                    QRScanner.validCode(among: scanner.scan(luma: base, width: width, height: height, stride: width))
                        == nil)
            }
        }
    }

    /// CRC-32 of ISO 3309, as PNG uses it.
    private func crc32(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        var sum = UInt32.max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 {
                let isOdd = sum & 1 == 1
                sum >>= 1
                if isOdd { sum ^= 0xedb8_8320 }
            }
        }
        return ~sum
    }
}
