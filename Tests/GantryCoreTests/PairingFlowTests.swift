import GantryCore
import GantryTestSupport
import Testing

/// Both state machines and what lies between them.
struct PairingBench {
    static let start = MediaTimestamp(microseconds: 1_000_000)
    static let exporter = [UInt8](repeating: 0xE0, count: 32)
    static let studioKey = KeyID(bytes: [UInt8](repeating: 1, count: 32))!
    static let producerKey = KeyID(bytes: [UInt8](repeating: 2, count: 32))!

    static func secret(_ byte: UInt8) -> PairingSecret { PairingSecret(bytes: [UInt8](repeating: byte, count: 16))! }

    var producer: PairingProducerStateMachine
    var studio: PairingStudioStateMachine
    var window: PairingWindow
    var now = start

    init(
        codeSecret: UInt8 = 7, shownSecret: UInt8 = 7, confirm: Bool = false, key: KeyID = producerKey,
        exporter: [UInt8] = exporter, window: PairingWindow? = nil
    ) throws {
        let code = PairingCode(studio: Self.studioKey, secret: Self.secret(codeSecret))
        producer = try PairingProducerStateMachine(
            code: code, ownKeyID: key, name: DisplayName("Cam"), model: "Pi", streamPort: 4010,
            asksForConfirmation: confirm, crypto: ReferenceCrypto.self, now: Self.start)
        studio = PairingStudioStateMachine(
            ownKeyID: Self.studioKey, producer: key, exporter: exporter, name: DisplayName("Desk"), model: "PC",
            asksForConfirmation: confirm, crypto: ReferenceCrypto.self, now: Self.start)
        self.window = window ?? PairingWindow(secret: Self.secret(shownSecret), now: Self.start)
    }

    /// Connects, and carries messages to and fro until both are silent. Returns what each had to do.
    mutating func run(
        confirmProducer: Bool = true, confirmStudio: Bool = true, saves: Bool = true,
        studioFailure: PairingFailure? = nil
    ) -> (producer: [PairingAction], studio: [PairingAction]) {
        var log: (producer: [PairingAction], studio: [PairingAction]) = ([], [])
        var toProducer: [ControlMessage] = []
        var toStudio: [ControlMessage] = []
        func messages(_ actions: [PairingAction]) -> [ControlMessage] {
            actions.compactMap { if case .send(let message) = $0 { message } else { nil } }
        }
        func perform(
            _ actions: [PairingAction], confirm: () -> [PairingAction], store: () -> [PairingAction]
        ) -> [PairingAction] {
            var all = actions
            for action in actions {
                if case .showComparison(_, true) = action { all += perform(confirm(), confirm: confirm, store: store) }
                if case .store = action { all += perform(store(), confirm: confirm, store: store) }
            }
            return all
        }
        func producerDo(_ bench: inout PairingBench, _ actions: [PairingAction]) {
            let all = perform(
                actions, confirm: { bench.producer.confirmed(confirmProducer) }, store: { bench.producer.stored(saves) }
            )
            log.producer += all
            toStudio += messages(all)
        }
        func studioDo(_ bench: inout PairingBench, _ actions: [PairingAction]) {
            let all = perform(
                actions, confirm: { bench.studio.confirmed(confirmStudio) },
                store: { bench.studio.stored(studioFailure) })
            log.studio += all
            toProducer += messages(all)
        }
        producerDo(&self, producer.connected(studio: Self.studioKey, exporter: Self.exporter))
        studioDo(&self, studio.connected())
        while !toProducer.isEmpty || !toStudio.isEmpty {
            if !toProducer.isEmpty { producerDo(&self, producer.received(toProducer.removeFirst())) }
            if !toStudio.isEmpty {
                let message = toStudio.removeFirst()
                studioDo(&self, studio.received(message, window: &window, now: now))
            }
        }
        return log
    }
}

extension [PairingAction] {
    var results: [PairingResult] { compactMap { if case .finish(let result) = $0 { result } else { nil } } }
    var stores: [PairedPeer] { compactMap { if case .store(let peer) = $0 { peer } else { nil } } }
    var unstored: [KeyID] { compactMap { if case .unstore(let key) = $0 { key } else { nil } } }
    var failure: PairingFailure? { if case .failed(let reason)? = results.first { reason } else { nil } }
    var number: String? { compactMap { if case .showComparison(let text, _) = $0 { text } else { nil } }.first }
}

