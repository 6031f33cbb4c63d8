/// The sending end of one media stream over datagrams: cuts units into packets, adds parity, keeps what was sent so that it can
/// be sent again. No clock, no socket: the owner sends what `next` gives. All memory is made at the beginning.
///
/// One thread, except where it says otherwise.
package final class StreamSender {
    package let source: UInt32
    private let isVideo: Bool
    private let payload: Int
    private let code: any ErasureCode
    private let protection: any PacketProtection
    private let window: Int
    private let memory: UnsafeMutableRawBufferPointer
    private let symbols: UnsafeMutableRawBufferPointer
    /// Bytes of each packet as it is sent, by extended sequence number modulo `window`.
    private var sizes: [UInt16]
    /// How often each was asked for.
    private var requests: [UInt8]

    /// Extended sequence number of the next packet to be made, and of the next to be sent.
    private var made: Int64 = 1
    private var sent: Int64 = 1
    private var unit: UInt32 = 0
    /// Packets before this one are gone, or are being written over.
    private var oldest: Int64 = 1

    /// Packets to be sent again, oldest first.
    private var again: [Int64]
    private var againHead = 0
    private var againCount = 0

    package private(set) var packetsSent = 0
    package private(set) var packetsSentAgain = 0

    /// - Parameter payload: bytes of UDP payload that the path takes.
    package init(
        source: UInt32, isVideo: Bool, payload: Int, code: any ErasureCode, protection: any PacketProtection
    ) {
        self.source = source
        self.isVideo = isVideo
        self.payload = min(payload, DatagramLimits.largestPayload) - DatagramLimits.protection
        self.code = code
        self.protection = protection
        window = isVideo ? DatagramLimits.videoWindow : DatagramLimits.audioWindow
        memory = .allocate(byteCount: window * DatagramLimits.packetCapacity, alignment: 16)
        symbols = .allocate(
            byteCount: (DatagramLimits.blockData + DatagramLimits.blockParity) * DatagramLimits.packetCapacity,
            alignment: 32)
        sizes = Array(repeating: 0, count: window)
        requests = Array(repeating: 0, count: window)
        again = Array(repeating: 0, count: DatagramLimits.requestedPackets)
    }

    deinit {
        memory.deallocate()
        symbols.deallocate()
    }

    private func slot(_ sequence: Int64) -> Int { Int(truncatingIfNeeded: sequence) & (window - 1) }
    private func packet(_ sequence: Int64) -> UnsafeMutableRawBufferPointer {
        memory.part(slot(sequence) * DatagramLimits.packetCapacity, DatagramLimits.packetCapacity)
    }

    /// Room for media in a packet; parity packets are three bytes longer than what they protect.
    private func room(isFirst: Bool) -> Int {
        isFirst ? payload - MediaDatagram.firstPrefix : payload - MediaDatagram.plainPrefix - ParitySymbol.extra
    }

    /// The largest sound packet that fits.
    package var largestSound: Int { room(isFirst: true) }

    /// Packets of a unit. Less than half of the window, so that what waits and what is being made have room.
    private var largestUnit: Int { min(DatagramLimits.unitPackets, window / 2) }

    /// Bytes that wait to be sent for the first time.
    package private(set) var backlog = 0

    /// Of the newest packet that was sent.
    package var highest: UInt32 { UInt32(truncatingIfNeeded: sent - 1) }
    package var hasSent: Bool { sent > 1 }

    // MARK: Making packets

    /// Makes the packets of a unit: an access unit in Annex B form, or an Opus packet. False when it is empty, too large, or too
    /// much waits: nothing of it will be sent.
    package func push(_ bytes: UnsafeRawBufferPointer, _ header: MediaHeader, loss: Double) -> Bool {
        let first = made
        oldest = max(oldest, first + Int64(largestUnit - window))
        let data = isVideo ? cutVideo(bytes, from: first) : cutSound(bytes, at: first)
        guard data > 0 else { return false }
        let plan = ParityPlan(data: data, loss: loss)
        guard plan.total <= largestUnit, Int(first - sent) < window - largestUnit else { return false }
        spread(plan, from: first)
        finish(plan, from: first, header)
        unit &+= 1
        return true
    }

    /// Payloads go to where they stand in a packet; `sizes` holds their lengths for now. Returns how many.
    private func cutVideo(_ bytes: UnsafeRawBufferPointer, from first: Int64) -> Int {
        guard bytes.count <= DatagramLimits.largestUnit else { return 0 }
        var cutter = H264Packetizer(bytes)
        var count = 0
        while !cutter.isFinished {
            guard count < largestUnit else { return 0 }
            let sequence = first + Int64(count)
            let prefix = MediaDatagram.prefix(isFirst: count == 0)
            let size = cutter.next(into: packet(sequence).part(prefix, room(isFirst: count == 0)))
            guard size > 0 else { return 0 }
            sizes[slot(sequence)] = UInt16(truncatingIfNeeded: size)
            count += 1
        }
        return count
    }

    private func cutSound(_ bytes: UnsafeRawBufferPointer, at first: Int64) -> Int {
        guard bytes.count > 0, bytes.count <= largestSound else { return 0 }
        packet(first).part(MediaDatagram.firstPrefix, bytes.count).copyMemory(from: bytes)
        sizes[slot(first)] = UInt16(truncatingIfNeeded: bytes.count)
        return 1
    }

    /// Moves data packets apart, last first, so that each block's parity has its place behind it.
    private func spread(_ plan: ParityPlan, from first: Int64) {
        var read = first + Int64(plan.data)
        var write = first + Int64(plan.total)
        for block in stride(from: plan.blocks - 1, through: 0, by: -1) {
            write -= Int64(plan.blockParity(block))
            for _ in 0..<plan.blockData(block) {
                read -= 1
                write -= 1
                guard read != write else { continue }
                packet(write).copyMemory(from: UnsafeRawBufferPointer(packet(read)))
                sizes[slot(write)] = sizes[slot(read)]
            }
        }
    }

    private func finish(_ plan: ParityPlan, from first: Int64, _ header: MediaHeader) {
        let timestamp = timestamp(header.presentationTime)
        var sequence = first
        for block in 0..<plan.blocks {
            let data = plan.blockData(block)
            let parity = plan.blockParity(block)
            let isLast = block == plan.blocks - 1
            for position in 0..<data + parity {
                let index = Int(sequence - first)
                let isParity = position >= data
                let tag = UnitTag(
                    unit: unit, index: UInt16(truncatingIfNeeded: index),
                    total: UInt16(truncatingIfNeeded: plan.total),
                    data: UInt16(truncatingIfNeeded: plan.data), position: UInt8(truncatingIfNeeded: position),
                    blockData: UInt8(truncatingIfNeeded: data), blockParity: UInt8(truncatingIfNeeded: parity))
                let rtp = RTPHeader(
                    hasExtension: true, marker: isVideo && isLast && position == data - 1, payloadType: type(isParity),
                    sequence: UInt16(truncatingIfNeeded: sequence), timestamp: timestamp, source: source)
                MediaDatagram.write(rtp, tag, index == 0 ? UnitHeader(header) : nil, to: packet(sequence))
                sequence += 1
            }
            let start = sequence - Int64(data + parity)
            addParity(start, data: data, parity: parity, hasFirst: start == first)
            complete(start, count: data + parity, hasFirst: start == first)
        }
    }

    private func type(_ isParity: Bool) -> UInt8 {
        isParity
            ? DatagramLimits.parityPayloadType
            : isVideo ? DatagramLimits.h264PayloadType : DatagramLimits.opusPayloadType
    }

    /// 90 kHz for video (RFC 6184 section 5.1), 48 kHz for Opus (RFC 7587 section 4.1).
    private func timestamp(_ time: MediaTimestamp) -> UInt32 {
        let ticks = isVideo ? time.microseconds / 100 &* 9 : time.microseconds / 125 &* 6
        return UInt32(truncatingIfNeeded: ticks)
    }

    private func addParity(_ start: Int64, data: Int, parity: Int, hasFirst: Bool) {
        guard parity > 0 else { return }
        let stride = DatagramLimits.packetCapacity
        var size = 0
        for position in 0..<data {
            let sequence = start + Int64(position)
            let written = ParitySymbol.write(
                UnsafeRawBufferPointer(packet(sequence)), payload: Int(sizes[slot(sequence)]),
                isFirst: hasFirst && position == 0, to: symbols.part(position * stride, stride))
            size = max(size, written)
        }
        for position in 0..<data { ParitySymbol.pad(symbols.part(position * stride, stride), to: size) }
        _ = code.encode(symbols, stride: stride, size: size, data: data, parity: parity)
        for position in data..<data + parity {
            let sequence = start + Int64(position)
            packet(sequence).part(MediaDatagram.plainPrefix, size).copyMemory(
                from: UnsafeRawBufferPointer(symbols.part(position * stride, size)))
            sizes[slot(sequence)] = UInt16(truncatingIfNeeded: size)
        }
    }

    /// `sizes` are those of whole packets from now on.
    private func complete(_ start: Int64, count: Int, hasFirst: Bool) {
        for sequence in start..<start + Int64(count) {
            let index = slot(sequence)
            let size = MediaDatagram.prefix(isFirst: hasFirst && sequence == start) + Int(sizes[index])
            sizes[index] = UInt16(truncatingIfNeeded: size)
            requests[index] = 0
            backlog += size
        }
        made = start + Int64(count)
    }

    // MARK: Sending

    /// The receiver lacks a packet: it goes again, twice when it was asked for before. What was never sent, or is gone, is passed
    /// over.
    package func requested(_ sequence: UInt16) {
        let highest = sent - 1
        let behind = UInt16(truncatingIfNeeded: highest) &- sequence
        let full = highest - Int64(behind)
        guard full >= oldest else { return }
        let index = slot(full)
        let isRepeated = requests[index] > 0
        if requests[index] < 255 { requests[index] += 1 }
        // Somebody who asks for the same thing for ever gets nothing.
        guard requests[index] < 50 else { return }
        for _ in 0..<(isRepeated ? 2 : 1) where againCount < again.count {
            again[(againHead + againCount) % again.count] = full
            againCount += 1
        }
    }

    /// The next packet to be sent; nil when nothing waits. Repeated ones come first. Valid until the next `push`.
    package func next() -> UnsafeRawBufferPointer? {
        while againCount > 0 {
            let sequence = again[againHead]
            againHead = (againHead + 1) % again.count
            againCount -= 1
            guard sequence >= oldest, sizes[slot(sequence)] > 0 else { continue }
            packetsSentAgain += 1
            return whole(sequence)
        }
        while sent < made {
            let sequence = sent
            sent += 1
            let index = slot(sequence)
            backlog -= Int(sizes[index])
            // Only now: the first packets of a large unit are on their way while the last ones are encrypted.
            let size = protection.protect(packet(sequence), count: Int(sizes[index])) ?? 0
            sizes[index] = UInt16(truncatingIfNeeded: size)
            guard size > 0 else { continue }
            packetsSent += 1
            return whole(sequence)
        }
        return nil
    }

    package var hasMore: Bool { againCount > 0 || sent < made }

    private func whole(_ sequence: Int64) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(packet(sequence).part(0, Int(sizes[slot(sequence)])))
    }
}
