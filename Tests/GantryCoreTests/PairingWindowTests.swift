import GantryCore
import GantryTestSupport
import Testing

@Suite struct PairingWindowTests {
    private let start = PairingBench.start

    @Test func rotation() throws {
        var window = PairingWindow(secret: PairingBench.secret(1), now: start)
        #expect(!window.needsRotation(now: start + .microseconds(119_999_999)))
        let rotated = start + .seconds(120)
        #expect(window.needsRotation(now: rotated) && window.nextDeadline == rotated)
        #expect(window.life(now: start) == 120 && window.life(now: rotated) == 0)
        let old = try #require(window.current)
        let fresh = PairingBench.secret(2)
        window.rotated(to: fresh, now: rotated)
        #expect(
            window.knownSecrets(now: rotated).map(ObjectIdentifier.init) == [fresh, old].map(ObjectIdentifier.init))
        let after = rotated + .seconds(35)
        #expect(window.knownSecrets(now: after).map(ObjectIdentifier.init) == [ObjectIdentifier(fresh)])
    }

    @Test func fiveMinutes() {
        let window = PairingWindow(secret: PairingBench.secret(1), now: start)
        #expect(window.isOpen(now: start + .microseconds(299_999_999)))
        #expect(!window.isOpen(now: start + .seconds(300)))
        #expect(window.knownSecrets(now: start + .seconds(300)).isEmpty)
        #expect(!window.needsRotation(now: start + .seconds(300)))
    }

    @Test func theOldSecretCountsForAWhile() throws {
        var window = PairingWindow(secret: PairingBench.secret(7), now: start)
        window.rotated(to: PairingBench.secret(9), now: start)
        var bench = try PairingBench(codeSecret: 7, window: window)
        #expect(bench.run().studio.stores.count == 1)
        var late = try PairingBench(codeSecret: 7, window: window)
        late.now = start + .seconds(35)
        #expect(late.run().studio.failure == .badCode)
    }

    private func second(after: MediaDuration, key: UInt8) throws -> (PairingBench, [PairingAction]) {
        var first = try PairingBench()
        #expect(first.run().studio.stores.count == 1)
        let other = try #require(KeyID(bytes: [UInt8](repeating: key, count: 32)))
        var second = try PairingBench(key: other, window: first.window)
        second.now = start + after
        let log = second.run()
        #expect(log.producer.stores.isEmpty == log.studio.stores.isEmpty)
        return (second, log.studio)
    }

    @Test func aSecondKeyRaisesTheAlarm() throws {
        let (bench, actions) = try second(after: .seconds(34), key: 3)
        // The peer hears of it before the alarm closes the window.
        let told = actions.firstIndex(of: .send(.pairFail(PairFail(reason: .codeShared))))
        let alarm = actions.firstIndex(of: .revoke(PairingBench.producerKey))
        #expect(told ?? .max < alarm ?? -1)
        #expect(actions.stores.isEmpty && actions.failure == .codeShared)
        #expect(bench.window.knownSecrets(now: bench.now).isEmpty)
    }

    @Test func aUsedCodeIsRefused() throws {
        let (_, actions) = try second(after: .seconds(35), key: 3)
        #expect(actions.stores.isEmpty && actions.failure == .codeUsed)
        #expect(!actions.contains(.revoke(PairingBench.producerKey)))
    }

    @Test func theSameKeyMayTryAgain() throws {
        let (_, actions) = try second(after: .seconds(1), key: 2)
        #expect(actions.stores.count == 1)
    }
}
