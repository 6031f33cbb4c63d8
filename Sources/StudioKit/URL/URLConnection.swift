import GantryCore
import GantryMedia
import GantryPlatform

/// The connection of a session that plays a URL: opens it, hands out what comes, and codes it anew for the outputs that take
/// packets.
///
/// `run` belongs to the session's thread, on which everything is handed out; "file-decode" reads and decodes.
final class URLConnection: SessionConnection, MediaSink, @unchecked Sendable {
    // Counters, `source`, `acceptedAt`, `size` and `isClosing` are guarded by `lock`; the rest: the session's thread.
    private unowned let session: StudioSession
    private let url: String
    private let guardian = InputGuardian()
    private let lock = Lock()
    private var source: MediaFileSource?
    private var isClosing = false
    private var acceptedAt: MediaTimestamp?
    private var videoCounter = StreamCounter()
    private var audioCounter = StreamCounter()
    private var size = (width: 0, height: 0)
    private var limit: MediaLimit?
    private var rate = FrameRate.fps30
    private let packets: PacketMaker

    init(_ session: StudioSession, url: String) {
        self.session = session
        self.url = url
        packets = PacketMaker(session.packetOutputs)
    }

    // MARK: The session's thread

    /// How long ago it was opened; nil: it was not.
    var stood: MediaDuration? { lock.withLock { acceptedAt }.map { MonotonicClock.now() - $0 } }

    /// Blocks until the end, and says why it came.
    func run() -> ConnectionEnd {
        let source: MediaFileSource
        do throws(GantryError) {
            source = try MediaFileSource(
                url: url, options: MediaFileOptions(audio: session.configuration.wantsAudio), guardian: guardian)
        } catch {
            return error.code == .cancelled ? .byUs : .failed(Self.retried(error, as: .cannotConnect))
        }
        let isWanted = lock.withLock {
            self.source = source
            if !isClosing { acceptedAt = MonotonicClock.now() }
            return !isClosing
        }
        guard isWanted else { return .byUs }
        opened(source.info)
        switch source.run(start: MonotonicClock.now(), sink: self) {
        case .stopped: return .byUs
        case .finished: return lock.withLock { isClosing } ? .byUs : .byProducer
        case .endedEarly(let error): return .failed(Self.retried(error, as: .peerLost))
        }
    }

    /// What a server may mend while it is waited for.
    private static func retried(_ error: GantryError, as code: GantryError.Code) -> GantryError {
        guard error.code == .sourceNotFound || (code == .peerLost && error.code == .sourceUnreadable) else {
            return error
        }
        return GantryError(code, error.message, cause: error.cause)
    }

    private func opened(_ info: MediaSourceInfo) {
        let origin = StreamConnection(
            producer: session.target.name, address: session.target.name, keyID: nil)
        let now = MonotonicClock.now()
        var streams: [StreamInfo] = []
        if let video = info.video {
            streams.append(Self.stream(1, .video, video.codec, now, origin))
            rate = video.frameRate
        }
        if let audio = info.audio { streams.append(Self.stream(2, .audio, audio.codec, now, origin)) }
        session.report(.connected(name: origin.producer, address: origin.address, streams: streams))
        session.streamsChanged(added: streams)
        let hasVideo = info.video != nil && session.configuration.wantsVideo
        limit = session.remainingDuration.map { MediaLimit($0, video: hasVideo, audio: info.audio != nil) }
        packets.begin(video: hasVideo ? info.video : nil, audio: info.audio != nil)
        if hasVideo, let video = info.video {
            session.formatChanged(
                .video(
                    VideoStreamFormat(
                        codec: .h264, width: video.width, height: video.height, frameRate: video.frameRate,
                        color: video.color)), channel: 1)
        }
        if info.audio != nil, let format = packets.audioFormat { session.formatChanged(.audio(format), channel: 2) }
    }

    private static func stream(
        _ channel: Int, _ kind: MediaKind, _ codec: String, _ now: MediaTimestamp, _ origin: StreamConnection
    ) -> StreamInfo {
        let known: [String: MediaCodec] = ["h264": .h264, "mjpeg": .mjpeg, "opus": .opus]
        return StreamInfo(
            channel: channel, kind: kind, codec: known[codec], name: DisplayName(codec).text, source: .custom,
            created: now, connection: origin)
    }

    // MARK: What comes, on the session's thread

    func video(_ picture: Picture) {
        guard session.configuration.wantsVideo else { return }
        let now = MonotonicClock.now()
        picture.arrivalTime = now
        let header = MediaHeader(presentationTime: picture.presentationTime, captureTime: picture.captureTime)
        guard admits(header, isVideo: true), !session.wishes.stopped.contains(.video) else { return }
        lock.withLock {
            videoCounter.add(Self.next(header, videoCounter), bytes: 0, arrived: now)
            size = (picture.width, picture.height)
        }
        session.pictureCame()
        session.outputs.live(VideoFrame(picture, frameRate: rate, decodedTime: now))
        packets.add(picture)
    }

    func audio(_ block: AudioBlock) {
        let header = MediaHeader(presentationTime: block.presentationTime, captureTime: block.presentationTime)
        guard admits(header, isVideo: false), !session.wishes.stopped.contains(.audio) else { return }
        lock.withLock { audioCounter.add(Self.next(header, audioCounter), bytes: 0, arrived: MonotonicClock.now()) }
        session.outputs.live(AudioFrame(block))
        packets.add(block)
    }

    func waitForRoom(until deadline: MediaTimestamp) -> Bool { true }

    private static func next(_ header: MediaHeader, _ counter: StreamCounter) -> MediaHeader {
        var header = header
        header.sequence = UInt32(truncatingIfNeeded: counter.received)
        return header
    }

    private func admits(_ header: MediaHeader, isVideo: Bool) -> Bool {
        if limit?.admits(header, isVideo: isVideo) == false {
            if limit?.isReached == true { close(.normal) }
            return false
        }
        return true
    }

    // MARK: Any thread

    func close(_ reason: Bye.Reason) {
        let source = lock.withLock {
            isClosing = true
            return self.source
        }
        guardian.stop()
        source?.stop()
    }

    func applyWishes() {}
    func wakeUp() {}
    /// There is nobody who takes data.
    func sendData(_ message: LabeledData) -> Bool { false }

    /// Bytes, latency and losses are not known.
    var statistics: StudioStatistics {
        lock.withLock {
            var result = StudioStatistics()
            result.framesReceived = videoCounter.received
            result.framesDecoded = videoCounter.received
            result.framesPerSecond = videoCounter.packetsPerSecond
            result.audioPacketsReceived = audioCounter.received
            result.mediaSeconds = (videoCounter.received > 0 ? videoCounter : audioCounter).seconds
            (result.width, result.height) = size
            return result
        }
    }
}
