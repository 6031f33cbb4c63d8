import GantryCore
import GantryMedia

/// What one encode is made at: the bitrate that all its receivers can take, and the step of the ladder for it. A plain
/// value of the encoding thread.
struct VideoQuality {
    /// Studios are told no more often than that.
    private static let tellInterval = MediaDuration.milliseconds(200)

    private var settings: ProducerConfiguration.VideoSettings
    private let wish: VideoWish
    /// Pictures a second of full quality.
    let frameRate: FrameRate
    private var size: (width: Int, height: Int)?
    private var ladder: QualityLadder
    /// Bits a second that the user wants, or that the size suggests.
    private(set) var maximum: Int
    private(set) var bitrate: Int
    private var nextPicture: MediaTimestamp?
    private var told: (rate: Rate, time: MediaTimestamp)?

    init(_ settings: ProducerConfiguration.VideoSettings, _ wish: VideoWish) {
        self.settings = settings
        self.wish = wish
        frameRate = wish.rate(of: settings.frameRate)
        ladder = QualityLadder(width: 1280, height: 720, frameRate: frameRate)
        maximum = settings.bitrate ?? H264EncoderConfiguration.minimumBitrate
        bitrate = maximum
    }

    var step: QualityStep { ladder.step }

    /// The user wants another bitrate for the whole picture; nil: by size and rate. Counts from `begin` on.
    mutating func want(bitrate: Int?) {
        guard bitrate != settings.bitrate else { return }
        settings.bitrate = bitrate
        size = nil
    }

    /// Pictures of this size would be the first of it.
    func isOther(width: Int, height: Int) -> Bool { size.map { $0 != (width, height) } ?? true }

    /// True when pictures of another size come, or another bitrate is wanted: `maximum` is another one then.
    mutating func begin(width: Int, height: Int) -> Bool {
        if let size, size == (width, height) { return false }
        size = (width, height)
        let target = wish.fit(width: width, height: height)
        ladder = QualityLadder(width: target.width, height: target.height, frameRate: frameRate)
        maximum = Self.maximum(settings, wish, target, frameRate, isWhole: target == (width & ~1, height & ~1))
        bitrate = maximum
        return true
    }

    private static func maximum(
        _ settings: ProducerConfiguration.VideoSettings, _ wish: VideoWish, _ target: (width: Int, height: Int),
        _ frameRate: FrameRate, isWhole: Bool
    ) -> Int {
        let usual = H264EncoderConfiguration.defaultBitrate(
            width: target.width, height: target.height, frameRate: frameRate)
        // What the user wants for the whole picture is too much for a small one.
        let wanted = settings.bitrate.map { isWhole ? $0 : min($0, usual) } ?? usual
        return wish.bitrate.map { min($0, wanted) } ?? wanted
    }

    /// - Parameter shared: what the links take; nil: nothing is known of them.
    mutating func update(shared: Int?, now: MediaTimestamp) {
        bitrate = min(shared ?? maximum, maximum)
        // What the user wants is full quality, however little it is.
        _ = ladder.update(bitrate: bitrate < maximum ? bitrate : .max, now: now)
    }

    /// The size to encode at.
    func size(of picture: Picture) -> (width: Int, height: Int) {
        let target = wish.fit(width: picture.width, height: picture.height)
        guard let lines = step.lines, lines < target.height else { return target }
        return (max(16, target.width * lines / target.height & ~1), lines & ~1)
    }

    /// Whether a picture captured then is one of those that the step's rate leaves.
    mutating func takesPicture(at time: MediaTimestamp) -> Bool {
        guard step.frameRate != settings.frameRate else {
            nextPicture = nil
            return true
        }
        let interval = step.frameRate.frameDuration
        // Half an interval of the source early is still on time: its stamps are not even.
        let slack = MediaDuration(microseconds: settings.frameRate.frameDuration.microseconds / 2)
        guard let due = nextPicture, time + slack >= due, time - due < .seconds(1) else {
            if let due = nextPicture, time < due, due - time <= interval { return false }
            nextPicture = time + interval
            return true
        }
        nextPicture = due + interval
        return true
    }

    /// What studios were told last.
    var toldRate: Rate? { told?.rate }

    /// What studios are to be told now, if anything.
    mutating func news(now: MediaTimestamp) -> Rate? {
        let rate = Rate(
            bitrate: UInt32(clamping: bitrate), frameRate: step.frameRate, step: step.index)
        if let told {
            let change = (Int(told.rate.bitrate) - Int(rate.bitrate)).magnitude
            let isOther = told.rate.step != rate.step || change * 20 > told.rate.bitrate
            let isBack = bitrate == maximum && told.rate.bitrate != rate.bitrate
            guard isOther || isBack, now - told.time >= Self.tellInterval else { return nil }
        }
        told = (rate, now)
        return rate
    }
}
