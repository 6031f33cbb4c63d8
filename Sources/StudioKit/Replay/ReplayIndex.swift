/// What a replay holds, oldest first, and where it can begin. A plain value; nothing is allocated after `init`.
///
/// Records have running numbers. They go out at the front in whole groups: from a *cut*, a record with which decoding can
/// begin, up to the next one. Only where there is no next cut do they go one by one.
struct ReplayIndex<Payload> {
    struct Record {
        /// Microseconds on the replay's own line.
        let position: Int64
        let isVideo: Bool
        let isCut: Bool
        let bytes: Int
        let payload: Payload
    }

    /// Sound can be begun with when no picture has come for so long.
    private static var pictureGap: Int64 { 2_500_000 }

    /// Microseconds that are kept at least, when there is room.
    let span: Int64
    private let byteLimit: Int
    private var ring: [Record?]
    /// The number of the oldest record.
    private(set) var first = 0
    private(set) var count = 0
    private(set) var bytes = 0
    /// The furthest position; nil when empty.
    private(set) var newest: Int64?
    private var lastPicture: Int64?
    /// The first cut behind `first`; nil: there is none yet.
    private var nextCut: Int?

    init(capacity: Int, span: Int64, byteLimit: Int) {
        ring = Array(repeating: nil, count: max(1, capacity))
        self.span = max(0, span)
        self.byteLimit = max(0, byteLimit)
    }

    /// Behind the newest record.
    var end: Int { first + count }

    /// Nil for a number that has gone or has not come yet.
    subscript(_ number: Int) -> Record? {
        number >= first && number < end ? ring[number % ring.count] : nil
    }

    /// Makes room, then takes the record in. False when it is larger than all that may be held.
    mutating func append(position: Int64, isVideo: Bool, isKey: Bool, bytes size: Int, payload: Payload) -> Bool {
        guard size >= 0, size <= byteLimit else { return false }
        while count == ring.count || (bytes > byteLimit - size && count > 0) { removeGroup() }
        let isCut = isVideo ? isKey : lastPicture.map { position &- $0 > Self.pictureGap } ?? true
        if isVideo { lastPicture = position }
        let number = end
        ring[number % ring.count] = Record(
            position: position, isVideo: isVideo, isCut: isCut, bytes: size, payload: payload)
        count += 1
        bytes += size
        newest = max(newest ?? position, position)
        if isCut && nextCut == nil && number > first { nextCut = number }
        trim()
        return true
    }

    /// The last cut at or before `position`, else the oldest; nil when there is none.
    func cut(atOrBefore position: Int64) -> Int? {
        var oldest: Int?
        for number in stride(from: end - 1, through: first, by: -1) {
            guard let record = self[number], record.isCut else { continue }
            if record.position <= position { return number }
            oldest = number
        }
        return oldest
    }

    /// The number of the oldest cut; nil when nothing could be decoded.
    var oldestCut: Int? { self[first]?.isCut == true ? first : nextCut }

    /// From the oldest cut to the newest record.
    var held: ClosedRange<Int64>? {
        guard let newest, let cut = oldestCut, let start = self[cut]?.position, start <= newest else { return nil }
        return start...newest
    }

    private mutating func trim() {
        guard let newest else { return }
        while let cut = nextCut, let start = self[cut]?.position, newest &- start >= span { remove(before: cut) }
        // A stream without key frames.
        while count > 1, nextCut == nil, let start = self[first]?.position, newest &- start > 2 &* span &+ 5_000_000 {
            remove(before: first + 1)
        }
    }

    private mutating func removeGroup() { remove(before: nextCut ?? first + 1) }

    private mutating func remove(before number: Int) {
        while first < number && count > 0 {
            bytes -= ring[first % ring.count]?.bytes ?? 0
            ring[first % ring.count] = nil
            first += 1
            count -= 1
        }
        guard let cut = nextCut, cut <= first else { return }
        nextCut = nil
        var candidate = first + 1
        while candidate < end {
            if self[candidate]?.isCut == true {
                nextCut = candidate
                return
            }
            candidate += 1
        }
    }
}
