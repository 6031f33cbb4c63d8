import GantryCore
import GantryTestSupport
import Glibc
import ProducerKit
import StudioKit
import Testing

/// Runs a body at its first picture.
private final class ActingOutput: VideoOutput {
    private let isDone = Watched(false)
    private let body: @Sendable () -> Void
    let returnsAtOnce: Bool
    init(returnsAtOnce: Bool, _ body: @escaping @Sendable () -> Void) {
        self.returnsAtOnce = returnsAtOnce
        self.body = body
    }
    func receive(_ frame: VideoFrame) {
        var isFirst = false
        isDone.change {
            isFirst = !$0
            $0 = true
        }
        if isFirst { body() }
    }
}

/// Closes the session as soon as it hears of it, and waits for its end.
private final class ClosingDelegate: StudioSessionDelegate {
    let waited = Watched(false)
    func sessionDidConnect(_ session: StudioSession) {
        session.close()
        session.waitUntilEnded()
        waited.change { $0 = true }
    }
}

/// Stands still in every call until it is let go.
private final class StandingDelegate: StudioSessionDelegate {
    let isFree = Watched(false)
    let calls = Watched(0)
    let hasEnded = Watched(false)
    func session(_ session: StudioSession, didReceive event: StudioEvent) {
        calls.change { $0 += 1 }
        if case .ended = event { hasEnded.change { $0 = true } }
        isFree.waitBlocking { $0 }
    }
}

extension EndToEnd {
    /// What an application should not do: an error or nothing, never a crash, a dead lock or a leak.
    @Suite struct StudioMisuseTests {
        private func session(_ stage: Stage, _ configuration: StudioSessionConfiguration = .init()) -> StudioSession {
            stage.studio.makeSession(
                ProducerTarget(endpoint: stage.endpoint, keyID: stage.producer.keyID), configuration: configuration)
        }

        /// The stream's last word.
        private func end(of session: StudioSession) async -> [StudioEvent] {
            var all: [StudioEvent] = []
            for await event in session.events { all.append(event) }
            return all
        }

        /// It has not begun, and can be tried again: the error is the same, not that it was started already.
        @Test func aStartThatFailedUsesNothingUp() async throws {
            let stage = try Stage()
            var configuration = StudioSessionConfiguration()
            configuration.replay = ReplaySettings(duration: .zero)
            let session = session(stage, configuration)
            for _ in 0..<2 {
                let error = #expect(throws: GantryError.self) { try session.start() }
                #expect(error?.code == .invalidArgument)
            }
            #expect(session.state == .idle && stage.studio.sessions.isEmpty)
            await session.end()
        }

        @Test func startingTwiceIsAnError() async throws {
            let stage = try Stage()
            try await stage.pair()
            let session = session(stage)
            try session.start()
            let error = #expect(throws: GantryError.self) { try session.start() }
            #expect(error?.code == .invalidState)
            await session.end()
            let late = #expect(throws: GantryError.self) { try session.start() }
            #expect(late?.code == .invalidState)
            #expect(stage.studio.sessions.isEmpty)
        }

        @Test func closingBeforeTheStartEndsItAtOnce() async throws {
            let stage = try Stage()
            try await stage.pair()
            let session = session(stage)
            session.close()
            session.close()
            session.waitUntilEnded()
            try session.start()
            let events = await end(of: session)
            guard case .ended(nil) = events.last else {
                Issue.record("\(events)")
                return
            }
            #expect(!events.contains { if case .connected = $0 { true } else { false } })
            session.close()
            await session.end()
            #expect(session.state == .ended)
        }

        @Test func closingFromAnOutputOrADelegateIsNoDeadLock() async throws {
            let stage = try Stage()
            try await stage.pair()
            let source = try LivePattern(stage.producer)
            for returnsAtOnce in [true, false] {
                let made = Watched<StudioSession?>(nil)
                var configuration = StudioSessionConfiguration()
                configuration.videoOutputs = [
                    ActingOutput(returnsAtOnce: returnsAtOnce) {
                        made.value?.pause()
                        made.value?.close()
                        made.value?.close()
                        _ = made.value?.statistics
                    }
                ]
                let session = session(stage, configuration)
                made.change { $0 = session }
                try session.start()
                guard case .ended(nil) = await end(of: session).last else {
                    Issue.record("ended with an error")
                    return
                }
                made.change { $0 = nil }
            }
            let delegate = ClosingDelegate()
            let session = session(stage)
            session.delegate = delegate
            try session.start()
            _ = await end(of: session)
            #expect(try await delegate.waited.wait { $0 })
            try await source.stop()
        }

