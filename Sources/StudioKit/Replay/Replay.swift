public import GantryCore
import GantryMedia
import GantryPlatform

/// The last seconds of a session, to be shown again or saved: `StudioSession.replay`. Any thread.
///
/// While it is armed it holds the packets of the last seconds, and the producer is asked for a key frame every two seconds.
/// `seek` shows them, in real time, in the session's outputs (those that say `followsReplay`). Receiving and recording go
/// on all the while, also what is held goes on to grow, and both outlive a lost connection. The outputs are live again after
/// `goLive`, and when all that is held has been shown. Where the end of the memory overtakes what is shown, that goes on
/// with the oldest picture there is.
public final class Replay: PacketOutput, @unchecked Sendable {  // What varies is guarded by `lock`.
    private let outputs: OutputSwitch
    private let report: @Sendable (StudioEvent) -> Void
    /// Set once, before anyone else has either of them.
    weak var session: StudioSession?
    private let lock = Lock()
    private var buffer: ReplayBuffer?
    private var player: ReplayPlayer?
    private var video: VideoStreamFormat?
    private var audio: AudioStreamFormat?
    private var isSaving = false
    private var isOver = false

    init(outputs: OutputSwitch, report: @escaping @Sendable (StudioEvent) -> Void) {
        self.outputs = outputs
        self.report = report
    }

    // MARK: Arming

    /// Begins to hold what comes. Armed already: what is held is let go, unless the settings are the same.
    ///
    /// - Throws: `invalidArgument` for settings that cannot be, `invalidState` after the session's end and from an output,
    ///   which the replay's thread may be waiting for.
    public func arm(_ settings: ReplaySettings = ReplaySettings()) throws(GantryError) {
        try settings.check()
        guard !outputs.isInside else {
            throw GantryError(.invalidState, "An output that is being called cannot arm a replay: use another thread.")
        }
        let buffer = ReplayBuffer(settings)
        let player = ReplayPlayer(
            buffer, outputs: outputs, changed: { [report] in report(.replay(behind: $0)) },
            failed: { Log.warning("replay: \($0)") })
        let (isNew, former) = try lock.withLock { () throws(GantryError) -> (Bool, ReplayPlayer?) in
            guard !isOver else { throw GantryError(.invalidState, "The session has ended.") }
            guard self.buffer?.settings != settings else { return (false, nil) }
            if let video { buffer.formatChanged(.video(video)) }
            if let audio { buffer.formatChanged(.audio(audio)) }
            buffer.restart()
            defer {
                self.buffer = buffer
                self.player = player
            }
            return (true, self.player)
        }
        guard isNew else { return }
        former?.stop()
        do throws(GantryError) {
            try player.start()
        } catch {
            disarm()
            throw error
        }
        session?.keyFramesChanged()
    }

    /// Goes live, and lets go of what is held. From an output it returns before the others are live, since it cannot wait.
    public func disarm() {
        let player = lock.withLock {
            defer {
                self.player = nil
                buffer = nil
            }
            return self.player
        }
        player?.stop(waits: !outputs.isInside)
    }

    /// Whether it holds what comes.
    public var isArmed: Bool { lock.withLock { buffer != nil } }

    /// What it holds, and what the outputs show.
    public var status: ReplayStatus {
        let (buffer, player) = lock.withLock { (self.buffer, self.player) }
        var status = ReplayStatus()
        guard let buffer, let player else { return status }
        status.isArmed = true
        status.bytes = buffer.bytes
        if let held = buffer.held { status.held = .microseconds(held.upperBound &- held.lowerBound) }
        if let position = player.position, let newest = buffer.newest {
            status.behind = .microseconds(max(0, newest &- position))
        }
        status.overtakes = player.overtakeCount
        return status
    }

    // MARK: Showing

    /// Shows what is that much later (or earlier, below zero) than what is shown now. Before the oldest: the oldest. At or
    /// behind the newest: live.
    ///
    /// - Returns: how far behind live that is; nil: live.
    /// - Throws: `invalidState` when it is not armed, or nothing has come yet.
    @discardableResult
    public func seek(by step: MediaDuration) throws(GantryError) -> MediaDuration? {
        let (buffer, player, held) = try current()
        let now = player.position ?? held.upperBound
        let limit = ReplaySettings.durations.upperBound.microseconds * 2
        return show(now &+ min(max(step.microseconds, 0 - limit), limit), buffer, player, held)
    }

