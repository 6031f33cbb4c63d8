import GantryCore
import GantryMedia
import GantryPlatform

/// Codes decoded media as H.264 and Opus for outputs that take packets, while there are such outputs or a replay is armed.
/// One thread. What cannot be coded is left out, which is logged once.
final class PacketMaker {
    private static let keyFrameInterval = MediaDuration.seconds(2)

    private let outputs: [any PacketOutput]
    /// Those that have use for packets only while they want key frames.
    private let resting: [any PacketOutput]
    private let videoPackets = ReusePool<MediaPacket>(capacity: 320) { MediaPacket() }
    private let audioPackets = ReusePool<MediaPacket>(capacity: 640) { MediaPacket(capacity: 1500) }
    private var rate = FrameRate.fps30
    private var encoder: H264Encoder?
    private var size = (width: 0, height: 0)
    private var color = ColorDescription.bt709
    private var opus: OpusAudioEncoder?
    private var packetizer: AudioPacketizer?
    private var epoch: UInt16 = 0
    private var sequences = (video: UInt32(0), audio: UInt32(0))
    private var nextKeyFrame = MediaTimestamp(microseconds: 0)
    private var hasFailed = false

    init(_ outputs: [any PacketOutput]) {
        self.outputs = outputs
        resting = outputs.filter { $0 is Replay || $0 is any RestingPacketOutput }
    }

    /// Of the sound that outputs get; nil before `begin`, and without sound.
    var audioFormat: AudioStreamFormat? { opus?.format }

    /// What will come.
    func begin(video: MediaSourceInfo.Video?, audio: Bool) {
        if audio {
            do throws(GantryError) {
                let encoder = try OpusAudioEncoder()
                opus = encoder
                packetizer = AudioPacketizer(
                    samplesPerPacket: encoder.format.samplesPerPacket, lookahead: encoder.lookahead)
            } catch {
                failed(error)
            }
        }
        for output in outputs { output.expect(video: video != nil, audio: opus != nil) }
        if let opus { for output in outputs { output.formatChanged(.audio(opus.format), epoch: 1) } }
        if let video { rate = video.frameRate }
    }

    private var isWanted: Bool {
        !hasFailed && (outputs.count > resting.count || resting.contains { $0.wantsRegularKeyFrames })
    }

    func add(_ picture: Picture) {
        guard isWanted else {
            encoder = nil
            return
        }
        guard let packet = videoPackets.take() else { return }
        do throws(GantryError) {
            let encoder = try prepared(for: picture)
            let isDue = picture.arrivalTime >= nextKeyFrame || outputs.contains { $0.awaitsKeyFrame }
            try encoder.encode(picture, forceKey: isDue, into: packet)
            if packet.header.isKey { nextKeyFrame = picture.arrivalTime + Self.keyFrameInterval }
            packet.header.sequence = sequences.video
            packet.header.epoch = epoch
            sequences.video &+= 1
            deliver(packet)
        } catch {
            failed(error)
        }
    }

    func add(_ block: AudioBlock) {
        guard isWanted, let opus, let packetizer else { return }
        do throws(GantryError) {
            try packetizer.append(block) { samples, presentation, capture throws(GantryError) in
                guard let packet = audioPackets.take() else { return }
                try opus.encode(samples, frames: opus.format.samplesPerPacket, into: packet)
                packet.header.sequence = sequences.audio
                packet.header.epoch = 1
                packet.header.presentationTime = presentation
                packet.header.captureTime = capture
                packet.arrivalTime = MonotonicClock.now()
                sequences.audio &+= 1
                deliver(packet)
            }
        } catch {
            failed(error)
        }
    }

    private func deliver(_ packet: MediaPacket) {
        let coded = CodedPacket(packet)
        for output in outputs { output.receive(coded) }
    }

    private func prepared(for picture: Picture) throws(GantryError) -> H264Encoder {
        let (width, height) = (picture.width & ~1, picture.height & ~1)
        if let encoder, size == (width, height), color == picture.color { return encoder }
        let encoder = try H264Encoder(
            configuration: H264EncoderConfiguration(
                width: width, height: height, frameRate: rate, color: picture.color))
        self.encoder = encoder
        size = (width, height)
        color = picture.color
        epoch &+= 1
        let format = VideoStreamFormat(
            codec: .h264, width: width, height: height, frameRate: rate, color: picture.color,
            parameterSets: encoder.parameterSets)
        for output in outputs { output.formatChanged(.video(format), epoch: epoch) }
        return encoder
    }

    private func failed(_ error: GantryError) {
        guard !hasFailed else { return }
        hasFailed = true
        Log.warning("What comes cannot be recorded, or shown again: \(error)")
    }
}
