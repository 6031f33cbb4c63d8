import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Glibc
import Testing

@testable import GantryMedia

@Suite struct TransportStreamWriterTests {
    private func record(_ packets: [MediaPacket], audio: AudioStreamFormat?, to path: String) throws {
        let output = try OutputFile(path: path, overwrite: false)
        let writer = try TransportStreamWriter(output: output, video: MediaClips.videoFormat, audio: audio)
        for packet in packets { try writer.write(packet) }
        try writer.finish()
    }

    @Test func carriesBothStreams() async throws {
        let folder = try TestFolder()
        let path = folder.file("r.ts")
        let frames = try await MediaClips.h264(frames: 60)
        let sound = try await MediaClips.opus(seconds: 2)
        let packets = (frames + sound).sorted { $0.header.presentationTime < $1.header.presentationTime }
        try record(packets, audio: MediaClips.audioFormat, to: path)
        let streams = try await Oracle.check([
            "ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=codec_name,nb_read_frames", "-of",
            "csv=p=0", path,
        ])
        let lines = Set(streams.lines)
        #expect(lines.contains("h264,60"))
        #expect(lines.contains { $0.hasPrefix("opus,") })
        let decoded = try await Oracle.check(["ffmpeg", "-v", "error", "-i", path, "-f", "null", "-"])
        #expect(decoded.errors.isEmpty)
        let starts = try await Oracle.check([
            "ffprobe", "-v", "error", "-show_entries", "stream=start_time", "-of", "default=nw=1:nk=1", path,
        ]).lines.compactMap { Double($0) }
        // Each program lists its streams once more.
        #expect(abs((starts.max() ?? 9) - (starts.min() ?? 0)) < 0.02)
    }

    @Test func everyPacketIsInTheFileAtOnce() async throws {
        let folder = try TestFolder()
        let path = folder.file("r.ts")
        let output = try OutputFile(path: path, overwrite: false)
        let writer = try TransportStreamWriter(output: output, video: MediaClips.videoFormat, audio: nil)
        var payload: Int64 = 0
        for packet in try await MediaClips.h264(frames: 20) {
            try writer.write(packet)
            payload += Int64(packet.count)
            #expect(output.byteCount > payload)
            #expect(output.byteCount % 188 == 0)
        }
    }

    @Test func jpegIsRefused() throws {
        let folder = try TestFolder()
        let output = try OutputFile(path: folder.file("r.ts"), overwrite: false)
        let format = VideoStreamFormat(codec: .mjpeg, width: 320, height: 180, frameRate: .fps30, color: .bt601)
        #expect(throws: GantryError.self) { try TransportStreamWriter(output: output, video: format, audio: nil) }
    }
}
