/// A unit that is being put together.
struct OpenUnit {
    var isOpen = false
    var number: UInt32 = 0
    /// Extended sequence number of its first packet.
    var first: Int64 = 0
    var total = 0
    var data = 0
    /// Media packets that are there.
    var present = 0
    /// The sink has been told of its arrival.
    var isTold = false
    var firstSeen = MediaTimestamp(microseconds: 0)
    var lastArrival = MediaTimestamp(microseconds: 0)

    var end: Int64 { first + Int64(total) }
    var isComplete: Bool { isOpen && present == data }

    init() {}

    init(_ tag: UnitTag, first: Int64, now: MediaTimestamp) {
        isOpen = true
        number = tag.unit
        self.first = first
        total = Int(tag.total)
        data = Int(tag.data)
        firstSeen = now
        lastArrival = now
    }

    /// Whether a further packet says the same of the unit.
    func agrees(with tag: UnitTag, first: Int64) -> Bool {
        number == tag.unit && self.first == first && total == Int(tag.total) && data == Int(tag.data)
    }
}
