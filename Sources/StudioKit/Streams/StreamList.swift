import GantryCore

/// The streams of a session's connection. A plain value; each method gives nil where nothing has changed.
struct StreamList {
    private(set) var streams: [StreamInfo] = []

    /// The producer adds and removes; one that is added on a channel that is there replaces that.
    mutating func change(added: [StreamInfo], removed: Set<Int>) -> StreamChange? {
        var change = StreamChange()
        let gone = removed.union(added.map(\.channel))
        change.destroyed = streams.filter { gone.contains($0.channel) }
        streams.removeAll { gone.contains($0.channel) }
        for stream in added where !streams.contains(where: { $0.channel == stream.channel }) {
            streams.append(stream)
            change.created.append(stream)
        }
        streams.sort { $0.channel < $1.channel }
        change.streams = streams
        return change.created.isEmpty && change.destroyed.isEmpty ? nil : change
    }

    mutating func formatChanged(_ format: StreamFormat, channel: Int) -> StreamChange? {
        guard let index = streams.firstIndex(where: { $0.channel == channel }), streams[index].format != format else {
            return nil
        }
        streams[index].format = format
        return StreamChange(streams: streams, changed: [streams[index]])
    }

    /// The connection has ended, and all streams with it.
    mutating func removeAll() -> StreamChange? { change(added: [], removed: Set(streams.map(\.channel))) }
}
