import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import StudioKit

/// Notes which pictures of the test pattern an output gets, and how long the sound was.
final class NumberLog: VideoOutput, AudioOutput {
    struct Entry: Sendable {
        /// By the time code; nil where it cannot be read.
        let number: UInt32?
        let presentation: MediaTimestamp
        let shown: MediaTimestamp
        let isReplayed: Bool
    }

    struct State: Sendable {
        var entries: [Entry] = []
        /// Stamps of the blocks of sound.
        var sound: [MediaTimestamp] = []
        var interruptions = 0
        var ends = 0

        var numbers: [UInt32] { entries.compactMap(\.number) }
    }

    let state = Watched(State())
    let followsReplay: Bool

    init(followsReplay: Bool = true) { self.followsReplay = followsReplay }

    var returnsAtOnce: Bool { true }
    func receive(_ frame: VideoFrame) {
        let entry = Entry(
            number: TimeCode.read(from: frame.picture)?.frameNumber, presentation: frame.presentationTime,
            shown: MonotonicClock.now(), isReplayed: frame.isReplayed)
        state.change { $0.entries.append(entry) }
    }

    func receive(_ frame: AudioFrame) {
        let time = frame.presentationTime
        state.change { $0.sound.append(time) }
    }

    func videoInterrupted() { state.change { $0.interruptions += 1 } }
    func videoEnded() { state.change { $0.ends += 1 } }
    func audioEnded() {}
}

extension [UInt32] {
    /// Whether each number is the one after that before it.
    var areConsecutive: Bool { zip(self, dropFirst()).allSatisfy { $1 == $0 + 1 } }
}
