import GantryCore
import GantryTestSupport
import Testing

extension [SessionAction] {
    var sent: [ControlMessage] { compactMap { if case .send(let message) = $0 { message } else { nil } } }
    var types: [MessageType] { sent.map(\.type) }
    var ends: [SessionEnd] { compactMap { if case .finish(let end) = $0 { end } else { nil } } }
}

private let start = MediaTimestamp(microseconds: 5_000_000)

private func producerHello(_ change: (inout Hello) -> Void = { _ in }) -> Hello {
    var hello = Hello(minor: 2, capabilities: [.rateControl, .data], name: DisplayName("Cam"), bootID: 1)
    change(&hello)
    return hello
}

private func studioHello(_ change: (inout Hello) -> Void = { _ in }) -> Hello {
    var hello = Hello(minor: 1, capabilities: [.rateControl, .carriers], name: DisplayName("Desk"), codecs: [.h264])
    change(&hello)
    return hello
}

private let stream = StreamDescription(
    channel: 1, kind: .video, codec: .h264, source: .file, created: start, name: "Clip")

private func format(_ epoch: UInt16, channel: UInt16 = 1) -> Format {
    Format(
        channel: channel, epoch: epoch,
        format: .video(
            VideoStreamFormat(codec: .h264, width: 320, height: 180, frameRate: .fps30, color: .bt709)))
}

private func running() -> ProducerSessionStateMachine {
    var machine = ProducerSessionStateMachine(hello: producerHello(), now: start)
    _ = machine.received(.hello(studioHello()), now: start)
    _ = machine.accepted(sessionID: 1, streams: [stream], now: start)
    _ = machine.received(.start(Start(channels: [1])), now: start)
    return machine
}

private func runningStudio() -> StudioSessionStateMachine {
    var machine = StudioSessionStateMachine(hello: studioHello(), now: start)
    _ = machine.connected(now: start)
    _ = machine.received(.hello(producerHello()), now: start)
    _ = machine.received(.accept(Accept(sessionID: 1, streams: [stream])), now: start)
    return machine
}

@Suite struct SessionFlowTests {
    @Test func wholeSession() {
        var studio = StudioSessionStateMachine(hello: studioHello(), now: start)
        var producer = ProducerSessionStateMachine(hello: producerHello(), now: start)
        #expect(studio.connected(now: start) == [.send(.hello(studioHello()))])
        #expect(
            producer.received(.hello(studioHello()), now: start) == [
                .send(.hello(producerHello())), .decide(studioHello()),
            ])
        #expect(studio.received(.hello(producerHello()), now: start) == [])
        #expect(producer.minor == 1 && studio.minor == 1)
        #expect(producer.features == .rateControl && studio.features == .rateControl)

        #expect(producer.formatChanged(format(0)) == [])
        let accept = Accept(sessionID: 9, streams: [stream])
        let admitted = producer.accepted(sessionID: 9, streams: [stream], now: start)
        #expect(admitted == [.authorise, .send(.accept(accept)), .send(.ping(Ping(sent: start)))])
        let established = studio.received(.accept(accept), now: start)
        #expect(established == [.established(accept, peer: producerHello()), .send(.ping(Ping(sent: start)))])

        let wish = Start(channels: [1])
        #expect(studio.startRequested(wish) == [.send(.start(wish))])
        #expect(producer.received(.start(wish), now: start) == [.start(wish), .send(.format(format(0)))])
        #expect(studio.received(.format(format(0)), now: start) == [.format(format(0))])
        #expect(producer.formatChanged(format(1)) == [.send(.format(format(1)))])
        #expect(producer.formatChanged(format(1, channel: 2)) == [])