@Suite struct PairingFlowTests {
    @Test(arguments: [false, true]) func success(confirm: Bool) throws {
        var bench = try PairingBench(confirm: confirm)
        let log = bench.run()
        let studio = PairedPeer(
            keyID: PairingBench.studioKey, role: .studio, name: DisplayName("Desk"), model: "PC", streamPort: nil,
            isConfirmed: confirm)
        let producer = PairedPeer(
            keyID: PairingBench.producerKey, role: .producer, name: DisplayName("Cam"), model: "Pi", streamPort: 4010,
            isConfirmed: confirm)
        #expect(log.producer.results == [.paired(studio)] && log.producer.stores == [studio])
        #expect(log.studio.results == [.paired(producer)] && log.studio.stores == [producer])
        #expect(log.producer.number == log.studio.number && log.producer.number?.count == 6)
        #expect(bench.producer.isFinished && bench.studio.isFinished)
        #expect(bench.producer.nextDeadline == nil && bench.studio.nextDeadline == nil)
    }

    @Test func failures() throws {
        var wrongSecret = try PairingBench(codeSecret: 8)
        var log = wrongSecret.run()
        #expect(log.studio.failure == .badCode && log.producer.failure == .badCode)
        #expect(log.studio.stores.isEmpty && log.producer.stores.isEmpty)

        // Somebody in the middle: each side has another TLS connection.
        var otherChannel = try PairingBench(exporter: [UInt8](repeating: 0xE1, count: 32))
        log = otherChannel.run()
        #expect(log.studio.failure == .badCode && log.studio.stores.isEmpty && log.producer.stores.isEmpty)

        var declined = try PairingBench(confirm: true)
        log = declined.run(confirmStudio: false)
        #expect(log.studio.failure == .declined && log.producer.failure == .declined && log.producer.stores.isEmpty)

        var declinedHere = try PairingBench(confirm: true)
        log = declinedHere.run(confirmProducer: false)
        #expect(log.producer.failure == .declined && log.studio.stores.isEmpty && log.producer.stores.isEmpty)

        var fullDisk = try PairingBench()
        log = fullDisk.run(saves: false)
        #expect(log.producer.failure == .storeError && log.studio.failure == .storeError && log.studio.stores.isEmpty)
    }

    @Test func whoDeclinedOrCancelledIsTold() {
        for reason in [PairingFailure.declined, .cancelled] {
            #expect(reason.error().message.contains("at the other end"))
            #expect(!reason.error(isOwn: true).message.contains("other end"))
            #expect(reason.error().code == reason.error(isOwn: true).code)
        }
    }

    /// The producer has stored the studio by then: without the studio's word it takes that back.
    @Test func theStudioHasTheLastWord() throws {
        for reason in [PairingFailure.storeError, .codeShared] {
            var bench = try PairingBench()
            let log = bench.run(studioFailure: reason)
            #expect(log.producer.failure == reason && log.studio.failure == reason)
            #expect(log.producer.unstored == [PairingBench.studioKey])
        }
    }

    @Test func lostBeforeTheLastWord() throws {
        func untilVerdict() throws -> PairingBench {
            var bench = try PairingBench()
            _ = bench.producer.connected(studio: PairingBench.studioKey, exporter: PairingBench.exporter)
            let helloP = bench.producer.received(try message(bench.studio.connected()))
            let accept = bench.studio.received(try message(helloP), window: &bench.window, now: bench.now)
            _ = bench.producer.received(try message(accept))
            #expect(bench.producer.stored(true) == [.send(.pairDone)])
            return bench
        }
        let undone = PairingAction.unstore(PairingBench.studioKey)
        var lost = try untilVerdict()
        #expect(lost.producer.connectionClosed() == [undone])
        #expect(!lost.producer.isFinished)
        // The same key may come again, on a new connection.
        lost.studio = try PairingBench().studio
        #expect(lost.run().producer.stores.count == 1)

        var late = try untilVerdict()
        let timeout = late.producer.timeAdvanced(now: PairingBench.start + .seconds(30))
        #expect(timeout.first == undone && timeout.failure == .timeout)
        var stopped = try untilVerdict()
        let cancelled = stopped.producer.cancelled()
        #expect(cancelled.first == undone && cancelled.failure == .cancelled)
        var broken = try untilVerdict()
        #expect(broken.producer.received(.pairHello(PairHello(name: DisplayName("Desk")))).first == undone)
    }

