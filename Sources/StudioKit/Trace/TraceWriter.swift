import GantryCore
import GantryMedia

/// Joins what is known of each picture, and writes the lines. One thread.
struct TraceWriter {
    /// Pictures that came and are not decoded yet. A decoder that shows pictures in another order than they came (those of
    /// some cameras) is this far behind at most.
    private static let longestWait = 16

    private let file: OutputFile
    private var waiting: [TraceItem.Packet] = []
    private var sound = SoundGapDetector()
    private var offset = MediaDuration.zero

    init(_ file: OutputFile) throws(GantryError) {
        self.file = file
        var line = TraceLine("begin")
        line.add("version", 1)
        line.add("unit", "microseconds")
        try file.write(line.line)
    }

    mutating func write(_ item: TraceItem) throws(GantryError) {
        switch item {
        case .video(let packet):
            waiting.append(packet)
            if waiting.count > Self.longestWait { try write(waiting.removeFirst(), nil) }
        case .sound(let packet):
            if let gap = sound.add(packet.header, arrived: packet.arrival) { try write(gap) }
        case .picture(let picture):
            offset = picture.offset
            let place = waiting.firstIndex {
                $0.header.presentationTime == picture.presentation && $0.arrival == picture.arrival
            }
            guard let place else { return }
            try write(waiting.remove(at: place), picture)
        case .lipSync(let pair, let time):
            var line = TraceLine("lipSync")
            line.add("time", time)
            line.add("pts", pair.flash)
            line.add("skew", pair.skew)
            line.add("apart", pair.apart)
            try file.write(line.line)
        case .event(let event, let time):
            if case .connected = event { sound.restart() }
            guard let line = Self.line(event, time) else { return }
            try file.write(line.line)
        case .producer(let sent, let skipped, let time):
            var line = TraceLine("producer")
            line.add("time", time)
            line.add("sent", sent)
            line.add("skipped", skipped)
            try file.write(line.line)
        }
    }

    /// - Parameter unwritten: what found no room in the queue.
    mutating func finish(unwritten: Int) throws(GantryError) {
        while !waiting.isEmpty { try write(waiting.removeFirst(), nil) }
        if let gap = sound.finish() { try write(gap) }
        var line = TraceLine("end")
        line.add("unwritten", unwritten)
        try file.write(line.line)
    }

    /// - Parameter picture: nil when it was never decoded.
    private func write(_ packet: TraceItem.Packet, _ picture: TraceItem.Picture?) throws(GantryError) {
        var line = TraceLine("picture")
        line.add("sequence", Int(packet.header.sequence))
        line.add("pts", packet.header.presentationTime)
        line.add("capture", packet.header.captureTime)
        line.add("arrival", packet.arrival)
        line.add("decoded", picture?.decoded)
        line.add("output", picture?.output)
        line.add("offset", offset)
        line.add("latency", picture.map { ($0.output - packet.header.captureTime) + offset })
        line.add("bytes", packet.bytes)
        line.add("key", packet.header.isKey)
        try file.write(line.line)
    }

    private func write(_ gap: SoundGapDetector.Gap) throws(GantryError) {
        var line = TraceLine("soundGap")
        line.add("time", gap.time)
        line.add("silence", gap.silence)
        line.add("late", gap.packetsLate)
        line.add("lost", gap.packetsLost)
        try file.write(line.line)
    }

    /// Nil for what has no meaning in a trace.
    private static func line(_ event: StudioEvent, _ time: MediaTimestamp) -> TraceLine? {
        var line = TraceLine("event")
        line.add("time", time)
        switch event {
        case .connected(_, let address, _):
            line.add("event", "connected")
            line.add("address", address)
        case .format(.video(let video)):
            line.add("event", "format")
            line.add("width", video.width)
            line.add("height", video.height)
        case .rate(let rate):
            line.add("event", "rate")
            line.add("bitrate", rate.bitrate)
            if let frameRate = rate.frameRate { line.add("fps", Int(frameRate.framesPerSecond.rounded())) }
            line.add("step", rate.step)
        case .videoState(let status):
            line.add("event", "videoState")
            line.add("state", "\(status.state)")
            line.add("reason", "\(status.reason)")
        case .paused: line.add("event", "paused")
        case .resumed: line.add("event", "resumed")
        case .disconnected(let error):
            line.add("event", "disconnected")
            if let error { line.add("error", error.message) }
        case .decodingFailed(let error):
            line.add("event", "decodingFailed")
            line.add("error", error.message)
        case .stoppedHere(let media):
            line.add("event", "stoppedHere")
            line.add("video", media.contains(.video))
            line.add("audio", media.contains(.audio))
        case .replay(let behind):
            line.add("event", "replay")
            line.add("behind", behind)
        case .connecting, .discoveryUnavailable, .paired, .streams, .playbackStopped, .player, .format(.audio),
            .firstFrame, .ended:
            return nil
        }
        return line
    }
}