        @Test func aDelegateThatStandsStillHoldsUpNothing() async throws {
            let stage = try Stage()
            try await stage.pair()
            let delegate = StandingDelegate()
            let session = session(stage)
            session.delegate = delegate
            let source = try LivePattern(stage.producer)
            try session.start()
            #expect(try await onThread { waitUntil { session.statistics.framesDecoded > 20 } })
            await session.end()
            #expect(session.state == .ended)
            #expect(delegate.calls.value == 1)
            delegate.isFree.change { $0 = true }
            try await source.stop()
        }

        @Test func sessionsOutputsAndDelegatesAreLetGoOf() async throws {
            let stage = try Stage()
            try await stage.pair()
            weak var unstarted: StudioSession?
            weak var running: StudioSession?
            weak var output: ActingOutput?
            weak var delegate: StandingDelegate?
            do {
                let session = session(stage)
                session.delegate = ClosingDelegate()
                #expect(session.delegate == nil, "it is not held")
                unstarted = session
            }
            #expect(unstarted == nil)
            do {
                var configuration = StudioSessionConfiguration()
                let ownOutput = ActingOutput(returnsAtOnce: false) {}
                let ownDelegate = StandingDelegate()
                ownDelegate.isFree.change { $0 = true }
                configuration.videoOutputs = [ownOutput]
                (output, delegate) = (ownOutput, ownDelegate)
                let session = session(stage, configuration)
                session.delegate = ownDelegate
                running = session
                try session.start()
            }
            // Nobody holds it; it goes on, and is found.
            #expect(stage.studio.sessions.count == 1)
            #expect(running != nil)
            stage.studio.sessions.first?.close()
            let isGone: @Sendable () -> Bool = { [weak running, weak output, weak delegate] in
                running == nil && output == nil && delegate == nil
            }
            #expect(try await onThread { waitUntil(.seconds(60), isGone) })
        }

        @Test func theDelegateHearsOfTheEndOfASessionThatNobodyHolds() async throws {
            let stage = try Stage()
            try await stage.pair()
            let delegate = StandingDelegate()
            delegate.isFree.change { $0 = true }
            for _ in 0..<20 {
                delegate.hasEnded.change { $0 = false }
                do {
                    let session = session(stage)
                    session.delegate = delegate
                    try session.start()
                }
                stage.studio.sessions.first?.close()
                #expect(try await delegate.hasEnded.wait { $0 })
            }
        }

        /// What it would be told has been told: no thread waits for more.
        @Test func aDelegateThatComesAfterTheEndLeavesNothing() async throws {
            let stage = try Stage()
            try await stage.pair()
            let session = session(stage)
            try session.start()
            await session.end()
            let before = ProcessView(getpid()).threadCount
            for _ in 0..<30 { session.delegate = StandingDelegate() }
            // A few of other tests may have come meanwhile.
            #expect(try await onThread { waitUntil { ProcessView(getpid()).threadCount < before + 20 } })
        }

        @Test(arguments: [MediaDuration.seconds(-1), .zero, .seconds(301), .microseconds(.max)])
        func pairingWindowsThatCannotBeAreRefused(_ duration: MediaDuration) throws {
            let stage = try Stage()
            let error = #expect(throws: GantryError.self) {
                _ = try stage.studio.beginPairing(address: "127.0.0.1", duration: duration)
            }
            #expect(error?.code == .invalidArgument)
        }

        @Test func manyThreadsAtOnce() async throws {
            let stage = try Stage()
            try await stage.pair()
            let source = try LivePattern(stage.producer)
            for _ in 0..<3 {
                let session = session(stage)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await onThread { try session.start() } }
                    for number in 0..<6 {
                        group.addTask {
                            try await onThread {
                                for round in 0..<200 {
                                    switch (round + number) % 9 {
                                    case 0: session.pause(.video)
                                    case 1: session.resume()
                                    case 2: try session.prefer(PreferredPicture(maximumBitrate: 1_000_000 + round))
                                    case 3: _ = session.statistics
                                    case 4: session.setVideoHidden(round % 2 == 0)
                                    case 5: session.observeData { _ in }.cancel()
                                    case 6: _ = (session.streams, session.playerState, session.state, session.events)
                                    case 7: _ = session.sendData(try LabeledData(label: "x", bytes: [1]))
                                    default: try? session.replay.arm()
                                    }
                                }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 { group.addTask { await session.end() } }
                }
                #expect(session.state == .ended)
            }
            try await source.stop()
            #expect(stage.studio.sessions.isEmpty)
        }
    }
}
