import Foundation
import GantryCore
import GantryMedia
import GantryTestSupport
import Testing

/// What ffprobe and ffmpeg say about a file of ours.
enum Judge {
    struct Facts: Sendable {
        var format: [String: String] = [:]
        var video: [String: String] = [:]
        var audio: [String: String] = [:]

        var duration: Double { Double(format["duration"] ?? "") ?? -1 }
        var frames: Int { Int(video["nb_read_frames"] ?? "") ?? -1 }
        var width: Int { Int(video["width"] ?? "") ?? -1 }
        var height: Int { Int(video["height"] ?? "") ?? -1 }
        var rate: Double {
            let parts = (video["avg_frame_rate"] ?? "").split(separator: "/").compactMap { Double($0) }
            return parts.count == 2 && parts[1] > 0 ? parts[0] / parts[1] : -1
        }
    }

    static func probe(_ path: String) async throws -> Facts {
        var facts = Facts()
        facts.format = try await section(["-show_format"], path)
        facts.video = try await section(["-select_streams", "v:0", "-count_frames", "-show_streams"], path)
        facts.audio = try await section(["-select_streams", "a:0", "-show_streams"], path)
        return facts
    }

    private static func section(_ arguments: [String], _ path: String) async throws -> [String: String] {
        let result = try await Oracle.check(
            ["ffprobe", "-v", "error", "-of", "default=noprint_wrappers=1"] + arguments + [path])
        var values: [String: String] = [:]
        for line in result.lines {
            let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
            if parts.count == 2, values[parts[0]] == nil { values[parts[0]] = parts[1] }
        }
        return values
    }

    /// Decodes the whole file with ffmpeg and complains about anything that it complains about. Planes of I420.
    static func pictures(_ path: String, width: Int, height: Int) async throws -> [Picture] {
        let result = try await Oracle.check([
            "ffmpeg", "-v", "error", "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-enc_time_base",
            "-1", "-pix_fmt", "yuv420p", "-f", "rawvideo", "-",
        ])
        guard result.errors.isEmpty else { throw Oracle.Failure(text: "\(path): \(result.errors)") }
        let size = width * height * 3 / 2
        return stride(from: 0, to: result.output.count - size + 1, by: size).compactMap { start in
            picture(result.output[start..<start + size], width: width, height: height)
        }
    }

    private static func picture(_ data: Data, width: Int, height: Int) -> Picture? {
        guard let picture = Picture(format: .i420, width: width, height: height) else { return nil }
        var offset = data.startIndex
        for plane in 0..<3 {
            for row in 0..<picture.rows(plane) {
                let count = picture.rowBytes(plane)
                data.copyBytes(to: picture.plane(plane) + row * picture.stride(plane), from: offset..<offset + count)
                offset += count
            }
        }
        return picture
    }

    static func frameNumbers(_ pictures: [Picture]) -> [UInt32?] {
        pictures.map { TimeCode.read(from: $0)?.frameNumber }
    }

    /// Decodes everything and returns what ffmpeg complained about; empty is good.
    static func complaints(_ path: String) async throws -> String {
        // With the file's own ticks: those of the rate that ffmpeg guesses from a few pictures with a gap between them are too coarse.
        let result = try await Oracle.run([
            "ffmpeg", "-v", "error", "-i", path, "-enc_time_base:v", "-1", "-f", "null", "-",
        ])
        return result.status == 0 ? result.errors : "status \(result.status): \(result.errors)"
    }

    /// That ffmpeg decodes everything without a complaint.
    static func expectSound(_ path: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let complaints = try await complaints(path)
        #expect(complaints == "", sourceLocation: sourceLocation)
    }

    /// Of the luma, in dB.
    static func psnr(_ a: Picture, _ b: Picture) -> Double {
        var sum = 0.0
        for row in 0..<a.height {
            for column in 0..<a.width {
                let difference =
                    Double(a.plane(0)[row * a.stride(0) + column]) - Double(b.plane(0)[row * b.stride(0) + column])
                sum += difference * difference
            }
        }
        guard sum > 0 else { return 100 }
        return 10 * log10(255 * 255 * Double(a.width * a.height) / sum)
    }

    /// The mean PSNR over all planes as ffmpeg's filter measures it, frame by frame in order.
    static func psnr(_ path: String, against source: String) async throws -> Double {
        let result = try await Oracle.check([
            "ffmpeg", "-v", "info", "-hide_banner", "-nostats", "-i", path, "-i", source, "-lavfi",
            "[0:v]setpts=N/30/TB[a];[1:v]setpts=N/30/TB[b];[a][b]psnr=shortest=1", "-f", "null", "-",
        ])
        let text = result.errors
        guard let range = text.range(of: "average:"), let value = Double(text[range.upperBound...].prefix { $0 != " " })
        else { return text.contains("average:inf") ? 100 : -1 }
        return value
    }
}
