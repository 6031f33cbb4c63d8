import GantryCore
import GantryTestSupport
import Testing

@Suite struct LinkAdaptationTests {
    private func at(_ milliseconds: Int64) -> MediaTimestamp { MediaTimestamp(microseconds: milliseconds * 1000) }

    private func feedback(_ sequence: UInt32, delay: Int32?, dropped: UInt32 = 0) -> Feedback {
        Feedback(
            channel: 1, sequence: sequence, presentationTime: at(0), delay: delay, jitter: 0, bytes: 0, late: 0,
            dropped: dropped)
    }

    /// A queue of 60 ms from 5 s on, at 4 Mbit/s.
    private func congest(_ adaptation: inout LinkAdaptation, isNews: Bool, unconfirmed: Int) {
        for index in 0..<200 {
            let isLate = index >= 100
            let measure = LinkMeasure(
                confirmed: UInt64(index) * 25_000, unconfirmed: isLate ? unconfirmed : 0, roundTrip: .milliseconds(10))
            _ = adaptation.received(
                feedback(
                    isNews || !isLate ? UInt32(index) : 99, delay: isLate ? 80_000 + Int32(index - 100) * 2000 : 20_000),
                isVideo: true,
                measure: measure, now: at(Int64(index) * 50))
        }
    }

    @Test func aQueueLowersTheRate() {
        var adaptation = LinkAdaptation(maximum: 6_000_000, hasSound: true)
        #expect(adaptation.bitrate == 6_000_000)
        congest(&adaptation, isNews: true, unconfirmed: 30_000)
        #expect(adaptation.bitrate < 3_200_000)
    }

    @Test func whatIsToldAgainIsNoNews() {
        var adaptation = LinkAdaptation(maximum: 6_000_000, hasSound: true)
        congest(&adaptation, isNews: false, unconfirmed: 30_000)
        #expect(adaptation.bitrate == 6_000_000)
    }

    /// All that was sent has arrived: the machine was busy, not the link.
    @Test func aDelayWithoutAQueueIsNone() {
        var adaptation = LinkAdaptation(maximum: 6_000_000, hasSound: true)
        congest(&adaptation, isNews: true, unconfirmed: 3000)
        #expect(adaptation.bitrate == 6_000_000)
    }

    @Test func picturesThatWereLeftOutLowerTheRate() {
        var adaptation = LinkAdaptation(maximum: 6_000_000, hasSound: true)
        for index in 0..<40 {
            adaptation.heldUp()
            _ = adaptation.timePassed(
                measure: LinkMeasure(confirmed: UInt64(index) * 12_500, unconfirmed: 50_000), now: at(Int64(index) * 50)
            )
        }
        #expect(1_000_000...2_000_000 ~= adaptation.bitrate)
    }

    @Test func whoDoesNotSayThatItReadsGetsNoMore() {
        var adaptation = LinkAdaptation(maximum: 6_000_000, hasSound: true)
        // A studio that never says anything does not know FEEDBACK.
        #expect(adaptation.isHeard(now: at(60_000)) == true)
        _ = adaptation.received(feedback(1, delay: 0), isVideo: true, measure: nil, now: at(60_000))
        #expect(adaptation.isHeard(now: at(60_999)) == true)
        #expect(adaptation.isHeard(now: at(61_000)) == false)
        #expect(adaptation.takesVideo(now: at(61_000)) == false)
        // A sign of life on the other channel is enough.
        _ = adaptation.received(feedback(1, delay: 0), isVideo: false, measure: nil, now: at(62_000))
        #expect(adaptation.isHeard(now: at(62_500)) == true)
        #expect(adaptation.takesVideo(now: at(62_500)) == true)
    }

    /// Over UDP the bytes are those of pictures alone: nothing of them is sound's. Where the count becomes another one, the step from
    /// one to the other is nobody's rate.
    @Test func anotherCountIsNoRate() {
        var adaptation = LinkAdaptation(maximum: 6_000_000, hasSound: true)
        for index in 0..<40 {
            let measure = LinkMeasure(confirmed: UInt64(index) * 12_500, unconfirmed: 0, roundTrip: .milliseconds(10))
            _ = adaptation.received(
                feedback(UInt32(index), delay: 10_000), isVideo: true, measure: measure, now: at(Int64(index) * 50))
        }
        // 2 Mbit/s of pictures, late from the beginning, and 100 MB more than TCP has ever carried.
        for index in 40..<80 {
            var told = feedback(UInt32(index), delay: 10_000 + Int32(index - 39) * 10_000)
            told.bytes = 100_000_000 + UInt64(index) * 12_500
            _ = adaptation.received(told, isVideo: true, measure: nil, now: at(Int64(index) * 50))
            if adaptation.bitrate < 6_000_000 { break }
        }
        // A cut takes half at most: 3 Mbit/s. The next one has 0.82 or 0.6 of the 2 Mbit/s.
        #expect(adaptation.bitrate == 3_000_000)
        for index in 80..<86 {
            var told = feedback(UInt32(index), delay: 80_000)
            told.bytes = 100_000_000 + UInt64(index) * 12_500
            _ = adaptation.received(told, isVideo: true, measure: nil, now: at(Int64(index) * 50))
        }
        #expect(adaptation.bitrate == 1_640_000)
    }