    @Test func ownCode() {
        let error = #expect(throws: GantryError.self) { try PairingBench(key: PairingBench.studioKey) }
        #expect(error?.code == .pairingCodeOwn)
    }

    @Test func onlyTheStudioOfTheCode() throws {
        var bench = try PairingBench()
        #expect(bench.producer.connected(studio: PairingBench.producerKey, exporter: PairingBench.exporter) == [.close])
        #expect(bench.producer.connected(studio: PairingBench.studioKey, exporter: []) == [.close])
        #expect(!bench.producer.isFinished)
        #expect(bench.run().producer.stores.count == 1)
    }

    @Test func thirtySeconds() throws {
        #expect(PairingLimits.deadline == .seconds(30))
        var bench = try PairingBench()
        let deadline = PairingBench.start + .seconds(30)
        #expect(bench.producer.nextDeadline == deadline)
        #expect(bench.producer.timeAdvanced(now: deadline - .microseconds(1)) == [])
        #expect(bench.producer.timeAdvanced(now: deadline) == [.finish(.failed(.noStudioAnswered))])
        #expect(bench.producer.timeAdvanced(now: deadline) == [])
        #expect(bench.producer.cancelled() == [])

        var later = try PairingBench()
        _ = later.producer.connected(studio: PairingBench.studioKey, exporter: PairingBench.exporter)
        #expect(later.producer.timeAdvanced(now: deadline).failure == .timeout)

        var silent = try PairingBench()
        _ = silent.studio.connected()
        #expect(silent.studio.timeAdvanced(now: PairingBench.start + .microseconds(4_999_999)) == [])
        #expect(silent.studio.timeAdvanced(now: PairingBench.start + .seconds(5)).failure == .timeout)
    }

    @Test func cancelled() throws {
        var bench = try PairingBench()
        #expect(bench.producer.cancelled() == [.finish(.failed(.cancelled))])
        #expect(bench.run().producer.stores.isEmpty)
        var during = try PairingBench()
        _ = during.studio.connected()
        #expect(during.studio.cancelled().failure == .cancelled)
    }

    @Test func aLostConnectionDoesNotEndTheAttempt() throws {
        var bench = try PairingBench()
        _ = bench.producer.connected(studio: PairingBench.studioKey, exporter: PairingBench.exporter)
        #expect(bench.producer.connectionClosed() == [])
        #expect(bench.run().producer.stores.count == 1)
    }

