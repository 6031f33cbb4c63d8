import CommandLineKit
import GantryCore
import GantryMedia
import GantryPlatform
import Glibc
import StudioKit

/// What the keys do in the terminal where `receive` runs. Called on the keys' thread.
struct ReceiveKeys: Sendable {
    static let help =
        "Space pauses and resumes, q ends."
        + " With --replay: left and right arrow go 5 seconds back and forth, End is live, s saves."
    private static let step = MediaDuration.seconds(5)

    let session: StudioSession
    let report: ReceiveReport
    /// As Ctrl-C.
    let end: @Sendable () -> Void

    func pressed(_ key: KeyParser.Key) {
        do throws(GantryError) {
            switch key {
            case .space: if session.stoppedMedia == .all { session.resume() } else { session.pause() }
            case .left: try session.replay.seek(by: .zero - Self.step)
            case .right: try session.replay.seek(by: Self.step)
            case .end: session.replay.goLive()
            case .letter("s"), .letter("S"): try save()
            case .letter("q"), .letter("Q"): end()
            case .letter: break
            }
        } catch {
            report.note(error.message)
        }
    }

    private func save() throws(GantryError) {
        let name = Self.name()
        let saved = try session.replay.save(to: name)
        report.note(
            "Saved \(Figures.decimal(saved.duration.seconds, places: 1)) s in \(saved.paths.joined(separator: ", ")).")
    }

    /// "replay-20261130-140503.mp4", local time.
    private static func name() -> String {
        var time = time_t(WallClock.now())
        var parts = tm()
        guard localtime_r(&time, &parts) != nil else { return "replay-\(time).mp4" }
        func two(_ n: CInt) -> String { n < 10 ? "0\(n)" : "\(n)" }
        return "replay-\(parts.tm_year + 1900)\(two(parts.tm_mon + 1))\(two(parts.tm_mday))-"
            + "\(two(parts.tm_hour))\(two(parts.tm_min))\(two(parts.tm_sec)).mp4"
    }
}