    /// TCP on a way that loses packets takes little; what UDP takes there is tried out fast.
    @Test func theRateIsBackSoonAfterTheChangeToUDP() {
        var adaptation = LinkAdaptation(maximum: 6_000_000, hasSound: true)
        var index = 0
        while adaptation.bitrate > 250_000, index < 400 {
            adaptation.heldUp()
            let measure = LinkMeasure(
                confirmed: UInt64(index) * 2500, unconfirmed: 50_000, roundTrip: .milliseconds(120))
            _ = adaptation.received(
                feedback(UInt32(index), delay: 60_000), isVideo: true, measure: measure, now: at(Int64(index) * 50))
            index += 1
        }
        #expect(adaptation.bitrate <= 250_000)
        let changed = index
        while adaptation.bitrate < 6_000_000, index < changed + 400 {
            var told = feedback(UInt32(index), delay: 62_000)
            told.bytes = UInt64(index) * 1000
            _ = adaptation.received(told, isVideo: true, measure: nil, now: at(Int64(index) * 50))
            index += 1
        }
        // 0.3 s, and 1.6 s to have thirty times as much.
        #expect(index - changed < 50)
    }

    /// FEEDBACK comes by UDP and again, later, over a connection that stands still now and then.
    @Test func feedbackThatComesTwiceCountsOnce() {
        var once = LinkAdaptation(maximum: 6_000_000, hasSound: true)
        var twice = LinkAdaptation(maximum: 6_000_000, hasSound: true)
        var late: [Feedback] = []
        for index in 0..<200 {
            var told = feedback(UInt32(index), delay: index % 50 < 25 ? 10_000 : 10_000 + Int32(index % 50) * 3000)
            told.bytes = UInt64(index) * 20_000
            _ = once.received(told, isVideo: true, measure: nil, now: at(Int64(index) * 50))
            _ = twice.received(told, isVideo: true, measure: nil, now: at(Int64(index) * 50))
            late.append(told)
            guard index % 7 == 6 else { continue }
            for old in late { _ = twice.received(old, isVideo: true, measure: nil, now: at(Int64(index) * 50 + 20)) }
            late = []
        }
        #expect(once.bitrate < 6_000_000)
        #expect(twice.bitrate == once.bitrate)
    }

    /// Where there is no sound, a poor picture is better than nothing.
    @Test(arguments: [true, false]) func theFallbackNeedsSound(_ hasSound: Bool) {
        var adaptation = LinkAdaptation(maximum: 6_000_000, hasSound: hasSound)
        var states: [VideoState.State] = []
        for index in 0..<1200 {
            // 100 kbit/s, and a queue.
            let measure = LinkMeasure(confirmed: UInt64(index) * 625, unconfirmed: 20_000, roundTrip: .milliseconds(10))
            let delay: Int32 = index < 20 ? 10_000 : 10_000 + Int32(index % 40) * 10_000
            let state = adaptation.received(
                feedback(UInt32(index), delay: delay), isVideo: true, measure: measure, now: at(Int64(index) * 50))
            if let state { states.append(state) }
        }
        #expect(adaptation.isVideoOn == !hasSound)
        #expect(states == (hasSound ? [.warning, .disabled] : []))
        // The link is good again: without a picture, sound tells.
        for index in 1200..<2400 {
            let measure = LinkMeasure(confirmed: UInt64(index) * 625, unconfirmed: 0, roundTrip: .milliseconds(10))
            let state = adaptation.received(
                feedback(UInt32(index), delay: 10_000), isVideo: !hasSound, measure: measure, now: at(Int64(index) * 50)
            )
            if let state { states.append(state) }
        }
        #expect(adaptation.isVideoOn == true)
        #expect(states == (hasSound ? [.warning, .disabled, .enabled] : []))
    }

