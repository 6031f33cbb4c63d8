package import GantryCore
import GantryPlatform
import Glibc

/// Plays sound through ALSA, as early as its packets allow.
///
/// One thread, "sound-player" (it lives until `finish` or `stop`), keeps the device filled; blocks come from any one other thread, are copied at once and let
/// go. A device that is unplugged is waited for, and the sound is not heard meanwhile.
package final class SoundPlayer: @unchecked Sendable {
    // `playout`, `lag` and `endTime` are guarded by `lock`; the device belongs to the thread once that runs.

    package static let defaultDelay = MediaDuration.milliseconds(50)
    /// Between two tries to open a device that is lost; doubled up to the second number.
    private static let pauses = (first: MediaDuration.milliseconds(250), longest: MediaDuration.seconds(2))
    private static let settling = MediaDuration.seconds(1)

    private let name: String
    private let delay: MediaDuration
    private let lock = Lock()
    private let playout: SoundPlayout
    /// How much later than the picture of the same moment sound is heard, in microseconds.
    private var lag = PercentileWindow(capacity: 512)
    /// Sound that is not heard until then is thrown away.
    private var endTime: MediaTimestamp?
    private let stopping: EventDescriptor
    private var thread: NamedThread?

    /// Opens the device, and plays silence until sound comes.
    ///
    /// - Parameters:
    ///   - device: as ALSA calls it: `default`, a card, `hw:Loopback,0,0`.
    ///   - delay: from a packet's arrival until its sound is heard.
    /// - Throws: `outputNotFound`, `outputBusy`, `outputNotPermitted`, `outputLost`, `outputFailed`.
    package init(device: String, delay: MediaDuration = SoundPlayer.defaultDelay) throws(GantryError) {
        name = device
        self.delay = delay
        playout = try SoundPlayout(target: delay)
        stopping = try EventDescriptor()
        let opened = OpenedDevice(try Self.open(device, delay))
        thread = try NamedThread("sound-player", urgency: .sound) { [self] in run(opened) }
    }

    /// Carries the device to the thread.
    private final class OpenedDevice: @unchecked Sendable {  // Taken out once, by the thread.
        private var device: AlsaPCM?
        init(_ device: AlsaPCM) { self.device = device }
        func take() -> AlsaPCM? {
            defer { device = nil }
            return device
        }
    }

    private static func open(_ name: String, _ delay: MediaDuration) throws(GantryError) -> AlsaPCM {
        let level = SoundFeeder<AlsaPCM>.level(for: delay)
        let period = min(240, level / 4)
        // It starts with the first chunk: one with a small buffer might never have more.
        return try AlsaPCM(
            name, .playback, wish: .init(periodFrames: period, bufferFrames: level * 2, startFrames: period))
    }

    // MARK: Any thread

    /// Copies the block; for one thread, in order.
    package func play(_ block: AudioBlock) {
        let now = MonotonicClock.now()
        lock.withLock { playout.add(block, received: now) }
    }

    /// A picture of that time is on its way to the eye now: for `medianLag`.
    package func shown(_ presentationTime: MediaTimestamp) {
        let now = MonotonicClock.now()
        lock.withLock {
            guard let heard = playout.figures.heardAfterStamp else { return }
            lag.add(heard - (now - presentationTime))
        }
    }

    package var figures: SoundFigures { lock.withLock { playout.figures } }

    /// Nothing is heard, and all goes on in its place.
    package var isMuted: Bool {
        get { lock.withLock { playout.isMuted } }
        set { lock.withLock { playout.isMuted = newValue } }
    }

    /// How much later than the picture of the same moment sound is heard: median of the last pictures, and of how many.
    package var medianLag: (microseconds: Int, count: Int)? {
        lock.withLock { lag.count > 0 ? (Int(lag.percentiles().p50), lag.count) : nil }
    }

    /// Lets what waits be heard (a second at most), and closes the device.
    package func finish() {
        let level = SoundFeeder<AlsaPCM>.level(for: delay)
        let now = MonotonicClock.now()
        lock.withLock { endTime = now + min(.seconds(1), playout.backlog(delay: level) + .milliseconds(20)) }
        thread?.join()
    }

    /// Closes the device at once.
    package func stop() {
        stopping.signal()
        thread?.join()
    }

    // MARK: Thread

    private func run(_ opened: OpenedDevice) {
        if let device = opened.take() { feed(device) }
        var pause = Self.pauses.first
        while !isOver {
            do throws(GantryError) {
                let device = try Self.open(name, delay)
                Log.warning("The sound device \(shownName) is back.")
                lock.withLock { playout.restart() }
                let begin = MonotonicClock.now()
                feed(device)
                // One that opens and fails at once is not asked, and not spoken of, all the time.
                pause =
                    MonotonicClock.now() - begin > Self.settling
                    ? Self.pauses.first : min(Self.pauses.longest, pause + pause)
            } catch {
                Log.info("\(error)")
                pause = min(Self.pauses.longest, pause + pause)
            }
            sleep(pause)
        }
    }

    /// Until the end, or until the device is lost, which is told.
    private func feed(_ device: AlsaPCM) {
        let feeder = SoundFeeder(device, name: name, target: delay, lock: lock)
        while !isOver {
            do throws(GantryError) {
                sleep(try feeder.turn(playout, now: MonotonicClock.now()))
            } catch {
                lock.withLock { playout.deviceLost() }
                Log.info("\(error)")
                return Log.warning(
                    "The sound device \(shownName) was unplugged, or has failed: nothing is heard until it is back.")
            }
        }
    }

    private var shownName: String { String(name.prefix(80)) }

    private var isOver: Bool {
        let endTime = lock.withLock { self.endTime }
        return endTime.map { $0 <= MonotonicClock.now() } == true || stopping.wait(for: .zero)
    }

    private func sleep(_ duration: MediaDuration) { _ = stopping.wait(for: duration) }
}
