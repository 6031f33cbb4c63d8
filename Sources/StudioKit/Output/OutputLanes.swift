import GantryCore

/// The outputs of a session, each that may block behind a thread of its own.
struct OutputLanes: Sendable {
    let video: [any VideoOutput]
    let audio: [any AudioOutput]
    let packets: [any PacketOutput]

    init(_ configuration: StudioSessionConfiguration) {
        video = configuration.videoOutputs.map { $0.returnsAtOnce ? $0 : LaneVideoOutput($0) }
        audio = configuration.audioOutputs.map { $0.returnsAtOnce ? $0 : LaneAudioOutput($0) }
        packets = configuration.packetOutputs.map { $0.returnsAtOnce ? $0 : LanePacketOutput($0) }
    }

    /// Again after it has thrown.
    ///
    /// - Throws: `general` when the system gives no thread.
    func start() throws(GantryError) {
        for case let output as LaneVideoOutput in video { try output.start() }
        for case let output as LaneAudioOutput in audio { try output.start() }
        for case let output as LanePacketOutput in packets { try output.start() }
    }

    /// Nothing more will come for any of them. Does not wait.
    func beginEnd() {
        let all: [any StudioOutput] = video + audio + packets
        for output in all { (output as? any EndingOutput)?.beginEnd() }
    }

    /// Pictures, decoded or coded, that an output was too slow for, once for each such output. Any thread.
    var framesDropped: Int {
        video.reduce(0) { $0 + (($1 as? LaneVideoOutput)?.droppedCount ?? 0) }
            + packets.reduce(0) { $0 + (($1 as? LanePacketOutput)?.framesDropped ?? 0) }
    }
}
