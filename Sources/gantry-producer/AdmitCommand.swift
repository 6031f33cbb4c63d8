import CommandLineKit
import GantryCore
import GantryPlatform
import ProducerKit

/// `gantry-producer admit`: answers for the running producer.
struct AdmitCommand {
    private let installation: Installation
    private let answer: StudioRequest.Answer
    private let json: Bool

    init(_ arguments: ParsedArguments) throws(GantryError) {
        installation = try Installation(arguments)
        json = arguments.has("json")
        guard let answer = StudioRequest.Answer(rawValue: arguments.positional(0) ?? "") else {
            throw GantryError(.invalidArgument, "The answer is no, once or always: gantry-producer admit once")
        }
        self.answer = answer
    }

    func run() throws(GantryError) -> ExitStatus {
        let result = try installation.requireRunning().call("admit", ["answer": .string(answer.rawValue)])
        let name = result["name"]?.string ?? "-"
        if json {
            let event = JSONValue.object([
                .init("event", "answered"), .init("name", .string(name)), .init("answer", .string(answer.rawValue)),
            ])
            StandardStreams.writeOutput(event.text + "\n")
        } else {
            let words =
                switch answer {
                case .no: "was turned away"
                case .once: "may receive until it disconnects"
                case .always: "is paired"
                }
            StandardStreams.writeOutput("\(DisplayName(name).text) \(words).\n")
        }
        return .success
    }
}
