/// Decides which channel sends its next fragment: control before audio before data before video, round robin among
/// channels of one class. So a large key frame delays audio by one fragment at most.
///
/// Pure and without allocation. The owner keeps one queue for each channel and says whether it holds anything.
package struct SendScheduler: Sendable {
    /// In the order of precedence.
    package enum TrafficClass: Int, Sendable, CaseIterable {
        case control, audio, data, video

        package init(_ kind: MediaKind) {
            switch kind {
            case .video: self = .video
            case .audio: self = .audio
            case .data: self = .data
            }
        }
    }

    /// Bit n: channel n belongs to the class.
    private var members = InlineArray<4, UInt16>(repeating: 0)
    /// The channel of the class that was served last.
    private var last = InlineArray<4, UInt16>(repeating: 0)
    /// Bit n: channel n has something to send.
    private var ready: UInt16 = 0

    /// Channel 0 is there from the start.
    package init() { members[TrafficClass.control.rawValue] = 1 }

    /// Adds a channel (1…8) or changes its class. Others are ignored.
    package mutating func add(channel: UInt16, _ trafficClass: TrafficClass) {
        guard 1...WireLimits.highestChannel ~= channel else { return }
        for index in members.indices { members[index] &= ~(1 << channel) }
        members[trafficClass.rawValue] |= 1 << channel
    }

    package mutating func remove(channel: UInt16) {
        guard 1...WireLimits.highestChannel ~= channel else { return }
        for index in members.indices { members[index] &= ~(1 << channel) }
        ready &= ~(1 << channel)
    }

    package mutating func setReady(_ isReady: Bool, channel: UInt16) {
        guard channel <= WireLimits.highestChannel else { return }
        if isReady { ready |= 1 << channel } else { ready &= ~(1 << channel) }
    }

    /// The channel whose next fragment is to be sent now, or nil when nothing waits.
    ///
    /// - Parameter withVideo: false: as if no video waited.
    package mutating func next(withVideo: Bool = true) -> UInt16? {
        for index in members.indices where withVideo || index != TrafficClass.video.rawValue {
            let waiting = members[index] & ready
            guard waiting != 0 else { continue }
            let above = waiting & ~(UInt16(2) << last[index] &- 1)
            let chosen = UInt16((above != 0 ? above : waiting).trailingZeroBitCount)
            last[index] = chosen
            return chosen
        }
        return nil
    }
}