    /// The stream of sound ends while the picture is off: what could tell that the link is good again has gone.
    @Test func withoutSoundThePictureComesBack() {
        var adaptation = LinkAdaptation(maximum: 6_000_000, hasSound: true)
        for index in 0..<1200 {
            let measure = LinkMeasure(confirmed: UInt64(index) * 625, unconfirmed: 20_000, roundTrip: .milliseconds(10))
            let delay: Int32 = index < 20 ? 10_000 : 10_000 + Int32(index % 40) * 10_000
            _ = adaptation.received(
                feedback(UInt32(index), delay: delay), isVideo: true, measure: measure, now: at(Int64(index) * 50))
        }
        #expect(adaptation.isVideoOn == false)
        #expect(adaptation.setHasSound(true) == nil)
        #expect(adaptation.isVideoOn == false)
        #expect(adaptation.setHasSound(false) == .enabled)
        #expect(adaptation.isVideoOn == true)
        #expect(adaptation.setHasSound(false) == nil)
    }

    @Test func whatIsUnderWayIsNoQueue() {
        var adaptation = LinkAdaptation(maximum: 6_000_000, hasSound: true)
        #expect(adaptation.bytesUnderWay == 0)
        let measure = LinkMeasure(confirmed: 0, unconfirmed: 0, roundTrip: .milliseconds(100))
        _ = adaptation.received(feedback(1, delay: 0), isVideo: true, measure: measure, now: at(0))
        // 6 Mbit/s and the sound, for 100 ms.
        #expect(75_000...80_000 ~= adaptation.bytesUnderWay)
        let absurd = LinkMeasure(confirmed: .max, unconfirmed: .max, roundTrip: .microseconds(.max))
        _ = adaptation.received(feedback(2, delay: .max, dropped: .max), isVideo: true, measure: absurd, now: at(50))
        _ = adaptation.received(feedback(3, delay: .min), isVideo: true, measure: absurd, now: at(100))
        #expect(adaptation.bytesUnderWay < 100_000)
    }

    /// A way that becomes longer is known after two seconds, and a queue of that time is in it.
    @Test func whatIsUnderWayFollowsTheWay() {
        var adaptation = LinkAdaptation(maximum: 6_000_000, hasSound: true)
        for index in 0..<100 {
            let way = index < 20 ? 1 : 100
            let measure = LinkMeasure(confirmed: 0, unconfirmed: 0, roundTrip: .milliseconds(Int64(way)))
            _ = adaptation.timePassed(measure: measure, now: at(Int64(index) * 50))
            if index < 40 { #expect(adaptation.bytesUnderWay < 1000) }
            if index > 60 { #expect(adaptation.bytesUnderWay > 70_000) }
        }
    }
}

/// The way without memory reads and writes as the way of all messages does.
@Suite struct FeedbackCodingTests {
    private static let sample = Feedback(
        channel: 2, sequence: 0xFFFF_FFFE, presentationTime: MediaTimestamp(microseconds: -5), delay: -1500,
        jitter: 250,
        bytes: .max - 1, late: 3, dropped: 7)

    private func readers(_ payload: [UInt8]) -> (fast: Feedback?, slow: Feedback?) {
        let fast = try? payload.withUnsafeBytes { try Feedback(payload: $0) }
        guard case .feedback(let slow)? = try? ControlMessage.decode(type: .feedback, payload: payload) else {
            return (fast, nil)
        }
        return (fast, slow)
    }

    @Test func bothWaysAgree() throws {
        var withoutDelay = Self.sample
        withoutDelay.delay = nil
        for message in [Self.sample, withoutDelay] {
            let payload = ControlMessage.feedback(message).encode()
            #expect(payload.count == message.encodedSize)
            var writer = TLVWriter()
            writer.number(1, message.channel)
            writer.number(2, message.sequence)
            writer.number(3, message.presentationTime.microseconds)
            writer.number(4, message.delay)
            writer.number(5, message.jitter)
            writer.number(6, message.bytes)
            writer.number(7, message.late)
            writer.number(8, message.dropped)
            #expect(payload == writer.payload)
            let read = readers(payload)
            #expect(read.fast == message && read.slow == message)
        }
    }

    @Test func damagedOnesAreReadAlike() {
        let payload = ControlMessage.feedback(Self.sample).encode()
        var random = SeededRandom(seed: 11)
        var refused = 0
        for index in 0..<20_000 {
            var damaged = index < payload.count ? Array(payload.prefix(index)) : payload
            for _ in 0..<Int.random(in: 0...3, using: &random) where !damaged.isEmpty {
                damaged[Int.random(in: damaged.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            if index % 5 == 0 { damaged += damaged.prefix(Int.random(in: 0...20, using: &random)) }
            let read = readers(damaged)
            #expect(read.fast == read.slow)
            if read.fast == nil { refused += 1 }
        }
        #expect(refused > 1000)
    }
}
