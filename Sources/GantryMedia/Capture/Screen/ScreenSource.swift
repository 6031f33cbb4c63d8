package import GantryCore
import GantryPlatform

/// What an X screen shows, as a source of pictures without sound; the pointer is in it.
///
/// Picture n is due at the beginning + n / rate; a late source leaves pictures out and never makes up for them in a burst.
/// Stamps are the moment before the screen was read. Ends early when the X server ends or the screen changes its size.
package final class ScreenSource: MediaSource, @unchecked Sendable {  // `state` guards the flags; `grab`: run's thread.
    package let info: MediaSourceInfo
    package let place: ScreenPlace

    private let grab: ScreenGrab
    private let frameRate: FrameRate
    private let input = FrameInput()
    /// Of the wanted size; nil when the screen's own is sent.
    private let scaled: ReusePool<Picture>?
    private let state = Condition()
    private var isStopped = false
    private var isPaused = false

    /// One with the encoder, one that waits, one being filled, one to spare.
    private static let poolSize = 4
    /// Shares of a second, exactly: see `due`.
    private static let second: Int64 = 1_000_000

    /// - Parameter size: even; the screen is shown whole inside it. Nil keeps the screen's size, cut to even.
    /// - Throws: as `ScreenGrab`; `invalidArgument` for a size that is odd or out of range.
    package init(
        _ place: ScreenPlace, frameRate: FrameRate = .fps30, size: MediaFileOptions.Size? = nil
    ) throws(GantryError) {
        if let size {
            guard size.width % 2 == 0, size.height % 2 == 0, 16...Picture.maximumSide ~= size.width,
                16...Picture.maximumSide ~= size.height
            else {
                throw GantryError(
                    .invalidArgument,
                    "\(size.width)x\(size.height) is not a picture size. Choose an even one, as in --size 1280x720.")
            }
        }
        let grab = try ScreenGrab(place)
        let own = MediaFileOptions.Size(width: grab.width & ~1, height: grab.height & ~1)
        let sent = size ?? own
        scaled =
            sent == own
            ? nil
            : ReusePool(capacity: Self.poolSize) {
                Picture(format: .i420, width: sent.width, height: sent.height, color: .bt601)
            }
        info = MediaSourceInfo(
            video: .init(
                width: sent.width, height: sent.height, frameRate: frameRate, color: .bt601, codec: "raw"),
            isLive: true)
        self.place = place
        self.grab = grab
        self.frameRate = frameRate
        Log.debug("screen \(place.display): \(grab.width)x\(grab.height), sent as \(sent.width)x\(sent.height)")
    }

    package func run(start: MediaTimestamp, sink: some MediaSink) -> MediaSourceEnd {
        var begin = MonotonicClock.now()
        var index: Int64 = 0
        while wait(until: begin + due(index)) {
            let now = MonotonicClock.now()
            do throws(GantryError) {
                if let picture = try picture(at: now) { sink.video(picture) }
            } catch {
                return isOver ? .stopped : .endedEarly(error)
            }
            index &+= 1
            // Late by a picture or more (a slow screen, a stopped process): begin to count anew.
            let end = MonotonicClock.now()
            if begin + due(index + 1) < end { (begin, index) = (end, 0) }
            if index > 1_000_000_000 { (begin, index) = (begin + due(index), 0) }
        }
        return .stopped
    }

    private func picture(at time: MediaTimestamp) throws(GantryError) -> Picture? {
        var result: Picture?
        try grab.read { (bytes) throws(GantryError) in
            guard
                let plain = try input.picture(
                    from: RawFrame(
                        .bgra, width: grab.width, height: grab.height, .init(bytes, stride: grab.width * 4)))
            else { return }
            (plain.captureTime, plain.presentationTime) = (time, time)
            result = plain
            if let scaled {
                result = scaled.take()
                if let result { try PixelConverter.scale(plain, to: result) }
            }
        }
        return result
    }

    /// When picture `index` is due, after the beginning.
    private func due(_ index: Int64) -> MediaDuration {
        let units = index &* Int64(frameRate.denominator)
        let rate = Int64(frameRate.numerator)
        return .microseconds((units / rate) &* Self.second &+ (units % rate) &* Self.second / rate)
    }

    /// False when stopped. A pause holds it: what nobody gets need not be read.
    private func wait(until due: MediaTimestamp) -> Bool {
        state.withLock {
            while !isStopped {
                if isPaused {
                    state.wait()
                } else if !state.wait(until: due) {
                    return true
                }
            }
            return false
        }
    }

    private var isOver: Bool { state.withLock { isStopped } }

    package func pause() { change { isPaused = true } }
    package func resume() { change { isPaused = false } }
    package func stop() { change { isStopped = true } }

    private func change(_ body: () -> Void) {
        state.withLock {
            body()
            state.broadcast()
        }
    }
}
