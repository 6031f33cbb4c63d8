import CALSA
package import GantryCore
package import GantryPlatform
import Glibc

/// An open sound device: 48 kHz, 2 channels, 32-bit float, interleaved, whatever the device itself has; its own rate, where
/// `Wish.keepsRate` says so.
///
/// Opened without waiting, and never waits but in `wait`. Owned by one thread at a time. Closed at the end of its life,
/// what is not yet played is then thrown away.
///
/// A device for playing starts by itself when `Wish.startFrames` have been written; one for capture by `start`. After an
/// overrun or underrun, and after the machine has slept, it is made ready again by itself, capture started: `wait`, `read`
/// and `write` say `recovered` then. What was in the buffer is lost: count from new.
package final class AlsaPCM {
    package enum Direction: Sendable {
        case capture, playback
    }

    /// Counts are in samples of each channel, of 1/48000 s. The device may grant something else.
    package struct Wish: Sendable {
        package var periodFrames: Int
        package var bufferFrames: Int
        /// Playing: written so many, it starts. Nil is the whole buffer.
        package var startFrames: Int?
        /// The rate of the hardware that is nearest to 48 kHz, not converted: ALSA's own converter is a linear one, which
        /// is heard. Converted nevertheless where that cannot be had.
        package var keepsRate: Bool

        package init(
            periodFrames: Int = 480, bufferFrames: Int = 9600, startFrames: Int? = nil, keepsRate: Bool = false
        ) {
            self.periodFrames = periodFrames
            self.bufferFrames = bufferFrames
            self.startFrames = startFrames
            self.keepsRate = keepsRate
        }
    }

    /// What the hardware itself runs with, where the kernel tells.
    package struct Native: Sendable, Hashable {
        package var rate: Int
        package var channels: Int
        /// As ALSA calls it: `S16_LE`.
        package var format: String

        /// As FFmpeg calls it: `pcm_s16le`.
        var codec: String {
            let bits: [String: String] = [
                "U8": "u8", "S8": "s8", "S16_LE": "s16le", "S16_BE": "s16be", "S24_3LE": "s24le", "S24_LE": "s24le",
                "S32_LE": "s32le", "FLOAT_LE": "f32le",
            ]
            return bits[format].map { "pcm_" + $0 } ?? "pcm"
        }
    }

    package enum Wait: Sendable {
        /// There is something to read, or room to write.
        case ready
        case recovered, stopped, timeout
    }

    package enum Transfer: Sendable, Hashable {
        /// So many samples of each channel.
        case frames(Int)
        /// Nothing there, or no room: `wait`.
        case nothing
        case recovered
    }

    /// A moment of the device.
    package struct Position: Sendable {
        /// Capture: from the sample that `read` gives next to what is just being recorded. Playing: from what is just being
        /// heard to the sample that is written next. In samples of each channel, at least 0.
        package var delay: Int
        /// What can be read, or written.
        package var available: Int
        /// When that was so, on `CLOCK_MONOTONIC`.
        package var time: MediaTimestamp
        /// The driver has stamped it; else the time is when we asked.
        package var isDriverTime: Bool
    }

    package static let rate = AudioBlock.sampleRate
    package static let channels = AudioBlock.channels

    /// As it was given to `init`.
    package let name: String
    package let direction: Direction
    /// Samples of each channel in a second, as `read` and `write` have them: 48000 but with `Wish.keepsRate`.
    package let frameRate: Int
    /// Granted, in samples of each channel.
    package let periodFrames: Int
    package let bufferFrames: Int
    package let native: Native?
    /// The short name of the card behind it; nil when a sound server is there.
    package let cardID: String?
    /// Overruns, underruns and sleeps so far.
    package private(set) var recoveryCount = 0

    private let handle: OpaquePointer
    private let status: OpaquePointer
    /// Those of the device, then that of the stopper.
    private let descriptors: UnsafeMutableBufferPointer<pollfd>
    private let node: SoundCards.Node?
    /// Recoveries since the last sample.
    private var recoveriesInARow = 0
    private var isSuspended = false

    /// More recoveries than these, and no sample between them: the device has failed.
    private static let recoveryLimit = 20
    /// Between two tries to wake a device that sleeps, in milliseconds.
    private static let wakingPause: Int64 = 50
    /// A driver's stamp that is further from now than this is not on our clock.
    private static let stampLimit = MediaDuration.seconds(2)

    /// - Parameters:
    ///   - name: `default`, the name or number of a card, `hw:…`, or any other name of ALSA's configuration.
    /// - Throws: `sourceNotFound`, `sourceBusy`, `sourceNotPermitted`, `sourceLost`, `sourceUnreadable`; for playing their
    ///   brothers `outputNotFound`, `outputBusy`, `outputNotPermitted`, `outputLost`, `outputFailed`.
    package init(_ name: String, _ direction: Direction, wish: Wish = Wish()) throws(GantryError) {
        self.name = name
        self.direction = direction
        let opened = try AlsaSetup.open(name, direction, wish)
        handle = opened.handle
        frameRate = opened.rate
        periodFrames = opened.periodFrames
        bufferFrames = opened.bufferFrames
        node = opened.node
        native = opened.native
        cardID = opened.node.flatMap { node in SoundCards.all().first { $0.number == node.card }?.id }
        var status: OpaquePointer?
        let count = Int(snd_pcm_poll_descriptors_count(handle))
        guard snd_pcm_status_malloc(&status) == 0, let status, 1...64 ~= count else {
            if let status { snd_pcm_status_free(status) }
            snd_pcm_close(handle)
            throw AlsaFailure(name, direction, node).unusable("it cannot be waited for")
        }
        self.status = status
        descriptors = .allocate(capacity: count + 1)
        descriptors.initialize(repeating: pollfd(fd: -1, events: 0, revents: 0))
        _ = snd_pcm_poll_descriptors(handle, descriptors.baseAddress, CUnsignedInt(count))
    }

    deinit {
        snd_pcm_close(handle)
        snd_pcm_status_free(status)
        descriptors.deallocate()
    }

    private var failure: AlsaFailure { AlsaFailure(name, direction, node) }

    /// Begins to record, or to play what has been written.
    package func start() throws(GantryError) {
        let result = snd_pcm_start(handle)
        if result < 0, snd_pcm_state(handle) != SND_PCM_STATE_RUNNING { throw failure.during(result, "start") }
    }

    /// Throws away what waits to be played, and gets ready anew: it starts when `startFrames` are written again.
    package func restart() throws(GantryError) {
        _ = snd_pcm_drop(handle)
        let result = snd_pcm_prepare(handle)
        if result < 0 { throw failure.during(result, "prepare") }
    }

    // MARK: Samples

    /// Fills `samples` from its beginning, left then right.
    package func read(into samples: UnsafeMutableBufferPointer<Float>) throws(GantryError) -> Transfer {
        let room = samples.count / Self.channels
        guard room > 0, let base = samples.baseAddress else { return .nothing }
        return try transferred(snd_pcm_readi(handle, base, snd_pcm_uframes_t(room)), of: room)
    }

    /// Writes from the beginning of `samples`, perhaps not all.
    package func write(from samples: UnsafeBufferPointer<Float>) throws(GantryError) -> Transfer {
        let count = samples.count / Self.channels
        guard count > 0, let base = samples.baseAddress else { return .nothing }
        return try transferred(snd_pcm_writei(handle, base, snd_pcm_uframes_t(count)), of: count)
    }

    private func transferred(_ result: snd_pcm_sframes_t, of count: Int) throws(GantryError) -> Transfer {
        if result > 0 {
            recoveriesInARow = 0
            return .frames(min(Int(result), count))
        }
        guard result < 0 else { return .nothing }
        return try recover(from: CInt(clamping: result)) ? .recovered : .nothing
    }

    // MARK: Waiting

    /// Waits until there is something to read or room to write.
    package func wait(until deadline: MediaTimestamp, stopper: EventDescriptor) throws(GantryError) -> Wait {
        let last = descriptors.count - 1
        descriptors[last] = pollfd(fd: stopper.rawValue, events: Int16(POLLIN), revents: 0)
        while true {
            let left = max(0, (deadline - MonotonicClock.now()).microseconds)
            // Rounded up: a wait that is too short by a part of a millisecond would spin.
            let milliseconds = (left &+ 999) / 1000
            let ready: CInt
            if isSuspended {
                ready = poll(&descriptors[last], 1, CInt(clamping: min(milliseconds, Self.wakingPause)))
            } else {
                ready = poll(descriptors.baseAddress, nfds_t(descriptors.count), CInt(clamping: milliseconds))
            }
            let error = errno
            if ready < 0, error != EINTR { throw failure.during(-error, "poll") }
            if ready > 0, descriptors[last].revents != 0 { return .stopped }
            if isSuspended {
                if try recover(from: -ESTRPIPE) { return .recovered }
            } else if ready > 0, let event = try event() {
                return event
            }
            if deadline <= MonotonicClock.now() { return .timeout }
        }
    }

    /// What the descriptors that are ready mean. Nil when it is nothing after all.
    private func event() throws(GantryError) -> Wait? {
        var events: CUnsignedShort = 0
        let result = snd_pcm_poll_descriptors_revents(
            handle, descriptors.baseAddress, CUnsignedInt(descriptors.count - 1), &events)
        if result < 0 { return try recover(from: result) ? .recovered : nil }
        if events & CUnsignedShort(POLLERR | POLLHUP | POLLNVAL) != 0 {
            switch snd_pcm_state(handle) {
            case SND_PCM_STATE_XRUN: return try recover(from: -EPIPE) ? .recovered : nil
            case SND_PCM_STATE_SUSPENDED: return try recover(from: -ESTRPIPE) ? .recovered : nil
            case SND_PCM_STATE_DISCONNECTED: throw failure.during(-ENODEV, "poll")
            default: return try recover(from: -EBADFD) ? .recovered : nil
            }
        }
        return events & CUnsignedShort(POLLIN | POLLOUT) != 0 ? .ready : nil
    }

    /// True when it goes on from new; false when there is nothing to do but wait.
    private func recover(from code: CInt) throws(GantryError) -> Bool {
        switch -code {
        case EAGAIN, EINTR: return false
        case EPIPE, EBADFD: break
        case ESTRPIPE:
            let result = snd_pcm_resume(handle)
            isSuspended = result == -EAGAIN
            // The driver is not awake yet.
            if isSuspended { return false }
            // Resumed, all goes on; but how long it has slept is not known.
            if result == 0 { return try counted() }
        default: throw failure.during(code, direction == .capture ? "read" : "write")
        }
        let state = snd_pcm_state(handle)
        if state == SND_PCM_STATE_DISCONNECTED { throw failure.during(-ENODEV, "recover") }
        let prepared = snd_pcm_prepare(handle)
        if prepared < 0 { throw failure.during(prepared, "prepare") }
        // Without a start nothing would ever come again.
        if direction == .capture { try start() }
        return try counted()
    }

    private func counted() throws(GantryError) -> Bool {
        recoveryCount &+= 1
        recoveriesInARow &+= 1
        if recoveriesInARow > Self.recoveryLimit { throw failure.during(-EIO, "recover") }
        return true
    }

    // MARK: Time

    /// Where the device is. Nil while it does not run.
    package func position() -> Position? {
        guard snd_pcm_status(handle, status) == 0 else { return nil }
        switch snd_pcm_status_get_state(status) {
        case SND_PCM_STATE_RUNNING, SND_PCM_STATE_DRAINING: break
        default: return nil
        }
        let now = MonotonicClock.now()
        var stamp = snd_htimestamp_t()
        snd_pcm_status_get_htstamp(status, &stamp)
        let time = MediaTimestamp(
            microseconds: Int64(stamp.tv_sec) &* 1_000_000 &+ Int64(stamp.tv_nsec) / 1000)
        let isDriverTime = time <= now && now - time < Self.stampLimit
        // A device that lies about its delay does not move time by more than its buffer and a second.
        let limit = bufferFrames + frameRate
        return Position(
            delay: min(max(0, Int(snd_pcm_status_get_delay(status))), limit),
            available: min(Int(clamping: snd_pcm_status_get_avail(status)), bufferFrames),
            time: isDriverTime ? time : now, isDriverTime: isDriverTime)
    }
}
