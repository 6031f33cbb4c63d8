import GantryCore
import GantryPlatform

/// What waits to be sent on one carrier: a bounded queue for each channel, served fragment by fragment in the order of
/// `SendScheduler`, so that a large key frame never delays sound by more than one fragment. Nothing is allocated for
/// media.
///
/// A plain value; the carrier guards it with its lock.
struct OutgoingQueue {
    enum Content {
        case bytes([UInt8])
        /// Stands behind the 22-byte media prefix made from its header.
        case packet(MediaPacket)
        /// Comes so often that it takes no memory of its own.
        case feedback(Feedback)

        var size: Int {
            switch self {
            case .bytes(let bytes): bytes.count
            case .packet(let packet): MediaPrefix.size + packet.count
            case .feedback(let feedback): feedback.encodedSize
            }
        }
    }

    /// A message that is being sent; its writer knows how far it is.
    private struct Message {
        let content: Content
        var writer: FragmentWriter
    }

    /// First in, first out, in memory that is there from the first message on.
    private struct Ring {
        var messages: [Message?] = []
        var head = 0
        var count = 0
        var bytes = 0

        mutating func push(_ message: Message, capacity: Int) -> Bool {
            if messages.isEmpty { messages = Array(repeating: nil, count: capacity) }
            guard count < messages.count else { return false }
            messages[(head + count) % messages.count] = message
            count += 1
            bytes += message.content.size
            return true
        }

        mutating func removeFirst() {
            messages[head] = nil
            head = (head + 1) % messages.count
            count -= 1
        }

        /// All packets but one whose first fragment has left.
        mutating func removeWaitingPackets() {
            while count > 0 {
                let index = (head + count - 1) % messages.count
                guard let message = messages[index], case .packet = message.content, message.writer.offset == 0 else {
                    return
                }
                bytes -= message.content.size
                messages[index] = nil
                count -= 1
            }
        }
    }

    private static let channels = Int(WireLimits.highestChannel) + 1
    private var rings = [Ring](repeating: Ring(), count: channels)
    private var scheduler = SendScheduler()
    private var videoChannels: UInt16 = 0
    private var waitingTimes = SecondWindow()

    private static func capacity(_ trafficClass: SendScheduler.TrafficClass) -> Int {
        switch trafficClass {
        case .control: 256
        case .audio, .data: SecureCarrier.audioQueueCapacity
        case .video: SecureCarrier.videoQueueCapacity
        }
    }

    var isEmpty: Bool { rings.allSatisfy { $0.count == 0 } }

    /// Bytes and messages of video that wait here.
    var videoBacklog: VideoBacklog {
        var result = VideoBacklog()
        for index in rings.indices where videoChannels & 1 << UInt16(index) != 0 {
            result.bytes += rings[index].bytes
            result.count += rings[index].count
        }
        return result
    }

    /// False when the channel's queue is full, or there is no such channel.
    mutating func push(
        _ content: Content, type: MessageType, flags: FrameFlags, channel: UInt16,
        class trafficClass: SendScheduler.TrafficClass
    ) -> Bool {
        let index = Int(channel)
        guard rings.indices.contains(index) else { return false }
        if rings[index].messages.isEmpty {
            scheduler.add(channel: channel, trafficClass)
            if trafficClass == .video { videoChannels |= 1 << channel }
        }
        let message = Message(
            content: content, writer: FragmentWriter(type: type, flags: flags, channel: channel, count: content.size))
        guard rings[index].push(message, capacity: Self.capacity(trafficClass)) else { return false }
        scheduler.setReady(true, channel: channel)
        return true
    }

    /// Writes the next fragment, header and payload, into `buffer` (at least one TLS record, 16384 bytes) and returns
    /// its size; 0 when nothing waits.
    ///
    /// - Parameter video: bytes of video that are allowed: 0 is none, few make small fragments.
    mutating func nextFragment(into buffer: UnsafeMutableRawBufferPointer, video: Int = .max) -> Int {
        while let channel = scheduler.next(withVideo: video > 0) {
            let index = Int(channel)
            let head = rings[index].head
            let limit = videoChannels & 1 << channel != 0 ? max(video, MediaPrefix.size) : .max
            guard rings[index].count > 0, let fragment = rings[index].messages[head]?.writer.next(limit: limit),
                let message = rings[index].messages[head]
            else {
                scheduler.setReady(false, channel: channel)
                continue
            }
            fragment.header.write(to: buffer)
            message.content.copy(
                fragment.range, into: UnsafeMutableRawBufferPointer(rebasing: buffer[FrameHeader.size...]))
            rings[index].bytes -= fragment.range.count
            if message.writer.isFinished {
                rings[index].removeFirst()
                noteLeft(message)
            }
            scheduler.setReady(rings[index].count > 0, channel: channel)
            return FrameHeader.size + fragment.range.count
        }
        return 0
    }

    /// Video: from encoded to the last fragment's leaving this queue.
    private mutating func noteLeft(_ message: Message) {
        guard case .packet(let packet) = message.content, packet.codec.isVideo else { return }
        let now = MonotonicClock.now()
        waitingTimes.add(now - packet.arrivalTime, at: now)
    }

    /// How long pictures waited, over the last whole second.
    mutating func lastSecond(now: MediaTimestamp) -> PercentileWindow.Percentiles { waitingTimes.percentiles(at: now) }

    /// Lets go of the media packets that are not being sent yet. What is half sent goes on: the other end could not
    /// tell where the next packet begins.
    ///
    /// - Parameter channels: a mask, bit n is channel n.
    mutating func removeWaitingMedia(of channels: UInt16 = .max) {
        for index in rings.indices where channels & 1 << UInt16(index) != 0 {
            rings[index].removeWaitingPackets()
            scheduler.setReady(rings[index].count > 0, channel: UInt16(index))
        }
    }

    mutating func removeAll() {
        for index in rings.indices {
            while rings[index].count > 0 { rings[index].removeFirst() }
            rings[index].bytes = 0
            scheduler.setReady(false, channel: UInt16(index))
        }
    }
}

extension OutgoingQueue.Content {
    /// Copies a part of the message, media prefix included.
    fileprivate func copy(_ range: Range<Int>, into buffer: UnsafeMutableRawBufferPointer) {
        switch self {
        case .bytes(let bytes):
            bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[range])) }
        case .feedback(let feedback): feedback.write(to: buffer)  // Fits one fragment: the range is all of it.
        case .packet(let packet):
            var written = 0
            if range.lowerBound == 0 {
                // A fragment is always longer than the prefix, so the first one holds it whole.
                MediaPrefix(packet.header).write(to: buffer)
                written = MediaPrefix.size
            }
            let start = max(range.lowerBound - MediaPrefix.size, 0)
            let end = range.upperBound - MediaPrefix.size
            guard start < end else { return }
            UnsafeMutableRawBufferPointer(rebasing: buffer[written...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: packet.bytes[start..<end]))
        }
    }
}
