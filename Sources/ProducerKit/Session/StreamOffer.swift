import GantryCore

/// The streams that a run can send, and which of them are offered now. A plain value.
struct StreamOffer {
    /// All of the configuration, and the one for data.
    private(set) var all: [StreamDescription]
    private var ended: Set<MediaKind>

    init(_ configuration: ProducerConfiguration, ended: Set<MediaKind>, now: MediaTimestamp) {
        self.ended = ended
        all = []
        if let video = configuration.video {
            all.append(
                StreamDescription(
                    channel: Channels.video, kind: .video, codec: video.coded?.codec ?? .h264,
                    source: video.sourceType.wireValue, created: now, name: DisplayName(video.sourceName).text))
        }
        if let audio = configuration.audio {
            all.append(
                StreamDescription(
                    channel: Channels.audio, kind: .audio, codec: .opus, source: .custom, created: now,
                    name: DisplayName(audio.sourceName).text))
        }
        all.append(
            StreamDescription(
                channel: Channels.data, kind: .data, codec: nil, source: .custom, created: now, name: "data"))
    }

    /// Those that studios are told of.
    var streams: [StreamDescription] { all.filter { !ended.contains($0.kind) } }

    func offers(_ kind: MediaKind) -> Bool { !ended.contains(kind) && all.contains { $0.kind == kind } }

    /// A stream that begins is a new one, created now.
    ///
    /// - Returns: what studios are to be told; nil: it is so already, or there is no such stream.
    mutating func set(_ kind: MediaKind, isOffered: Bool, now: MediaTimestamp) -> Streams? {
        guard let index = all.firstIndex(where: { $0.kind == kind }), offers(kind) != isOffered else { return nil }
        if isOffered {
            ended.remove(kind)
            all[index].created = now
            return Streams(added: [all[index]])
        }
        ended.insert(kind)
        return Streams(removed: [all[index].channel])
    }
}
