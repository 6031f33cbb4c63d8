import CommandLineKit
import GantryCore

/// What the keys do in the terminal where `run` shows how things stand. Called on the keys' thread.
struct RunKeys: Sendable {
    static let help = "Space pauses and resumes, v and a take picture and sound away and bring them back, q ends."

    let control: RunControl
    let report: RunReport
    /// As Ctrl-C.
    let end: @Sendable () -> Void

    /// False when it was the last one.
    func pressed(_ key: KeyParser.Key) -> Bool {
        do throws(GantryError) {
            switch key {
            case .space: control.togglePause()
            case .letter("v"), .letter("V"): try control.toggleStream(.video)
            case .letter("a"), .letter("A"): try control.toggleStream(.audio)
            case .letter("q"), .letter("Q"):
                end()
                return false
            case .left, .right, .end, .letter: break
            }
        } catch {
            report.note(error.message)
        }
        return true
    }
}
