import Foundation

/// A producer that runs in host 1 of a lab, and studios of host 2 that pair with it and receive from it.
final class PairingLab {
    /// How a producer that has the code and the studio come together.
    enum Way: String {
        /// The code as it is: the producer dials the address in it (and is announced, too).
        case address
        /// Without addresses: the studio finds the producer by `_camopairing._tcp` alone.
        case discovery

        /// The code without its options A and B, and C, which is a check of the whole; or as it is.
        func code(_ text: String) -> String {
            guard self == .discovery else { return text }
            return text.split(separator: "/", omittingEmptySubsequences: false).enumerated()
                .filter { $0.offset < 3 || !["A", "B", "C"].contains($0.element.prefix(1)) }
                .map { String($0.element) }.joined(separator: "/")
        }
    }

    let lab: Lab
    private(set) var producer: LabTool
    private var studios = 0

    init(_ tools: String) throws {
        lab = try Lab(tools)
        do {
            try lab.up()
            producer = try lab.start(
                "gantry-producer", on: 1, ["--state-dir", lab.path("producer"), "run", "test", "--json"])
            _ = try producer.wait(for: "advertised")
        } catch {
            lab.close()
            throw error
        }
    }

    func close() {
        producer.end()
        lab.close()
    }

    /// The name of a state folder that is not there yet.
    func freshStudio() -> String {
        studios += 1
        return "studio\(studios)"
    }

    func studio(_ state: String, _ arguments: [String]) throws -> LabTool {
        try lab.start("gantry-studio", on: 2, ["--state-dir", lab.path(state)] + arguments)
    }

    /// Gives the code that `studio` shows to the running producer, and waits until that has paired.
    func scan(_ studio: LabTool, _ way: Way) throws -> LabTool {
        guard let code = try studio.wait(for: "code").fields["code"] as? String else {
            throw Lab.Failure(description: "the studio shows no code")
        }
        let pairing = try lab.start(
            "gantry-producer", on: 1, ["--state-dir", lab.path("producer"), "pair", "-", "--json"],
            input: way.code(code))
        _ = try pairing.wait(for: "paired")
        return pairing
    }
}
