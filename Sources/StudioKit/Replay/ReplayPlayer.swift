import GantryCore
import GantryMedia
import GantryPlatform

/// Shows what a replay holds, in real time by the producer's stamps, until it is told to go back to live or has caught up
/// with it. One thread, "replay", from `start` to `stop`.
final class ReplayPlayer: @unchecked Sendable {
    // `command`, `shown`, `overtakes` and `thread` are guarded by `condition`; decoder, `pending` and `origin` belong to the
    // thread.

    private enum Command {
        case show(Int64)
        case live
        case stop
    }

    private enum Step {
        case goesOn
        case ends(Command)
    }

    private let buffer: ReplayBuffer
    private let outputs: OutputSwitch
    /// Told with how far behind live the outputs are, or nil when they are live again.
    private let changed: @Sendable (MediaDuration?) -> Void
    private let failed: @Sendable (GantryError) -> Void
    private let condition = Condition()
    private var command: Command?
    /// The position that the outputs have; nil when they are live. Set at once by whoever asks.
    private var shown: Int64?
    private var overtakes = 0
    private var thread: NamedThread?

    private let decoder = ReplayDecoder()
    /// The last picture before the one that was asked for: decoded, not shown yet.
    private var pending: VideoFrame?
    /// Which position is shown at which time.
    private var origin: (position: Int64, time: MediaTimestamp)?

    init(
        _ buffer: ReplayBuffer, outputs: OutputSwitch, changed: @escaping @Sendable (MediaDuration?) -> Void,
        failed: @escaping @Sendable (GantryError) -> Void
    ) {
        self.buffer = buffer
        self.outputs = outputs
        self.changed = changed
        self.failed = failed
    }

    func start() throws(GantryError) {
        let thread = try NamedThread("replay") { [self] in run() }
        condition.withLock { self.thread = thread }
    }

    /// Before `start`: that ends at once.
    ///
    /// - Parameter waits: until the outputs are live. Not from one of them.
    func stop(waits: Bool = true) {
        give(.stop)
        if waits { condition.withLock { thread }?.join() }
    }

    // MARK: Any thread

    func show(_ position: Int64) { give(.show(position)) }
    func goLive() { give(.live) }

    /// The position that the outputs have; nil when they are live.
    var position: Int64? { condition.withLock { shown } }
    /// How often the player fell out of the memory.
    var overtakeCount: Int { condition.withLock { overtakes } }

    private func give(_ new: Command) {
        condition.withLock {
            if case .stop = command { return }
            command = new
            if case .show(let position) = new { shown = position } else { shown = nil }
            condition.broadcast()
        }
    }

    // MARK: Thread

    private func run() {
        var next = waitForCommand()
        while true {
            switch next {
            case .stop: return
            case .live: next = waitForCommand()
            case .show(let position):
                outputs.beginReplay()
                next = play(from: position)
                if case .show = next { continue }
                pending = nil
                outputs.endReplay()
                changed(nil)
            }
        }
    }

    private func waitForCommand() -> Command {
        condition.withLock {
            while command == nil { condition.wait() }
            return take() ?? .live
        }
    }

    private func take() -> Command? {
        defer { command = nil }
        return command
    }

    /// Until the next command, which is returned; `live` when all has been shown.
    private func play(from target: Int64) -> Command {
        guard var number = buffer.start(for: target) else { return caughtUp() }
        var target = target
        begin()
        while true {
            switch buffer.packet(number) {
            case .found(let packet, let position, let isVideo):
                switch step(packet, number: number, position: position, isVideo: isVideo, target: target) {
                case .ends(let command): return command
                case .goesOn: number += 1
                }
            case .gone:
                guard let start = buffer.start(for: .min) else { return caughtUp() }
                condition.withLock { overtakes += 1 }
                number = start
                target = .min
                begin()
            case .notYet: return caughtUp()
            }
        }
    }

    private func begin() {
        decoder.reset()
        pending = nil
        origin = nil
    }

    /// Live has been reached, unless somebody wants something else by now.
    private func caughtUp() -> Command {
        if let pending { outputs.replay(pending) }
        return condition.withLock {
            if let command = take() { return command }
            shown = nil
            return .live
        }
    }

    private func step(
        _ packet: ReplayPacket, number: Int, position: Int64, isVideo: Bool, target: Int64
    ) -> Step {
        let isBefore = origin == nil && position < target
        if isBefore {
            // What leads up to the picture that was asked for.
            if let command = condition.withLock({ take() }) { return .ends(command) }
            if isVideo, let frame = frame(packet, number) { pending = frame }
            return .goesOn
        }
        if let command = waitUntilDue(position, isVideo: isVideo) { return .ends(command) }
        if isVideo {
            if let frame = frame(packet, number) { outputs.replay(frame) }
        } else {
            sound(packet)
        }
        return .goesOn
    }

    /// The command that has come meanwhile.
    private func waitUntilDue(_ position: Int64, isVideo: Bool) -> Command? {
        if origin == nil {
            origin = (position, MonotonicClock.now())
            // Where it begins with sound, this is the picture beside it.
            if let pending, !isVideo { outputs.replay(pending) }
            pending = nil
            let newest = buffer.newest ?? position
            changed(MediaDuration(microseconds: max(0, newest &- position)))
        }
        guard let origin else { return nil }
        let due = origin.time + .microseconds(position &- origin.position)
        return condition.withLock {
            while command == nil {
                if due <= MonotonicClock.now() || !condition.wait(until: due) { break }
            }
            guard command == nil else { return take() }
            shown = max(shown ?? position, position)
            return nil
        }
    }

    private func frame(_ packet: ReplayPacket, _ number: Int) -> VideoFrame? {
        do throws(GantryError) {
            return try decoder.picture(packet).map {
                VideoFrame($0, frameRate: buffer.frameRate(at: number), isReplayed: true)
            }
        } catch {
            giveUp(error)
            return nil
        }
    }

    private func sound(_ packet: ReplayPacket) {
        do throws(GantryError) {
            try decoder.sound(packet) { outputs.replay(AudioFrame($0)) }
        } catch {
            giveUp(error)
        }
    }

    /// Nothing can be shown: back to live, where the error will be told again if it stays.
    private func giveUp(_ error: GantryError) {
        failed(error)
        goLive()
    }
}
