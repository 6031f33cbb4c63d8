extension StreamReceiver {
    /// Fills `list` with the extended sequence numbers, ascending, of packets to be asked for now; at most
    /// `DatagramLimits.requestedPackets` less what is in it.
    package func collectRequests(into list: inout [Int64], now: MediaTimestamp) {
        guard hasGaps else { return }
        var sequence = floor
        while sequence <= highest, list.count < DatagramLimits.requestedPackets {
            if isDue(sequence, now: now) {
                let place = slot(sequence)
                if slots[place].asked == 0 { slots[place].firstAskedAt = now }
                slots[place].asked += 1
                slots[place].askedAt = now
                noteRequest()
                list.append(sequence)
            }
            sequence += 1
        }
    }

    private func isDue(_ sequence: Int64, now: MediaTimestamp) -> Bool {
        let slot = slots[slot(sequence)]
        guard !slot.isPresent, slot.asked < 40 else { return false }
        if slot.asked > 0 { return now - slot.askedAt >= timing.again && isNeeded(sequence, now: now) }
        return now - slot.missedAt >= timing.patience && isNeeded(sequence, now: now)
    }

    /// Not for parity, not in units that are whole, and not yet when the rest of the block may make it unnecessary.
    private func isNeeded(_ sequence: Int64, now: MediaTimestamp) -> Bool {
        guard let unit = units.first(where: { $0.isOpen && $0.first <= sequence && sequence < $0.end }) else {
            return true
        }
        if unit.isComplete { return false }
        guard let tag = neighbour(of: sequence, in: unit) else { return true }
        let position = Int(sequence - unit.first) - tag.blockStart
        if position >= Int(tag.blockData) { return false }
        let isStillComing =
            unit.first + Int64(tag.blockEnd) - 1 > highest && now - unit.lastArrival < RequestTiming.tail
        return tag.blockParity == 0 || !isStillComing
    }

    /// The tag of a packet of the same block.
    private func neighbour(of sequence: Int64, in unit: OpenUnit) -> UnitTag? {
        let index = Int(sequence - unit.first)
        let reach = Int64(DatagramLimits.blockData + DatagramLimits.blockParity)
        for other in stride(from: sequence - 1, through: max(unit.first, sequence - reach), by: -1)
        where slots[slot(other)].isPresent {
            let tag = slots[slot(other)].tag
            if tag.blockEnd > index { return tag }
            break
        }
        let last = min(unit.end - 1, highest, sequence + reach)
        for other in stride(from: sequence + 1, through: last, by: 1) where slots[slot(other)].isPresent {
            let tag = slots[slot(other)].tag
            return tag.blockStart <= index ? tag : nil
        }
        return nil
    }

    /// Every report.
    package func calmDown() { timing.calmDown() }
}
