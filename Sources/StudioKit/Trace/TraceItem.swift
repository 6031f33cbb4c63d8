import GantryCore

/// What the threads of a session hand to the thread of the trace. Values alone: nothing is allocated for a picture.
enum TraceItem: Sendable {
    struct Packet: Sendable {
        var header: MediaHeader
        var arrival: MediaTimestamp
        var bytes: Int
    }

    struct Picture: Sendable {
        var presentation: MediaTimestamp
        var arrival: MediaTimestamp
        var decoded: MediaTimestamp
        var output: MediaTimestamp
        /// Producer's clock minus ours.
        var offset: MediaDuration
    }

    case video(Packet)
    case sound(Packet)
    case picture(Picture)
    case lipSync(SkewMeter.Pair, MediaTimestamp)
    case event(StudioEvent, MediaTimestamp)
    case producer(sent: Int, skipped: Int, MediaTimestamp)
}
