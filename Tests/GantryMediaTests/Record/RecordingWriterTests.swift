import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Glibc
import Testing

@testable import GantryMedia

@Suite struct RecordingWriterTests {
    private let video = MediaClips.videoFormat
    private let audio = MediaClips.audioFormat

    /// Video and sound in the order of their stamps.
    private func interleaved(_ a: [MediaPacket], _ b: [MediaPacket]) -> [MediaPacket] {
        (a + b).sorted { $0.header.presentationTime < $1.header.presentationTime }
    }

    private func probe(_ path: String, _ entries: String, _ more: [String] = []) async throws -> [String] {
        try await Oracle.check(
            ["ffprobe", "-v", "error", "-show_entries", entries, "-of", "default=nw=1:nk=1"] + more + [path]
        ).lines
    }

    private func duration(_ path: String) async throws -> Double {
        try #require(try await probe(path, "format=duration").first.flatMap { Double($0) })
    }

    private func stamps(_ path: String, _ stream: String) async throws -> [Double] {
        try await probe(path, "packet=pts_time", ["-select_streams", stream]).compactMap { Double($0) }
    }

    /// Checksums of the decoded frames: two streams with the same are the same picture by picture.
    private func frameHashes(_ arguments: [String], input: Data? = nil) async throws -> [String] {
        let result = try await Oracle.check(
            ["ffmpeg", "-v", "error"] + arguments + ["-map", "0:v", "-fps_mode", "passthrough", "-f", "framemd5", "-"],
            input: input)
        #expect(result.errors.isEmpty)
        return result.lines.filter { !$0.hasPrefix("#") }.compactMap { $0.split(separator: ",").last.map(String.init) }
    }

    private func sourceHashes(_ packets: [MediaPacket]) async throws -> [String] {
        let data = packets.reduce(into: Data()) { $0.append(contentsOf: $1.bytes) }
        return try await frameHashes(["-f", "h264", "-i", "-"], input: data)
    }

    @Test(arguments: ["mp4", "mkv"]) func recordsBothStreamsExactly(ending: String) async throws {
        let folder = try TestFolder()
        let path = folder.file("r.\(ending)")
        let frames = try await MediaClips.h264(frames: 75)
        let sound = try await MediaClips.opus(seconds: 2.5)
        let writer = try RecordingWriter(path: path, video: video, audio: audio)
        for packet in interleaved(frames, sound) { try writer.write(packet) }
        let summary = try writer.finish()
        #expect(summary.frames == 75)
        #expect(abs(summary.duration.seconds - 2.5) < 0.02)
        #expect(summary.paths == [path])
        let size = try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
        #expect(summary.bytes == Int64(size))

        #expect(try await probe(path, "stream=codec_name,width,height").sorted() == ["180", "320", "h264", "opus"])
        #expect(abs(try await duration(path) - 2.5) < 0.1)
        #expect(try await frameHashes(["-i", path]) == sourceHashes(frames))
        let videoStamps = try await stamps(path, "v")
        let audioStamps = try await stamps(path, "a")
        #expect(videoStamps.count == 75)
        #expect(audioStamps.count == sound.count)
        #expect(abs(videoStamps[0] - audioStamps[0]) < 0.002)
        #expect(abs(videoStamps[74] - 74.0 / 30) < 0.002)
        #expect(try await Oracle.check(["ffmpeg", "-v", "error", "-i", path, "-f", "null", "-"]).errors.isEmpty)
        let color = try await probe(path, "stream=color_space,color_primaries,color_range", ["-select_streams", "v"])
        #expect(color == ["tv", "bt709", "bt709"])
    }

    @Test(arguments: ["mp4", "mkv"]) func playsAfterBeingKilledAtAnyMoment(ending: String) async throws {
        let folder = try TestFolder()
        let path = folder.file("r.\(ending)")
        let frames = try await MediaClips.h264(frames: 90)
        let sound = try await MediaClips.opus(seconds: 3)
        let writer = try RecordingWriter(path: path, video: video, audio: audio)
        for packet in interleaved(frames, sound) { try writer.write(packet) }
        // As it lies on disk, without finish.
        let killed = folder.file("killed.\(ending)")
        try FileManager.default.copyItem(atPath: path, toPath: killed)
        let hashes = try await sourceHashes(frames)
        let kept = try await frameHashes(["-i", killed])
        #expect(kept.count >= 90 - 20)
        #expect(kept == Array(hashes.prefix(kept.count)))
        #expect(try await stamps(killed, "a").count >= 200)

        // Cut within the last fragment: the whole ones play.
        let whole = try Data(contentsOf: URL(fileURLWithPath: killed))
        let cut = folder.file("cut.\(ending)")
        try whole.prefix(whole.count - 3000).write(to: URL(fileURLWithPath: cut))
        let result = try await Oracle.run([
            "ffmpeg", "-v", "quiet", "-i", cut, "-map", "0:v", "-fps_mode", "passthrough", "-f", "framemd5", "-",
        ])
        let cutHashes = result.lines.filter { !$0.hasPrefix("#") }.compactMap { $0.split(separator: ",").last }
        #expect(cutHashes.count >= 45)
        #expect(cutHashes.prefix(45).map(String.init) == Array(hashes.prefix(45)))
    }