        let later = start + .milliseconds(3)
        let pong = producer.received(.ping(Ping(sent: start)), now: later)
        #expect(pong.sent == [.pong(Pong(pingSent: start, received: later, sent: later))])
        let back = start + .milliseconds(6)
        #expect(
            studio.received(pong.sent[0], now: back)
                == [.clock(sent: start, received: later, answered: later, returned: back)])

        let pause = Pause(mask: 2, reason: .user)
        #expect(producer.received(.pause(pause), now: later) == [.pause(pause)])
        #expect(studio.received(.resume(pause), now: later) == [.resume(pause)])
        let bye = studio.closeRequested(reason: .normal)
        #expect(bye.types == [.bye] && bye.ends.first?.error == nil && bye.contains(.close))
        let end = producer.received(bye.sent[0], now: later)
        #expect(end == [.close, .finish(end.ends[0])])
        #expect(end.ends[0].isFromPeer && end.ends[0].error == nil)
        #expect(producer.nextDeadline == nil && studio.isFinished)
    }

    @Test func rejections() {
        var producer = ProducerSessionStateMachine(hello: producerHello(), now: start)
        #expect(producer.accepted(sessionID: 1, streams: [], now: start) == [])
        _ = producer.received(.hello(studioHello()), now: start)
        let actions = producer.rejected(reason: .busy, retryAfter: 500)
        #expect(actions.types == [.reject] && actions.contains(.close) && actions.ends.count == 1)
        var studio = StudioSessionStateMachine(hello: studioHello(), now: start)
        _ = studio.connected(now: start)
        _ = studio.received(.hello(producerHello()), now: start)
        let end = studio.received(actions.sent[0], now: start).ends
        #expect(end.first?.error?.code == .rejected && end.first?.retryAfter == 500)
    }

    @Test func versions() {
        // The studio needs what the producer lacks.
        var producer = ProducerSessionStateMachine(hello: producerHello(), now: start)
        var actions = producer.received(.hello(studioHello { $0.required = .carriers }), now: start)
        #expect(actions.sent.last == .reject(Reject(reason: .versionMismatch, updateSide: .producer)))
        #expect(actions.ends.first?.error?.code == .versionMismatch)
        #expect(actions.ends.first?.error?.message.contains("Update Gantry on this machine") == true)

        var studio = StudioSessionStateMachine(hello: studioHello(), now: start)
        _ = studio.connected(now: start)
        let seen = actions.sent.flatMap { studio.received($0, now: start) }.ends
        #expect(seen.first?.error?.message.contains("Update Gantry on the producer's machine") == true)

        // The producer needs a newer studio.
        var strict = ProducerSessionStateMachine(hello: producerHello { $0.smallestMinor = 2 }, now: start)
        actions = strict.received(.hello(studioHello()), now: start)
        #expect(actions.sent.last == .reject(Reject(reason: .versionMismatch, updateSide: .studio)))

        // A critical field that nobody knows.
        var critical = ProducerSessionStateMachine(hello: producerHello(), now: start)
        actions = critical.failed(GantryError(.versionMismatch, "field"))
        #expect(actions.types == [.reject] && actions.ends.first?.error?.code == .versionMismatch)

        var other = StudioSessionStateMachine(hello: studioHello(), now: start)
        _ = other.connected(now: start)
        actions = other.received(.hello(producerHello { $0.smallestMinor = 7 }), now: start)
        #expect(actions.types == [.bye] && actions.ends.first?.error?.code == .versionMismatch)
    }

    @Test func deadlines() {
        var quiet = ProducerSessionStateMachine(hello: producerHello(), now: start)
        #expect(quiet.nextDeadline == start + .seconds(5))
        #expect(quiet.timeAdvanced(now: start + .microseconds(4_999_999)) == [])
        #expect(quiet.timeAdvanced(now: start + .seconds(5)).ends.first?.error?.code == .timeout)

        var undecided = ProducerSessionStateMachine(hello: producerHello(), now: start)
        _ = undecided.received(.hello(studioHello()), now: start)
        #expect(undecided.nextDeadline == start + .seconds(30))
        #expect(undecided.timeAdvanced(now: start + .seconds(30)).types == [.reject])

        var waiting = StudioSessionStateMachine(hello: studioHello(), now: start)
        #expect(waiting.nextDeadline == nil)
        _ = waiting.connected(now: start)
        #expect(waiting.nextDeadline == start + .seconds(5))
        _ = waiting.received(.hello(producerHello()), now: start)
        #expect(waiting.nextDeadline == start + .seconds(35))
        #expect(waiting.timeAdvanced(now: start + .seconds(35)).ends.first?.error?.code == .timeout)
    }

    @Test func pingsAndSilence() {
        var machine = running()
        // Eight for the clocks, the first when it began.
        for index in 1..<8 as Range<Int64> {
            #expect(machine.nextDeadline == start + .milliseconds(40 * index))
            #expect(machine.timeAdvanced(now: start + .milliseconds(40 * index)).types == [.ping])
        }
        #expect(machine.nextDeadline == start + .milliseconds(1280))
        #expect(machine.timeAdvanced(now: start + .milliseconds(1279)) == [])
        #expect(machine.timeAdvanced(now: start + .milliseconds(1280)).types == [.ping])
        #expect(machine.timeAdvanced(now: start + .milliseconds(1500)) == [])
        machine.bytesReceived(now: start + .milliseconds(1900))
        #expect(machine.timeAdvanced(now: start + .milliseconds(2300)).types == [.ping])
        let dead = machine.timeAdvanced(now: start + .milliseconds(3900))
        #expect(dead.ends.first?.error?.code == .peerLost && dead.ends.first?.reason == .timeout)
        #expect(machine.timeAdvanced(now: start + .seconds(9)) == [])
        var studio = runningStudio()
        #expect(studio.timeAdvanced(now: start + .seconds(2)).ends.first?.error?.code == .peerLost)
    }

    /// A connection that stands still ends no session whose media goes on by UDP, but not for ever: goodbyes and formats need it.
    @Test func datagramsAreASignOfLife() {
        var producer = running()
        var studio = runningStudio()
        for ms in stride(from: Int64(50), through: 9950, by: 50) {
            let now = start + .milliseconds(ms)
            producer.datagramReceived(at: now)
            studio.datagramReceived(at: now)
            #expect(producer.timeAdvanced(now: now).ends.isEmpty)
            #expect(studio.timeAdvanced(now: now).ends.isEmpty)
        }
        #expect(producer.timeAdvanced(now: start + .seconds(10)).ends.first?.error?.code == .peerLost)
        #expect(studio.timeAdvanced(now: start + .seconds(10)).ends.first?.error?.code == .peerLost)
        // Both silent: two seconds after the last of either.
        var other = running()
        other.datagramReceived(at: start + .milliseconds(1500))
        other.bytesReceived(now: start + .milliseconds(700))
        #expect(other.timeAdvanced(now: start + .milliseconds(3499)).ends.isEmpty)
        #expect(other.timeAdvanced(now: start + .milliseconds(3500)).ends.first?.error?.code == .peerLost)
    }

    @Test func keyFramesAreMergedAtBothEnds() {
        let request = Keyframe(channel: 1, reason: .loss)
        var producer = running()
        var studio = runningStudio()
        // The first pings are over.
        for index in 1..<8 as Range<Int64> {
            _ = producer.timeAdvanced(now: start + .milliseconds(40 * index))
            _ = studio.timeAdvanced(now: start + .milliseconds(40 * index))
        }
        #expect(producer.received(.keyframe(request), now: start) == [.keyFrame(request)])
        #expect(studio.keyFrameNeeded(request, now: start) == [.send(.keyframe(request))])
        for ms in stride(from: Int64(1), to: 250, by: 10) {
            #expect(producer.received(.keyframe(request), now: start + .milliseconds(ms)) == [])
            #expect(studio.keyFrameNeeded(request, now: start + .milliseconds(ms)) == [])
        }
        #expect(producer.nextDeadline == start + .milliseconds(250))
        #expect(producer.timeAdvanced(now: start + .milliseconds(249)) == [])
        #expect(producer.timeAdvanced(now: start + .milliseconds(250)) == [.keyFrame(request)])
        #expect(studio.timeAdvanced(now: start + .milliseconds(250)) == [.send(.keyframe(request))])
        #expect(producer.timeAdvanced(now: start + .milliseconds(600)) == [])
        #expect(producer.received(.keyframe(Keyframe(channel: 2, reason: .start)), now: start).count == 1)
    }

    @Test func controlFlood() {
        var machine = running()
        // HELLO and START have counted as well.
        for _ in 0..<198 { #expect(machine.received(.prefer(Prefer()), now: start).ends.isEmpty) }
        #expect(machine.received(.data(DataMessage(label: "", bytes: [1])), now: start).ends.isEmpty)
        let over = machine.received(.prefer(Prefer()), now: start)
        #expect(over.sent == [.bye(Bye(reason: .protocolError))] && over.ends.first?.error?.code == .protocolError)

        var paced = running()
        for second in 1...5 {
            let now = start + .seconds(Int64(second))
            for _ in 0..<200 { #expect(paced.received(.prefer(Prefer()), now: now).ends.isEmpty) }
        }
    }

    @Test func directionAndOrder() {
        for message in SampleMessages.all.values {
            var fresh = ProducerSessionStateMachine(hello: producerHello(), now: start)
            let actions = fresh.received(message, now: start)
            switch message {
            case .hello, .bye: break
            default: #expect(actions.ends.first?.error?.code == .protocolError, "\(message.type)")
            }
            if !message.type.maySend(.studio) {
                var machine = running()
                #expect(machine.received(message, now: start).ends.first?.reason == .protocolError)
            }
            if !message.type.maySend(.producer) {
                var machine = runningStudio()
                #expect(machine.received(message, now: start).ends.first?.reason == .protocolError)
            }
            var studio = runningStudio()
            for offered in studio.messageOffered(message).sent { #expect(offered.type.maySend(.studio)) }
        }
        var again = running()
        #expect(again.received(.hello(studioHello()), now: start).ends.first?.reason == .protocolError)
        var studio = StudioSessionStateMachine(hello: studioHello(), now: start)
        _ = studio.connected(now: start)
        let early = studio.received(.accept(Accept(sessionID: 1, streams: [])), now: start)
        #expect(early.ends.first?.reason == .protocolError)
        var waiting = ProducerSessionStateMachine(hello: producerHello(), now: start)
        #expect(waiting.messageOffered(.stats(Stats())) == [])
        #expect(running().isFinished == false)
    }

    @Test(arguments: [
        (Bye.Reason.normal, GantryError.Code?.none), (.shutdown, nil), (.unpaired, .unpairedByPeer),
        (.protocolError, .protocolError), (.timeout, .peerLost), (.cancelled, .cancelled), (.replaced, .rejected),
        (.duplicate, .rejected), (.overload, .rejected), (Bye.Reason(rawValue: 99), .rejected),
    ])
    func goodbyes(reason: Bye.Reason, code: GantryError.Code?) {
        var machine = runningStudio()
        let actions = machine.received(.bye(Bye(reason: reason)), now: start)
        #expect(actions.ends.first?.error?.code == code && actions.sent.isEmpty && actions.contains(.close))
    }

    @Test func lostConnections() {
        var machine = running()
        #expect(machine.transportClosed().ends.first?.error?.code == .peerLost)
        #expect(machine.transportClosed() == [])
        var tls = running()
        let actions = tls.failed(GantryError(.tls, "x"))
        #expect(actions.sent.isEmpty && actions.ends.first?.error?.code == .tls)
        var broken = running()
        #expect(broken.failed(GantryError(.protocolError, "x")).sent == [.bye(Bye(reason: .protocolError))])
    }

    /// Random events in any order: one end at most, nothing behind it, nothing sent that the role may not send.
    @Test func randomEvents() {
        var random = SeededGenerator(seed: 99)
        let pool = SampleMessages.all.keys.sorted().compactMap(SampleMessages.value)
        for _ in 0..<300 {
            var producer = ProducerSessionStateMachine(hello: producerHello(), now: start)
            var studio = StudioSessionStateMachine(hello: studioHello(), now: start)
            var now = start
            var log: [SessionRole: [SessionAction]] = [.producer: [], .studio: []]
            for _ in 0..<60 {
                now = now + .milliseconds(Int64.random(in: 0...400, using: &random))
                let message = pool.randomElement(using: &random) ?? .pairDone
                switch Int.random(in: 0..<12, using: &random) {
                case 0: log[.studio, default: []] += studio.connected(now: now)
                case 1: log[.producer, default: []] += producer.received(.hello(studioHello()), now: now)
                case 2: log[.producer, default: []] += producer.accepted(sessionID: 1, streams: [stream], now: now)
                case 3: log[.studio, default: []] += studio.received(.hello(producerHello()), now: now)
                case 4:
                    log[.studio, default: []] += studio.received(.accept(Accept(sessionID: 1, streams: [])), now: now)
                case 5: log[.producer, default: []] += producer.formatChanged(format(3))
                case 6:
                    log[.studio, default: []] += studio.keyFrameNeeded(Keyframe(channel: 1, reason: .loss), now: now)
                case 7:
                    log[.producer, default: []] += producer.timeAdvanced(now: now)
                    log[.studio, default: []] += studio.timeAdvanced(now: now)
                case 8:
                    log[.producer, default: []] += producer.messageOffered(message)
                    log[.studio, default: []] += studio.messageOffered(message)
                case 9 where message.type.maySend(.studio):
                    log[.producer, default: []] += producer.received(message, now: now)
                case 10 where message.type.maySend(.producer):
                    log[.studio, default: []] += studio.received(message, now: now)
                default:
                    producer.bytesReceived(now: now)
                    studio.bytesReceived(now: now)
                }
                if let deadline = producer.nextDeadline { #expect(deadline < now + .seconds(31)) }
            }
            for (role, actions) in log {
                #expect(actions.ends.count <= 1)
                if let end = actions.ends.first { #expect(actions.last == .finish(end)) }
                for message in actions.sent { #expect(message.type.maySend(role)) }
            }
        }
    }
}
