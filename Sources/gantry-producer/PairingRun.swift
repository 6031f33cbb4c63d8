import GantryCore
import GantryPlatform
import ProducerKit

/// A pairing on a thread of its own, and what it tells, in order, for the thread that shows it and asks.
final class PairingRun: @unchecked Sendable {  // `condition` guards events and outcome.
    enum Step {
        case event(ProducerPairingEvent)
        case ended(Result<(name: String, key: String), GantryError>)
    }

    let way: any PairingWay
    /// Signalled at the end: takes back a question that still waits for its answer.
    let ending: EventDescriptor
    private let condition = Condition()
    private var events: [ProducerPairingEvent] = []
    private var outcome: Result<(name: String, key: String), GantryError>?

    init(_ way: any PairingWay) throws(GantryError) {
        self.way = way
        ending = try EventDescriptor()
    }

    func start(code: String, confirms: Bool) throws(GantryError) {
        _ = try NamedThread("pair") { [self] in
            let result: Result<(name: String, key: String), GantryError>
            do throws(GantryError) {
                result = .success(
                    try way.pair(code: code, confirms: confirms) { event in
                        self.condition.withLock {
                            self.events.append(event)
                            self.condition.broadcast()
                        }
                    })
            } catch {
                result = .failure(error)
            }
            condition.withLock {
                outcome = result
                condition.broadcast()
            }
            ending.signal()
        }
    }

    /// The next thing that has happened; nil at `deadline`.
    func next(until deadline: MediaTimestamp) -> Step? {
        condition.withLock {
            while events.isEmpty && outcome == nil {
                if !condition.wait(until: deadline) { return nil }
            }
            return events.isEmpty ? outcome.map(Step.ended) : .event(events.removeFirst())
        }
    }
}
