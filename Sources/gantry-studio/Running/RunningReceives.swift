import CommandLineKit
import GantryCore
import GantryPlatform
import StudioKit

/// The `receive`s of this installation that run.
struct RunningReceives {
    /// At one time; a later one runs without a socket.
    static let slots = 1...16
    /// One that does not answer must not hold up the others for long.
    private static let patience = MediaDuration.seconds(3)

    /// Chooses one where there are several.
    static let option = Option(
        "producer", short: "p", value: "NAME",
        help:
            "Which one, where several receive: by the producer's name, or the process that `gantry-studio status` shows.",
        completion: [.pairedDevices])

    /// One that runs, with what it said about itself.
    struct Entry {
        let client: ControlClient
        let status: JSONValue

        var name: String { status["producer"]?.string ?? "-" }
        /// Of its process; those that receive from the same producer differ in it.
        var process: String { status["process"]?.integer.map(String.init) ?? "-" }
    }

    private let keyID: KeyID
    private let stateFolder: String
    private let wanted: String?

    init(_ arguments: ParsedArguments) throws(GantryError) {
        let folder = try StateFolder.open(arguments.string("state-dir"))
        stateFolder = folder.path
        keyID = try StudioController(configuration: StudioConfiguration(stateDirectory: folder.path)).keyID
        wanted = arguments.string("producer")
    }

    /// Those that answer; with `--producer`, those of that name, or that process.
    func all() throws(GantryError) -> [Entry] {
        var entries: [Entry] = []
        for slot in Self.slots {
            let address = ControlAddress(studio: keyID, slot: slot, stateFolder: stateFolder)
            guard let client = try ControlClient.connect(to: address) else { continue }
            do throws(GantryError) {
                entries.append(Entry(client: client, status: try client.call("status", limit: Self.patience)))
            } catch {
                // One that is just ending is as good as gone.
                if error.code != .peerLost { Log.warning("\(error)") }
            }
        }
        guard let wanted else { return entries }
        let named = entries.filter { $0.name.lowercased() == wanted.lowercased() }
        return named.isEmpty ? entries.filter { $0.process == wanted } : named
    }

    /// The only one.
    ///
    /// - Throws: `notRunning`, `invalidArgument` when there are several.
    func one() throws(GantryError) -> Entry {
        let entries = try all()
        guard let entry = entries.first else {
            let whom = wanted.map { " from \(DisplayName($0).text)" } ?? ""
            throw GantryError(.notRunning, "Nothing is received\(whom). Start it with: gantry-studio receive")
        }
        guard entries.count == 1 else {
            // Names come from other machines.
            let names = entries.map { "\(DisplayName($0.name).text) (process \($0.process))" }.joined(separator: ", ")
            let areDistinct = Set(entries.map { $0.name.lowercased() }).count == entries.count
            throw GantryError(
                .invalidArgument,
                "Several receive: \(names). Choose one: --producer \(areDistinct ? "NAME" : entry.process)")
        }
        return entry
    }
}
