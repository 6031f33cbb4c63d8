/// The receiving end of one media stream over datagrams: puts packets in order, repairs with parity, says what to ask for again, and
/// hands whole units on in their order. No clock, no socket. All memory is made at the beginning; whatever a peer sends, it stays
/// so large.
///
/// One thread.
package final class StreamReceiver {
    package let source: UInt32
    let isVideo: Bool
    private let code: any ErasureCode
    private let window: Int
    private let patience: MediaDuration
    private let memory: UnsafeMutableRawBufferPointer
    private let scratch: UnsafeMutableRawBufferPointer
    private var scratchPresent: [Bool]
    var slots: [PacketSlot]
    var units: [OpenUnit]

    /// Everything before this extended sequence number is done with. Senders begin with 1.
    var floor: Int64 = 1
    /// The newest that has come, or is known to have been sent.
    var highest: Int64 = 0
    /// The newest that has come.
    private var arrived: Int64 = 0
    private var nextUnit: UInt32 = 0
    /// Empty slots from `floor` to `highest`.
    private var gaps = 0
    var timing = RequestTiming()
    private var jitter = JitterEstimator()

    package private(set) var statistics = StreamStatistics()
    private var reported = StreamStatistics()
    private var reportedHighest: Int64 = 0

    package init(source: UInt32, isVideo: Bool, code: any ErasureCode) {
        self.source = source
        self.isVideo = isVideo
        self.code = code
        window = isVideo ? DatagramLimits.videoWindow : DatagramLimits.audioWindow
        patience = isVideo ? DatagramLimits.videoPatience : DatagramLimits.audioPatience
        let block = DatagramLimits.blockData + DatagramLimits.blockParity
        memory = .allocate(byteCount: window * DatagramLimits.packetCapacity, alignment: 16)
        scratch = .allocate(byteCount: block * DatagramLimits.packetCapacity, alignment: 32)
        scratchPresent = Array(repeating: false, count: block)
        slots = Array(repeating: PacketSlot(), count: window)
        units = Array(repeating: OpenUnit(), count: DatagramLimits.openUnits)
    }

    deinit {
        memory.deallocate()
        scratch.deallocate()
    }

    func slot(_ sequence: Int64) -> Int { Int(truncatingIfNeeded: sequence) & (window - 1) }
    private func symbol(_ sequence: Int64) -> UnsafeMutableRawBufferPointer {
        memory.part(slot(sequence) * DatagramLimits.packetCapacity, DatagramLimits.packetCapacity)
    }
    private func index(_ unit: UInt32) -> Int { Int(unit) % units.count }

    // MARK: Packets come

    /// Takes a packet in, already authenticated and decrypted. What is no packet of this stream, late or twice there is counted and
    /// dropped.
    package func receive(_ bytes: UnsafeRawBufferPointer, now: MediaTimestamp, sink: any StreamSink) {
        guard let packet = MediaDatagram(bytes), packet.header.source == source,
            bytes.count - packet.payloadOffset <= DatagramLimits.largestPayload,
            packet.payloadOffset < bytes.count
        else {
            statistics.invalid += 1
            return
        }
        let step = Int16(bitPattern: packet.header.sequence &- UInt16(truncatingIfNeeded: highest))
        let sequence = highest + Int64(step)
        let first = sequence - Int64(packet.tag.index)
        guard first >= floor else {
            if sequence <= highest, note(sequence, now: now) {
                statistics.late += 1
            } else {
                statistics.duplicates += 1
            }
            return
        }
        if !isInReach(packet.tag, first) { leaveOut(until: packet.tag, first, sink) }
        guard let unit = openUnit(packet.tag, first: first, now: now) else {
            statistics.invalid += 1
            return
        }
        advance(to: sequence, now: now)
        guard note(sequence, now: now), !slots[slot(sequence)].isPresent else {
            statistics.duplicates += 1
            return
        }
        units[unit].lastArrival = now
        store(bytes, packet, at: sequence)
        if let header = packet.unitHeader?.media { jitter.add(sent: header.captureTime, arrived: now) }
        if !packet.tag.isParity { sink.mediaArrived(bytes: bytes.count - packet.payloadOffset) }
        repair(sequence, unit)
        let isEnd = units[unit].isComplete || packet.tag.index == packet.tag.total - 1
        if isEnd, !units[unit].isTold, slots[slot(sequence)].asked == 0, let header = header(of: units[unit]) {
            units[unit].isTold = true
            sink.unitArrived(header, now: now)
        }
        deliver(now: now, sink: sink)
    }

    private func isInReach(_ tag: UnitTag, _ first: Int64) -> Bool {
        tag.unit &- nextUnit < UInt32(units.count) && first + Int64(tag.total) - floor <= Int64(window)
    }

    /// Everything before a unit that is too far ahead is given up.
    private func leaveOut(until tag: UnitTag, _ first: Int64, _ sink: any StreamSink) {
        guard Int32(bitPattern: tag.unit &- nextUnit) > 0 else { return }
        for index in units.indices { units[index].isOpen = false }
        for index in slots.indices { slots[index] = PacketSlot() }
        statistics.unitsLost += 1
        nextUnit = tag.unit
        floor = first
        highest = first - 1
        gaps = 0
        sink.unitLost()
    }

    /// Nil when the packet contradicts what is known.
    private func openUnit(_ tag: UnitTag, first: Int64, now: MediaTimestamp) -> Int? {
        guard isInReach(tag, first) else { return nil }
        let place = index(tag.unit)
        if units[place].isOpen { return units[place].agrees(with: tag, first: first) ? place : nil }
        // Units lie one behind the other; none may reach into another.
        for unit in units where unit.isOpen && unit.first < first + Int64(tag.total) && first < unit.end { return nil }
        units[place] = OpenUnit(tag, first: first, now: now)
        return place
    }

    /// Slots up to `sequence` begin to be waited for.
    private func advance(to sequence: Int64, now: MediaTimestamp) {
        guard sequence > highest, sequence - floor < Int64(window) else { return }
        for missing in highest + 1...sequence {
            slots[slot(missing)] = PacketSlot()
            slots[slot(missing)].missedAt = now
        }
        gaps += Int(sequence - highest)
        highest = sequence
    }

    /// Counts a packet that comes for the first time, and learns from how it came. False when it came before.
    private func note(_ sequence: Int64, now: MediaTimestamp) -> Bool {
        let place = slot(sequence)
        guard sequence > highest - Int64(window), sequence >= 1, !slots[place].hasCome else { return false }
        slots[place].hasCome = true
        let slot = slots[place]
        if slot.asked == 0 {
            statistics.received += 1
            if sequence < arrived { timing.cameLate(by: now - slot.missedAt) }
        } else {
            // To which request it is the answer cannot be told. From the first one: too long a wait is mended by the next answer,
            // one that is too short asks for everything twice and never learns of it (RFC 6298 section 3).
            timing.answered(after: now - slot.firstAskedAt)
        }
        arrived = max(arrived, sequence)
        statistics.expected = Int(arrived)
        return true
    }

    /// The producer says what it has sent last: what has not come by then is missing.
    package func told(highest low: UInt32, now: MediaTimestamp) {
        let step = Int32(bitPattern: low &- UInt32(truncatingIfNeeded: highest))
        guard step > 0, step < Int32(window / 2) else { return }
        advance(to: highest + Int64(step), now: now)
    }

    private func store(_ bytes: UnsafeRawBufferPointer, _ packet: MediaDatagram, at sequence: Int64) {
        let place = slot(sequence)
        let payload = bytes.part(packet.payloadOffset, bytes.count - packet.payloadOffset)
        slots[place].isPresent = true
        slots[place].tag = packet.tag
        gaps -= 1
        let symbol = symbol(sequence)
        if packet.tag.isParity {
            symbol.copyMemory(from: payload)
            slots[place].size = payload.count
        } else {
            slots[place].size = ParitySymbol.write(
                payload,
                header: packet.unitHeader == nil ? nil : bytes.part(MediaDatagram.plainPrefix + 2, UnitHeader.size),
                to: symbol)
            units[index(packet.tag.unit)].present += 1
        }
    }

    // MARK: Repair

    private func repair(_ sequence: Int64, _ unit: Int) {
        let tag = slots[slot(sequence)].tag
        let data = Int(tag.blockData)
        let parity = Int(tag.blockParity)
        guard parity > 0, !units[unit].isComplete else { return }
        let start = sequence - Int64(tag.position)
        var there = 0
        var missing = 0
        var size = 0
        for position in 0..<data + parity {
            let slot = slots[slot(start + Int64(position))]
            // Slots beyond the newest packet hold what was there a round before.
            let isThere = start + Int64(position) <= highest && slot.isPresent
            // A block whose packets contradict each other is not repaired.
            if isThere, slot.tag.blockData != tag.blockData || Int(slot.tag.position) != position { return }
            scratchPresent[position] = isThere
            there += isThere ? 1 : 0
            missing += !isThere && position < data ? 1 : 0
            if isThere, position >= data {
                if size != 0, size != slot.size { return }
                size = slot.size
            }
        }
        guard missing > 0, there >= data, size > ParitySymbol.extra else { return }
        recover(start, data: data, parity: parity, size: size, tag)
    }

    private func recover(_ start: Int64, data: Int, parity: Int, size: Int, _ tag: UnitTag) {
        let stride = DatagramLimits.packetCapacity
        for position in 0..<data + parity where scratchPresent[position] {
            let from = start + Int64(position)
            let count = slots[slot(from)].size
            guard count <= size else { return }
            let room = scratch.part(position * stride, size)
            room.copyMemory(from: UnsafeRawBufferPointer(symbol(from).part(0, count)))
            UnsafeMutableRawBufferPointer(rebasing: room[count...]).initializeMemory(as: UInt8.self, repeating: 0)
        }
        guard
            code.recover(
                scratch, stride: stride, size: size, data: data, parity: parity, present: scratchPresent)
        else { return }
        advance(to: start + Int64(data) - 1, now: units[index(tag.unit)].lastArrival)
        for position in 0..<data where !scratchPresent[position] {
            let recovered = UnsafeRawBufferPointer(scratch.part(position * stride, size))
            let isFirst = tag.blockStart + position == 0
            guard let content = ParitySymbol.read(recovered, size: size), (content.header != nil) == isFirst else {
                statistics.invalid += 1
                continue
            }
            place(recovered, position, start, tag)
        }
    }

    private func place(_ recovered: UnsafeRawBufferPointer, _ position: Int, _ start: Int64, _ tag: UnitTag) {
        let sequence = start + Int64(position)
        let place = slot(sequence)
        guard !slots[place].isPresent else { return }
        symbol(sequence).copyMemory(from: recovered)
        slots[place].isPresent = true
        slots[place].size = recovered.count
        slots[place].tag = tag
        slots[place].tag.index = UInt16(truncatingIfNeeded: tag.blockStart + position)
        slots[place].tag.position = UInt8(truncatingIfNeeded: position)
        gaps -= 1
        units[index(tag.unit)].present += 1
        statistics.repaired += 1
    }

    // MARK: Units go on

    private func deliver(now: MediaTimestamp, sink: any StreamSink) {
        while units[index(nextUnit)].isComplete, units[index(nextUnit)].number == nextUnit {
            let unit = units[index(nextUnit)]
            guard let header = header(of: unit) else {
                abandon(unit, sink)
                continue
            }
            guard sink.unitBegins(header, now: now) else { return }
            statistics.units += 1
            sink.unitEnds(isWhole: pass(unit, to: sink))
            close(unit)
        }
    }

    private func header(of unit: OpenUnit) -> MediaHeader? {
        let size = slots[slot(unit.first)].size
        guard slots[slot(unit.first)].isPresent else { return nil }
        return ParitySymbol.read(UnsafeRawBufferPointer(symbol(unit.first)), size: size)?.header?.media
    }

    /// False when its content is broken.
    private func pass(_ unit: OpenUnit, to sink: any StreamSink) -> Bool {
        var video = H264Depacketizer()
        var passed = 0
        var sequence = unit.first
        while sequence < unit.end, passed < unit.data {
            defer { sequence += 1 }
            let slot = slots[slot(sequence)]
            guard slot.isPresent, !slot.tag.isParity else { continue }
            passed += 1
            guard let content = ParitySymbol.read(UnsafeRawBufferPointer(symbol(sequence)), size: slot.size) else {
                return false
            }
            if isVideo {
                guard video.consume(content.payload, { sink.unitContinues($0) }) else { return false }
            } else {
                sink.unitContinues(content.payload)
            }
        }
        return passed == unit.data && video.isComplete
    }

    private func abandon(_ unit: OpenUnit, _ sink: any StreamSink) {
        statistics.unitsLost += 1
        close(unit)
        sink.unitLost()
    }

    private func close(_ unit: OpenUnit) {
        units[index(unit.number)].isOpen = false
        nextUnit = unit.number &+ 1
        raiseFloor(to: unit.end)
    }

    private func raiseFloor(to new: Int64) {
        advance(to: new - 1, now: MediaTimestamp(microseconds: 0))
        while floor < new {
            if !slots[slot(floor)].isPresent { gaps -= 1 }
            slots[slot(floor)].isPresent = false
            floor += 1
        }
    }

    /// Does what time brings: gives up what does not come, and hands on what could not be taken before. Call it every millisecond
    /// or two while `isWaiting`.
    package func timeAdvanced(now: MediaTimestamp, sink: any StreamSink) {
        deliver(now: now, sink: sink)
        expectTails(now: now)
        while let oldest = oldestOpen, now - oldest.firstSeen > patience {
            let head = units[index(nextUnit)]
            if head.isOpen, head.number == nextUnit {
                guard !head.isComplete else { return }
                abandon(head, sink)
            } else {
                // Nothing of it ever came: on with what has.
                statistics.unitsLost += 1
                nextUnit = oldest.number
                raiseFloor(to: oldest.first)
                sink.unitLost()
            }
            deliver(now: now, sink: sink)
        }
    }

    /// The last packets of a unit have no later one that shows that they are missing.
    private func expectTails(now: MediaTimestamp) {
        for unit in units where unit.isOpen && !unit.isComplete && unit.end - 1 > highest {
            if now - unit.lastArrival >= RequestTiming.tail { advance(to: unit.end - 1, now: now - timing.patience) }
        }
    }

    private var oldestOpen: OpenUnit? {
        var oldest: OpenUnit?
        for unit in units where unit.isOpen {
            if let now = oldest, now.first <= unit.first { continue }
            oldest = unit
        }
        return oldest
    }

    /// Something is missing or could not be handed on: time matters.
    package var isWaiting: Bool { gaps > 0 || units.contains { $0.isOpen } }
    var hasGaps: Bool { gaps > 0 }

    func noteRequest() { statistics.requested += 1 }

    /// What has happened since the last call, for a receiver report (RFC 3550 section 6.4.1).
    package func report() -> ControlPacket.Report {
        let expected = arrived - reportedHighest
        let received = Int64(statistics.received - reported.received)
        reported = statistics
        reportedHighest = arrived
        let missing = max(0, expected - received)
        let clock: Int64 = isVideo ? 90 : 48
        return ControlPacket.Report(
            source: source, fractionLost: expected > 0 ? UInt8(clamping: missing * 256 / expected) : 0,
            lost: UInt32(truncatingIfNeeded: arrived - Int64(statistics.received)),
            highest: UInt32(truncatingIfNeeded: arrived),
            jitter: UInt32(clamping: jitter.jitter.microseconds * clock / 1000))
    }
}
