import Foundation
import GantryCore
import GantryMedia
import GantryTestSupport
import ProducerKit
import StudioKit
import Testing

extension EndToEnd {
    /// Files of many kinds, made by ffmpeg, through the whole path.
    @Suite struct FileKindTests {
        struct Kind: Sendable, CustomTestStringConvertible {
            var name: String
            /// Behind the inputs, before the file's name.
            var arguments: [String]
            var size = "320x180"
            var rate = "30"
            var hasVideo = true
            /// Source filter of the sound; nil: none.
            var sound: String? = "sine=frequency=440:sample_rate=48000"
            /// What must come out; nil: as the input.
            var shown: (width: Int, height: Int)?
            var testDescription: String { name }

            init(
                _ name: String, _ arguments: [String], size: String = "320x180", rate: String = "30",
                hasVideo: Bool = true, sound: String? = "sine=frequency=440:sample_rate=48000",
                shown: (width: Int, height: Int)? = nil
            ) {
                self.name = name
                self.arguments = arguments
                self.size = size
                self.rate = rate
                self.hasVideo = hasVideo
                self.sound = sound
                self.shown = shown
            }
        }

        private static let x264 = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p"]

        static let kinds = [
            Kind("b-frames.mp4", ["-c:v", "libx264", "-bf", "3", "-pix_fmt", "yuv420p", "-c:a", "aac"]),
            Kind("matroska.mkv", x264 + ["-c:a", "libvorbis", "-ac", "2"]),
            Kind("vp9.webm", ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-c:a", "libopus"]),
            Kind("mjpeg.avi", ["-c:v", "mjpeg", "-q:v", "3", "-pix_fmt", "yuvj420p", "-c:a", "pcm_s16le"]),
            Kind("transport.ts", x264 + ["-c:a", "aac", "-f", "mpegts"]),
            Kind("444.mp4", ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv444p", "-c:a", "aac"]),
            Kind("10bit.mkv", ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p10le", "-c:a", "aac"]),
            Kind("23976.mp4", x264 + ["-c:a", "aac"], rate: "24000/1001"),
            Kind("50.mp4", x264 + ["-c:a", "aac"], rate: "50"),
            Kind("60.mp4", x264 + ["-c:a", "aac"], rate: "60"),
            Kind("mono.mp4", x264 + ["-c:a", "aac", "-ac", "1"]),
            Kind(
                "surround.mkv", x264 + ["-c:a", "ac3"],
                sound: "aevalsrc=0.1*sin(2764*t)|0.1*sin(2764*t)|0.2*sin(2764*t)|0|0.1*sin(2764*t)|0:c=5.1:s=48000"),
            Kind("44100.mp4", x264 + ["-c:a", "aac"], sound: "sine=frequency=440:sample_rate=44100"),
            Kind("silent.mp4", x264, sound: nil),
            Kind("sound.m4a", ["-c:a", "aac"], hasVideo: false),
            Kind(
                "odd.mkv", ["-c:v", "ffv1", "-pix_fmt", "yuv444p", "-c:a", "pcm_s16le"], size: "321x181",
                shown: (320, 180)),
        ]

        private static func make(_ kind: Kind, in folder: TestFolder) async throws -> String {
            let path = folder.file(kind.name)
            var inputs: [String] = []
            if kind.hasVideo { inputs += ["-f", "lavfi", "-i", "testsrc2=size=\(kind.size):rate=\(kind.rate)"] }
            if let sound = kind.sound { inputs += ["-f", "lavfi", "-i", sound] }
            try await FFmpegTool.ffmpeg(inputs + ["-t", "1.5"] + kind.arguments + [path])
            return path
        }

        @Test(arguments: kinds) func itPlaysFromEndToEnd(_ kind: Kind) async throws {
            let folder = try TestFolder()
            let path = try await Self.make(kind, in: folder)
            let original = try await Judge.probe(path)
            let stage = try await FileTake.stage(for: path)
            let take = try await FileTake.record(path, on: stage, as: "take.mkv")
            try Self.judge(take, original, kind)
        }

        private static func judge(_ take: FileTake, _ original: Judge.Facts, _ kind: Kind) throws {
            #expect(take.error == nil)
            guard case .finished = take.sourceEnd else {
                Issue.record("the source ended with \(take.sourceEnd)")
                return
            }
            #expect(take.studio.framesLost == 0)
            #expect(take.studio.audioPacketsLost == 0)
            #expect(abs(take.facts.duration - 1.5) < 0.15)
            if kind.hasVideo {
                #expect(take.facts.video["codec_name"] == "h264")
                #expect(take.facts.video["pix_fmt"] == "yuv420p")
                #expect(take.facts.width == kind.shown?.width ?? original.width)
                #expect(take.facts.height == kind.shown?.height ?? original.height)
                // What a stalled machine leaves out is counted by the producer.
                let leftOut = take.producer.framesSkipped + take.producer.framesReplaced
                #expect(take.facts.frames == original.frames - leftOut)
                #expect(take.facts.frames > original.frames / 2)
            } else {
                #expect(take.facts.video.isEmpty)
            }
            if kind.sound != nil {
                #expect(take.facts.audio["codec_name"] == "opus")
                #expect(take.facts.audio["channels"] == "2")
                #expect(take.facts.audio["sample_rate"] == "48000")
            } else {
                #expect(take.facts.audio.isEmpty)
            }
        }

        @Test func aTurnedFileIsShownUpright() async throws {
            let folder = try TestFolder()
            let (flat, path) = (folder.file("flat.mov"), folder.file("turned.mov"))
            // Red above, blue below; the file says: turn by 90 degrees.
            try await FFmpegTool.ffmpeg(
                [
                    "-f", "lavfi", "-i", "color=red:size=320x90:rate=30", "-f", "lavfi", "-i",
                    "color=blue:size=320x90:rate=30", "-filter_complex", "vstack", "-t", "1",
                ] + Self.x264 + [flat])
            try await FFmpegTool.ffmpeg(["-i", flat, "-c", "copy", "-metadata:s:v:0", "rotate=90", path])
            let stage = try await FileTake.stage(for: path)
            let take = try await FileTake.record(path, on: stage, as: "take.mkv")
            #expect(take.error == nil)
            #expect(take.facts.width == 180)
            #expect(take.facts.height == 320)
            let ours = try #require(try await Judge.pictures(stage.file("take.mkv"), width: 180, height: 320).last)
            // ffmpeg turns by itself: what it shows is the truth.
            let truth = try #require(try await Judge.pictures(path, width: 180, height: 320).last)
            for x in [45, 135] {
                let (a, b) = (ours.plane(2)[80 * ours.stride(2) + x / 2], truth.plane(2)[80 * truth.stride(2) + x / 2])
                #expect(abs(Int(a) - Int(b)) <= 10, "column \(x)")
            }
        }
    }
}