    /// The five messages in all 120 orders, given to the end that each is meant for: only the right order pairs.
    @Test func everyPermutationFailsClosed() throws {
        var right = try PairingBench()
        _ = right.producer.connected(studio: PairingBench.studioKey, exporter: PairingBench.exporter)
        let helloS = right.studio.connected()
        let helloP = right.producer.received(try message(helloS))
        let accept = right.studio.received(try message(helloP), window: &right.window, now: right.now)
        _ = right.producer.received(try message(accept))
        let done = right.producer.stored(true)
        _ = right.studio.received(try message(done), window: &right.window, now: right.now)
        let verdict = right.studio.stored(nil)
        // True: to the producer.
        let messages: [(Bool, ControlMessage)] = [
            (true, try message(helloS)), (false, try message(helloP)), (true, try message(accept)),
            (false, try message(done)), (true, try message(verdict)),
        ]
        var paired: [[Int]] = []
        for order in permutations([0, 1, 2, 3, 4]) {
            var bench = try PairingBench()
            _ = bench.producer.connected(studio: PairingBench.studioKey, exporter: PairingBench.exporter)
            _ = bench.studio.connected()
            var actions: (producer: [PairingAction], studio: [PairingAction]) = ([], [])
            for index in order {
                if messages[index].0 {
                    actions.producer += bench.producer.received(messages[index].1)
                    if !actions.producer.stores.isEmpty { actions.producer += bench.producer.stored(true) }
                } else {
                    actions.studio += bench.studio.received(messages[index].1, window: &bench.window, now: bench.now)
                    if !actions.studio.stores.isEmpty { actions.studio += bench.studio.stored(nil) }
                }
            }
            // Each end is judged by the order that it saw.
            let seenByProducer = order.filter { messages[$0].0 }
            let seenByStudio = order.filter { !messages[$0].0 }
            let producerPairs = seenByProducer == [0, 2, 4]
            let kept = actions.producer.stores.count - actions.producer.unstored.count
            #expect((kept > 0) == producerPairs, "\(order)")
            #expect(actions.studio.stores.isEmpty == (seenByStudio != [1, 3]), "\(order)")
            if !producerPairs { #expect(actions.producer.contains(.close), "\(order)") }
            if seenByStudio != [1, 3] { #expect(actions.studio.contains(.close), "\(order)") }
            if producerPairs, !actions.studio.stores.isEmpty { paired.append(order) }
        }
        #expect(paired.contains([0, 1, 2, 3, 4]))
    }

    /// All 24 orders of all four messages at one end: a message meant for the other side ends the connection.
    @Test func everyPermutationAtOneEnd() throws {
        let sample = SampleMessages.pairHello.with(proof: [UInt8](repeating: 0, count: 32))
        let messages: [ControlMessage] = [
            .pairHello(PairHello(name: DisplayName("Desk"))), .pairHello(sample),
            .pairAccept(PairAccept(proof: [UInt8](repeating: 0, count: 32))), .pairDone,
        ]
        for order in permutations([0, 1, 2, 3]) {
            var bench = try PairingBench()
            _ = bench.producer.connected(studio: PairingBench.studioKey, exporter: PairingBench.exporter)
            _ = bench.studio.connected()
            var producer: [PairingAction] = []
            var studio: [PairingAction] = []
            for index in order {
                producer += bench.producer.received(messages[index])
                studio += bench.studio.received(messages[index], window: &bench.window, now: bench.now)
            }
            #expect(
                producer.stores.isEmpty && studio.stores.isEmpty && producer.contains(.close) && studio.contains(.close)
            )
        }
    }

    /// Random events in any state: the outcome comes once at most, and nothing is stored without the right proofs.
    @Test func randomEvents() throws {
        var random = SeededGenerator(seed: 21)
        let pool = SampleMessages.all.keys.sorted().compactMap(SampleMessages.value)
        for _ in 0..<400 {
            var bench = try PairingBench(confirm: Bool.random(using: &random))
            var producer: [PairingAction] = []
            var studio: [PairingAction] = []
            for _ in 0..<30 {
                let message = pool.randomElement(using: &random) ?? .pairDone
                bench.now = bench.now + .milliseconds(Int64.random(in: 0...2000, using: &random))
                switch Int.random(in: 0..<9, using: &random) {
                case 0:
                    producer += bench.producer.connected(
                        studio: PairingBench.studioKey, exporter: PairingBench.exporter)
                case 1: producer += bench.producer.confirmed(Bool.random(using: &random))
                case 2: producer += bench.producer.stored(Bool.random(using: &random))
                case 3: producer += bench.producer.connectionClosed()
                case 4: producer += bench.producer.timeAdvanced(now: bench.now)
                case 5: studio += bench.studio.connected()
                case 6: studio += bench.studio.timeAdvanced(now: bench.now) + bench.studio.stored(nil)
                default:
                    producer += bench.producer.received(message)
                    studio += bench.studio.received(message, window: &bench.window, now: bench.now)
                }
            }
            for actions in [producer, studio] {
                #expect(actions.results.count <= 1)
                #expect(actions.stores.isEmpty)
                if let end = actions.firstIndex(where: { if case .finish = $0 { true } else { false } }) {
                    #expect(actions[(end + 1)...].allSatisfy { $0 == .close })
                }
            }
        }
    }

    private func message(_ actions: [PairingAction]) throws -> ControlMessage {
        try #require(actions.compactMap { if case .send(let message) = $0 { message } else { nil } }.first)
    }
}

func permutations(_ items: [Int]) -> [[Int]] {
    guard items.count > 1 else { return [items] }
    return items.indices.flatMap { index in
        var rest = items
        let first = rest.remove(at: index)
        return permutations(rest).map { [first] + $0 }
    }
}
