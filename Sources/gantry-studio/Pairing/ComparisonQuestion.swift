import CommandLineKit
import GantryCore
import GantryPlatform

/// Asks the person at the terminal whether both sides show the same number, one question at a time.
///
/// Any thread; asking has a thread of its own ("question").
final class ComparisonQuestion: @unchecked Sendable {  // `asked` and `isClosed` are guarded by `lock`.
    private final class Asked: @unchecked Sendable {  // `thread` and `isOpen` are guarded by the owner's lock.
        let cancellation: EventDescriptor
        var thread: NamedThread?
        var isOpen = true

        init() throws(GantryError) { cancellation = try EventDescriptor() }
    }

    static let withoutTerminal = "--confirm needs one: run this in a terminal, or leave --confirm out."

    private let lock = Lock()
    private var asked: Asked?
    private var isClosed = false

    /// Asks for `number`, and calls `answered` unless the question is cancelled. A question while another one is open
    /// is none: two that prove the same code are one too many, so both get "no" at once.
    ///
    /// - Parameters:
    ///   - before: called on the asking thread when it is about to write to the terminal.
    ///   - answered: called once, on the asking thread or the caller's.
    func ask(
        _ number: String, before: @escaping @Sendable () -> Void, answered: @escaping @Sendable (Bool) -> Void
    ) throws(GantryError) {
        let new = try Asked()
        let isSecond = lock.withLock { () -> Bool in
            if isClosed { return true }
            if let asked, asked.isOpen {
                asked.isOpen = false
                asked.cancellation.signal()
                return true
            }
            asked = new
            return false
        }
        if isSecond { return answered(false) }
        let thread = try NamedThread("question") { [self] in
            before()
            let answer: Bool
            do throws(GantryError) {
                answer = try YesNoPrompt.ask(
                    "Does the producer show \(number)?", cancellation: new.cancellation,
                    withoutTerminal: Self.withoutTerminal)
            } catch {
                if error.code != .cancelled { Log.error("\(error)") }
                answer = false
            }
            let isOpen = lock.withLock {
                defer { new.isOpen = false }
                return new.isOpen
            }
            if isOpen { answered(answer) }
        }
        lock.withLock { new.thread = thread }
    }

    /// Takes the open question back, when there is one. Returns when the terminal is free.
    func takeBack() {
        let (open, thread) = lock.withLock { () -> (Asked?, NamedThread?) in
            guard let asked, asked.isOpen else { return (nil, nil) }
            asked.isOpen = false
            return (asked, asked.thread)
        }
        open?.cancellation.signal()
        thread?.join()
    }

    /// Takes the open question back; none is asked any more. Any number of times.
    func close() {
        let asked = lock.withLock { () -> Asked? in
            isClosed = true
            self.asked?.isOpen = false
            return self.asked
        }
        asked?.cancellation.signal()
        lock.withLock { asked?.thread }?.join()
    }
}
