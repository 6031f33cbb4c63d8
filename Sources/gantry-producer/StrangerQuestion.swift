import CommandLineKit
import GantryCore
import GantryPlatform
import ProducerKit

/// Asks the person at the terminal about a studio on the USB cable that is not paired; the kit gives one at a time.
///
/// `event` may come on any thread; asking has a thread of its own ("question").
final class StrangerQuestion: @unchecked Sendable {  // What varies is guarded by `lock`.
    private let controller: ProducerController
    private let report: RunReport
    private let lock = Lock()
    private var open: (request: StudioRequest, cancellation: EventDescriptor)?
    private var thread: NamedThread?

    init(_ controller: ProducerController, _ report: RunReport) {
        self.controller = controller
        self.report = report
    }

    func event(_ event: ProducerEvent) {
        switch event {
        case .studioAsks(let request): ask(request)
        // Answered by somebody else, or the studio has gone.
        case .requestEnded(let request): takeBack { $0 == request }
        default: break
        }
    }

    /// Takes the question back; returns when the terminal is free.
    func close() {
        takeBack { _ in true }
        lock.withLock { thread }?.join()
    }

    private func takeBack(_ isIt: (StudioRequest) -> Bool) {
        lock.withLock {
            guard let open, isIt(open.request) else { return }
            open.cancellation.signal()
        }
    }

    private func ask(_ request: StudioRequest) {
        let earlier = lock.withLock { thread }
        do throws(GantryError) {
            let cancellation = try EventDescriptor()
            lock.withLock { open = (request, cancellation) }
            let new = try NamedThread("question") { [self] in
                // Its terminal is free in a moment: its request is over.
                earlier?.join()
                if let answer = answer(about: request, cancellation) { controller.answer(request, answer) }
            }
            lock.withLock { thread = new }
        } catch {
            Log.error("\(error)")
        }
    }

    /// Nil when the question was taken back.
    private func answer(about request: StudioRequest, _ cancellation: EventDescriptor) -> StudioRequest.Answer? {
        do throws(GantryError) {
            let line = try report.ask { () throws(GantryError) in
                try YesNoPrompt.line(
                    "Let \(request.name) receive? y: this time, a: always, n: no [y/a/N] ", cancellation: cancellation,
                    withoutTerminal: "Give --usb-trust paired-only.")
            }
            return Self.meaning(of: line)
        } catch {
            if error.code != .cancelled { Log.error("\(error)") }
            return nil
        }
    }

    private static func meaning(of line: String) -> StudioRequest.Answer {
        switch line.lowercased().split(separator: " ").first {
        case "y", "yes", "once": .once
        case "a", "always": .always
        default: .no
        }
    }
}
