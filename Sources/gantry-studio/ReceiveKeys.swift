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

    /// False when it was the last one.
    func pressed(_ key: KeyParser.Key) -> Bool {
        do throws(GantryError) {
            switch key {
            case .space: if session.stoppedMedia == .all { session.resume() } else { session.pause() }
            case .left: try session.replay.seek(by: .zero - Self.step)
            case .right: try session.replay.seek(by: Self.step)
            case .end: session.replay.goLive()
            case .letter("s"), .letter("S"): try save()
            case .letter("q"), .letter("Q"):
                end()
                return false
            case .letter: break
            }
        } catch {
            report.note(error.message)
        }
        return true
    }

    private func save() throws(GantryError) {
        let name = Self.fileName("replay", "mp4")
        let saved = try session.replay.save(to: name)
        report.note(
            "Saved \(Figures.decimal(saved.duration.seconds, places: 1)) s in \(saved.paths.joined(separator: ", ")).")
    }

    /// "replay-20261130-140503.mp4", local time; in a second that has one already, "replay-20261130-140503-2.mp4".
    static func fileName(_ kind: String, _ ending: String) -> String {
        let name = "\(kind)-\(time())"
        let names = ["\(name).\(ending)"] + (2...99).map { "\(name)-\($0).\(ending)" }
        return names.first { access($0, F_OK) != 0 } ?? names[0]
    }

    private static func time() -> String {
        var time = time_t(WallClock.now())
        var parts = tm()
        guard localtime_r(&time, &parts) != nil else { return "\(time)" }
        func two(_ n: CInt) -> String { n < 10 ? "0\(n)" : "\(n)" }
        return "\(parts.tm_year + 1900)\(two(parts.tm_mon + 1))\(two(parts.tm_mday))-"
            + "\(two(parts.tm_hour))\(two(parts.tm_min))\(two(parts.tm_sec))"
    }
}
