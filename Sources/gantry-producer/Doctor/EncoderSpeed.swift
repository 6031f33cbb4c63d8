import CommandLineKit
import GantryCore
import GantryMedia
import GantryPlatform

/// How fast x264 is here: pictures of noise over the test pattern, in 1280x720 at the settings of `run`.
enum EncoderSpeed {
    private static let limit = MediaDuration.milliseconds(1500)
    private static let pixels = 1280 * 720

    /// Takes two seconds.
    static func look() -> [Finding] {
        do throws(GantryError) {
            return judge(microseconds: try measure())
        } catch {
            return [.problem(error)]
        }
    }

    /// - Parameter microseconds: of the median picture.
    static func judge(microseconds: Int) -> [Finding] {
        let time = Figures.milliseconds(microseconds)
        let fits = [(1920, 1080, 60), (1920, 1080, 30), (1280, 720, 60), (1280, 720, 30), (640, 360, 30)].first {
            wish in
            // Half of a picture's time: capture, conversion and the network want theirs.
            Double(microseconds) * Double(wish.0 * wish.1) / Double(pixels) <= 500_000 / Double(wish.2)
        }
        guard let fits else {
            return [
                .problem(
                    "x264 takes \(time) ms for a picture of 1280x720: this machine is too slow even for 640x360 at 30 fps.",
                    "gantry-producer run --size 320x180 --fps 15")
            ]
        }
        let text = "x264 takes \(time) ms for a picture of 1280x720: good for \(fits.0)x\(fits.1) at \(fits.2) fps."
        guard fits.0 * fits.1 < pixels else { return [.ok(text)] }
        return [.warning(text, "gantry-producer run --size \(fits.0)x\(fits.1)")]
    }

    private static func measure() throws(GantryError) -> Int {
        let source = try TestPatternSource(
            configuration: TestPatternConfiguration(audio: false, isPaced: false, hasGrain: true))
        let encoder = try H264Encoder(
            configuration: H264EncoderConfiguration(width: 1280, height: 720, frameRate: .fps30, color: .bt709))
        let timing = EncoderTiming(encoder, until: MonotonicClock.now() + limit) { source.stop() }
        _ = source.run(start: MonotonicClock.now(), sink: timing)
        return try timing.median()
    }
}