    /// Shows what came that long before the newest picture. Zero: live.
    ///
    /// - Returns, throws: as `seek(by:)`.
    @discardableResult
    public func seek(to behind: MediaDuration) throws(GantryError) -> MediaDuration? {
        let (buffer, player, held) = try current()
        let limit = ReplaySettings.durations.upperBound.microseconds * 2
        return show(held.upperBound &- min(max(behind.microseconds, 0), limit), buffer, player, held)
    }

    private func show(
        _ wanted: Int64, _ buffer: ReplayBuffer, _ player: ReplayPlayer, _ held: ClosedRange<Int64>
    ) -> MediaDuration? {
        guard wanted < held.upperBound else {
            player.goLive()
            return nil
        }
        // No further than what is promised to be held: what lies before it may go at any moment.
        let oldest = max(held.lowerBound, held.upperBound &- buffer.settings.duration.microseconds)
        let position = max(wanted, oldest)
        player.show(position)
        return .microseconds(held.upperBound &- position)
    }

    /// The outputs go on with what comes now. Does nothing when they are live.
    public func goLive() { lock.withLock { player }?.goLive() }

    // MARK: Saving

    /// Writes what is held into a file that ends in .mp4 or .mkv, without coding it again. Receiving goes on meanwhile, and
    /// what comes meanwhile is not in the file. Blocks until the file is whole: not on the cooperative pool.
    ///
    /// - Throws: `invalidState` when it is not armed or nothing has come yet, `busy` while another file is being written,
    ///   `invalidArgument`, `outputNotWritable`, `outputFull`, `outputFailed`. Where some of it was written before, the
    ///   message names the files that hold it.
    public func save(to path: String, overwrite: Bool = false) throws(GantryError) -> SavedMedia {
        _ = try Container.ofRecording(path)
        try OutputPath.check(path, overwrite: overwrite)
        guard OutputPath.isRegularFile(path) else {
            throw GantryError(.invalidArgument, "\(path) is no file that a replay can be saved to. Give another name.")
        }
        let (buffer, _, _) = try current()
        let isFirst = lock.withLock {
            defer { isSaving = true }
            return !isSaving
        }
        guard isFirst else { throw GantryError(.busy, "A replay is being saved already. Wait for it.") }
        defer { lock.withLock { isSaving = false } }
        return SavedMedia(try ReplayFile.write(buffer.snapshot(), to: path, overwrite: overwrite))
    }

    private func current() throws(GantryError) -> (ReplayBuffer, ReplayPlayer, ClosedRange<Int64>) {
        guard let (buffer, player) = lock.withLock({ buffer.flatMap { buffer in player.map { (buffer, $0) } } }) else {
            throw GantryError(
                .invalidState,
                "Nothing is held for a replay. Arm it first (with the tools: gantry-studio replay arm).")
        }
        guard let held = buffer.held else {
            throw GantryError(.invalidState, "Nothing has come yet that could be shown again. Try again in a moment.")
        }
        return (buffer, player, held)
    }
}

// MARK: - The connection's I/O thread

extension Replay {
    public var returnsAtOnce: Bool { true }
    public var wantsRegularKeyFrames: Bool { isArmed }

    public func expect(video: Bool, audio: Bool) {
        let buffer = lock.withLock {
            if !video { self.video = nil }
            if !audio { self.audio = nil }
            return self.buffer
        }
        buffer?.restart()
    }

    public func formatChanged(_ format: StreamFormat, epoch: UInt16) {
        let buffer = lock.withLock {
            switch format {
            case .video(let new): video = new
            case .audio(let new): audio = new
            }
            return self.buffer
        }
        buffer?.formatChanged(format)
    }

    /// Something is stopped here or by the producer, or goes on. Any thread.
    func paused() { lock.withLock { buffer }?.paused() }

    public func receive(_ packet: CodedPacket) { lock.withLock { buffer }?.add(packet.packet) }

    /// On the session's thread.
    public func finish() {
        lock.withLock { isOver = true }
        disarm()
    }
}
