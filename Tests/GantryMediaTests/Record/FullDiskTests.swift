import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Glibc
import Testing

@testable import GantryMedia

/// Whether a file system of our own can be mounted: needs root. Without it, only `/dev/full` is tested.
private let canMount = geteuid() == 0 && access("/usr/bin/mount", X_OK) == 0

@Suite struct FullDiskTests {
    @Test(.enabled(if: canMount, "mounting a small tmpfs needs root"), arguments: ["mp4", "mkv"])
    func whatWasRecordedBeforeTheDiskWasFullPlays(ending: String) async throws {
        let folder = try TestFolder()
        let mounted = try await Oracle.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder.path])
        // A container may be root and still not be allowed to mount.
        guard mounted.status == 0 else { try Test.cancel("this machine does not let root mount a tmpfs") }
        let path = folder.file("r.\(ending)")
        let frames = try await MediaClips.h264(size: "640x360", frames: 150)
        var failure: GantryError?
        let writer = try RecordingWriter(path: path, video: format(640, 360), audio: nil)
        do throws(GantryError) {
            for round in 0..<20 {
                for packet in frames {
                    let stamp = packet.header.presentationTime.microseconds + Int64(round) * 5_000_000
                    try writer.write(MediaClips.copy(packet, stamp: stamp))
                }
            }
        } catch {
            failure = error
        }
        #expect(failure?.code == .outputFull)
        #expect(failure?.message.contains("df -h") == true)
        let summary = try writer.finish()
        let result = try await Oracle.run([
            "ffmpeg", "-v", "error", "-i", path, "-map", "0:v", "-fps_mode", "passthrough", "-f", "framemd5", "-",
        ])
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        _ = try await Oracle.check(["umount", folder.path])
        #expect(result.errors.isEmpty)
        let decoded = result.lines.count { !$0.hasPrefix("#") }
        #expect(decoded == summary.frames)
        #expect(decoded > 15)
        #expect(size.map(Int64.init) == summary.bytes)
    }

    @Test func aFullDeviceIsToldByEveryWriter() async throws {
        let folder = try TestFolder()
        let path = folder.file("r.mp4")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/full")
        let frames = try await MediaClips.h264(frames: 3)
        let writer = try RecordingWriter(path: path, video: format(320, 180), audio: nil)
        #expect(code { () throws(GantryError) in for packet in frames { try writer.write(packet) } } == .outputFull)
        // The same error again, and a calm end.
        #expect(code { () throws(GantryError) in try writer.write(frames[0]) } == .outputFull)
        #expect(try writer.finish().frames == 0)

        let picture = try #require(Picture(format: .i420, width: 64, height: 64))
        let y4m = Y4MWriter(output: try OutputFile(path: "/dev/full", overwrite: false), rate: .fps30)
        #expect(code { () throws(GantryError) in try y4m.write(picture) } == .outputFull)
        #expect(
            code { () throws(GantryError) in
                _ = try WAVWriter(output: try OutputFile(path: "/dev/full", overwrite: false))
            } == .outputFull)
        #expect(code { () throws(GantryError) in try PNGSnapshot.write(picture, to: "/dev/full") } == .outputFull)
    }

    @Test func aReaderThatHasGoneIsTold() async throws {
        signal(SIGPIPE, SIG_IGN)
        var ends: [CInt] = [0, 0]
        #expect(pipe(&ends) == 0)
        close(ends[0])
        let output = OutputFile(takingOwnership: ends[1], path: "-")
        let writer = try TransportStreamWriter(output: output, video: format(320, 180), audio: nil)
        let frames = try await MediaClips.h264(frames: 2)
        #expect(code { () throws(GantryError) in try writer.write(frames[0]) } == .outputClosed)
    }

    private func code(_ body: () throws(GantryError) -> Void) -> GantryError.Code? {
        do throws(GantryError) {
            try body()
            return nil
        } catch {
            return error.code
        }
    }

    private func format(_ width: Int, _ height: Int) -> VideoStreamFormat {
        VideoStreamFormat(codec: .h264, width: width, height: height, frameRate: .fps30, color: .bt709)
    }
}