    @Test(arguments: ["mp4", "mkv"]) func lateSoundStaysInStep(ending: String) async throws {
        let folder = try TestFolder()
        let path = folder.file("r.\(ending)")
        let frames = try await MediaClips.h264(frames: 60)
        // The first sound is that of 1.234 s; the time before is silence.
        let sound = try await MediaClips.opus(seconds: 0.7).enumerated().map { index, packet in
            let copy = MediaClips.copy(packet, stamp: 5_000_000 + 1_234_000 + Int64(index) * 10_000)
            copy.duration = .milliseconds(10)
            return copy
        }
        let writer = try RecordingWriter(path: path, video: video, audio: audio)
        for packet in interleaved(frames, sound) { try writer.write(packet) }
        try writer.finish()
        let result = try await Oracle.check([
            "ffmpeg", "-v", "error", "-i", path, "-map", "0:a", "-ac", "1", "-f", "f32le", "-",
        ])
        let samples = result.output.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        let onset = try #require(samples.firstIndex { abs($0) > 0.02 })
        #expect(abs(Double(onset) / 48_000 - 1.234) < 0.010)
        #expect(try await stamps(path, "a").first.map { abs($0) < 0.001 } == true)
    }

    @Test func unevenFrameTimesAreKept() async throws {
        let folder = try TestFolder()
        let path = folder.file("r.mp4")
        let times: [Int64] = [0, 20_000, 120_000, 133_000, 633_000, 1_633_000, 1_650_000]
        let frames = try await MediaClips.h264(frames: 7)
        let writer = try RecordingWriter(path: path, video: video, audio: nil)
        for (packet, time) in zip(frames, times) { try writer.write(MediaClips.copy(packet, stamp: time + 77)) }
        let summary = try writer.finish()
        let written = try await stamps(path, "v")
        #expect(written.count == 7)
        for (stamp, time) in zip(written, times) { #expect(abs(stamp - Double(time) / 1e6) < 0.0001) }
        #expect(abs(try await duration(path) - 1.683) < 0.005)
        #expect(abs(summary.duration.seconds - 1.683) < 0.005)
    }

    @Test func beginsWithTheFirstKeyFrameAndLeavesEarlierSoundOut() async throws {
        let folder = try TestFolder()
        let path = folder.file("r.mp4")
        let frames = try await MediaClips.h264(frames: 60)
        let sound = try await MediaClips.opus(seconds: 2)
        let writer = try RecordingWriter(path: path, video: video, audio: audio)
        for packet in interleaved(Array(frames[10...]), sound) { try writer.write(packet) }
        let summary = try writer.finish()
        #expect(summary.frames == 30)
        #expect(abs(try await duration(path) - 1) < 0.1)
        #expect(try await stamps(path, "a").count == sound.count - 100)
        #expect(try await frameHashes(["-i", path]) == Array(sourceHashes(frames).suffix(30)))
    }

    @Test func aReconnectionWithAnotherClockGoesOnInTheSameFile() async throws {
        let folder = try TestFolder()
        let path = folder.file("r.mp4")
        let frames = try await MediaClips.h264(frames: 30)
        let sound = try await MediaClips.opus(seconds: 1)
        let writer = try RecordingWriter(path: path, video: video, audio: audio)
        for packet in interleaved(frames, sound) { try writer.write(packet) }
        // The producer was restarted: its clock is at 2 s, ours has gone on for 1.5 s since the first packet.
        writer.setFormat(.video(video))
        writer.setFormat(.audio(audio))
        for packet in interleaved(frames, sound) {
            let copy = MediaClips.copy(packet, stamp: packet.header.presentationTime.microseconds - 3_000_000)
            copy.duration = packet.duration
            copy.arrivalTime = packet.arrivalTime + .milliseconds(1500)
            try writer.write(copy)
        }
        let summary = try writer.finish()
        #expect(summary.paths == [path])
        #expect(summary.frames == 60)
        let written = try await stamps(path, "v")
        #expect(written.count == 60)
        #expect(abs(written[30] - 1.5) < 0.03)
        #expect(zip(written, written.dropFirst()).allSatisfy { $0 < $1 })
        #expect(abs(try await duration(path) - 2.5) < 0.1)
        #expect(try await frameHashes(["-i", path]).count == 60)
        // The pause is silence, so players that count samples stay in step as well.
        let audioStamps = try await stamps(path, "a")
        #expect(zip(audioStamps, audioStamps.dropFirst()).allSatisfy { $1 - $0 < 0.025 })
    }

    @Test func anotherSizeGoesOnInANewFile() async throws {
        let folder = try TestFolder()
        let path = folder.file("r.mp4")
        let small = try await MediaClips.h264(frames: 30)
        let large = try await MediaClips.h264(size: "640x360", frames: 30)
        let writer = try RecordingWriter(path: path, video: video, audio: nil)
        for packet in small { try writer.write(packet) }
        var format = video
        (format.width, format.height) = (640, 360)
        writer.setFormat(.video(format))
        for packet in large {
            try writer.write(MediaClips.copy(packet, stamp: packet.header.presentationTime.microseconds + 1_000_000))
        }
        let summary = try writer.finish()
        #expect(summary.paths == [path, folder.file("r-2.mp4")])
        #expect(summary.frames == 60)
        #expect(abs(summary.duration.seconds - 2) < 0.1)
        #expect(try await probe(path, "stream=width") == ["320"])
        #expect(try await probe(summary.paths[1], "stream=width") == ["640"])
        #expect(try await frameHashes(["-i", summary.paths[1]]) == sourceHashes(large))
        #expect(abs(try await duration(summary.paths[1]) - 1) < 0.1)
    }

    @Test(arguments: ["mp4", "mkv"]) func soundAloneAndJPEGAreRecorded(ending: String) async throws {
        let folder = try TestFolder()
        let writer = try RecordingWriter(path: folder.file("a.\(ending)"), video: nil, audio: audio)
        for packet in try await MediaClips.opus(seconds: 2) { try writer.write(packet) }
        try writer.finish()
        #expect(abs(try await duration(folder.file("a.\(ending)")) - 2) < 0.1)
        let format = VideoStreamFormat(codec: .mjpeg, width: 320, height: 180, frameRate: .fps30, color: .bt601)
        let pictures = try RecordingWriter(path: folder.file("m.\(ending)"), video: format, audio: nil)
        for packet in try await MediaClips.mjpeg(frames: 5) { try pictures.write(packet) }
        try pictures.finish()
        #expect(try await frameHashes(["-i", folder.file("m.\(ending)")]).count == 5)
    }

    @Test(arguments: [90, 180, 270]) func rotationIsWrittenForTheViewer(degrees: Int) async throws {
        let folder = try TestFolder()
        var format = video
        format.rotation = degrees
        let writer = try RecordingWriter(path: folder.file("r.mp4"), video: format, audio: nil)
        for packet in try await MediaClips.h264(frames: 3) { try writer.write(packet) }
        try writer.finish()
        let text = try await probe(folder.file("r.mp4"), "stream_side_data=rotation")
        // ffprobe counts counterclockwise.
        #expect(text.first.flatMap { Int($0) }.map { (360 - $0) % 360 } == degrees)
    }

    @Test func wrongPathsAreToldAtOnceWithWhatMendsThem() throws {
        let folder = try TestFolder()
        func code(_ path: String, overwrite: Bool = false) -> (GantryError.Code, String)? {
            do throws(GantryError) {
                _ = try RecordingWriter(path: path, video: video, audio: nil, overwrite: overwrite)
                return nil
            } catch {
                return (error.code, error.message)
            }
        }
        #expect(code(folder.file("r.avi"))?.0 == .invalidArgument)
        #expect(code(folder.file("r.avi"))?.1.contains(".mkv") == true)
        let missing = code(folder.file("no/r.mp4"))
        #expect(missing?.0 == .outputNotWritable)
        #expect(missing?.1.contains("mkdir -p \(folder.file("no"))") == true)
        _ = FileManager.default.createFile(atPath: folder.file("old.mp4"), contents: Data([1]))
        #expect(code(folder.file("old.mp4"))?.0 == .outputNotWritable)
        #expect(code(folder.file("old.mp4"))?.1.contains("--force") == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file("old.mp4"))).count == 1)
        #expect(code(folder.file("old.mp4"), overwrite: true) == nil)
    }

    @Test func garbageIsRecordedOrRefusedButNeverCrashes() throws {
        let folder = try TestFolder()
        var random = SeededRandom(seed: 9)
        for round in 0..<40 {
            let path = folder.file("g\(round).\(round % 2 == 0 ? "mp4" : "mkv")")
            let writer = try RecordingWriter(path: path, video: video, audio: audio)
            do throws(GantryError) {
                for index in 0..<60 {
                    var bytes = (0..<Int.random(in: 0...300, using: &random)).map { _ in
                        UInt8.random(in: 0...255, using: &random)
                    }
                    if index % 3 == 0 { bytes = [0, 0, 0, 1, 0x67] + bytes + [0, 0, 1, 0x68] + bytes }
                    let packet = MediaClips.packet(
                        bytes, index % 5 == 0 ? .opus : .h264, index: index, duration: 33_333, isKey: index % 3 == 0)
                    packet.header.presentationTime.microseconds = Int64(bitPattern: random.next())
                    try writer.write(packet)
                }
                try writer.finish()
            } catch {
                #expect(error.code == .outputFailed)
            }
        }
    }
}
