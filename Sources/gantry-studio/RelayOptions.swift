import CommandLineKit
import GantryCore
import GantryMedia
import GantryPlatform
import StudioKit

/// `relay URL` and `receive --relay URL`: the options, the output, and what is told of it.
enum RelayOptions {
    static let option = Option(
        "relay", value: "URL",
        help: "Send it on to a media server, not coded again: rtmp://, rtmps://, rtsp://, srt://. - reads the URL from "
            + "standard input.", group: "Outputs")
    static let wait = Option("wait", help: "Try until producer and media server are there, also the first time.")

    static let command = Command(
        "relay", summary: "Send what a producer sends on to a media server",
        options: StudioCommands.receive.options.filter { $0.name != option.name },
        positionals: [
            Positional("URL", help: "The server; - reads the URL from standard input, where nobody else sees it."),
            Positional(
                "HOST:PORT|NAME|usb|URL", help: "The producer, as for receive. Not needed when only one is paired.",
                isRequired: false),
        ],
        examples: [
            .init("gantry-studio relay rtsp://media.example:8554/stage camera", "to an RTSP server, such as MediaMTX"),
            .init(
                "gantry-studio relay - camera < key.txt", "a URL with a stream key, from a file that only you can read"),
            .init("gantry-studio relay srt://media.example:9000 --wait", "goes on until both ends are there"),
        ],
        notes: [
            "Pictures go as they come; sound as well, but to RTMP, where it becomes AAC. Whoever can see the list of processes can "
                + "read a URL that is typed here, with its password or stream key."
        ])

    static func isRelay(_ arguments: ParsedArguments) -> Bool { arguments.commandNames.first == command.name }

    static func isWanted(_ arguments: ParsedArguments) -> Bool { isRelay(arguments) || arguments.has(option.name) }

    /// Which positional names the producer.
    static func producerIndex(_ arguments: ParsedArguments) -> Int { isRelay(arguments) ? 1 : 0 }

    private static func address(_ url: String, _ arguments: ParsedArguments) throws(GantryError) -> RelayAddress {
        do throws(GantryError) {
            return try RelayAddress(url)
        } catch {
            guard isRelay(arguments), arguments.positional(1)?.contains("://") == true else { throw error }
            throw GantryError(
                error.code, error.message + " It comes first, then the producer: gantry-studio relay URL PRODUCER",
                cause: error.cause)
        }
    }

    /// Nil when none is asked for.
    static func output(
        _ arguments: ParsedArguments, changed: @escaping @Sendable (RelayEvent, String) -> Void,
        failed: @escaping @Sendable (GantryError) -> Void
    ) throws(GantryError) -> RelayOutput? {
        guard let typed = isRelay(arguments) ? arguments.positional(0) : arguments.string(option.name) else {
            return nil
        }
        let isPiped = typed == "-"
        let url = isPiped ? try SecretPrompt.readStandardInput().text : typed
        let shown = try address(url, arguments).shown
        let output = try RelayOutput(
            url: url, waits: arguments.has(wait.name), changed: { changed($0, shown) }, failed: failed)
        if output.hasSecret, !isPiped {
            StandardStreams.writeError(
                "warning: Whoever sees this machine's list of processes can read that URL, with its password or key. Hand it over on "
                    + "standard input instead: gantry-studio relay - < FILE\n")
        }
        return output
    }

    static func line(_ output: RelayOutput) -> String {
        let counts = output.statistics
        return
            "Relayed \(Figures.count(counts.framesSent, "frame")) and \(counts.audioPacketsSent) packets of sound to "
            + "\(output.address): \(Figures.count(counts.connections, "connection")), \(counts.packetsDropped) left out."
    }

    static func json(_ output: RelayOutput) -> JSONValue.Member {
        let counts = output.statistics
        return .init(
            "relay",
            .object([
                .init("address", .string(output.address)), .init("frames", .integer(Int64(counts.framesSent))),
                .init("audioPackets", .integer(Int64(counts.audioPacketsSent))),
                .init("bytes", .integer(counts.bytesSent)),
                .init("dropped", .integer(Int64(counts.packetsDropped))),
                .init("connections", .integer(Int64(counts.connections))),
            ]))
    }

    static func metrics(_ output: RelayOutput?) -> [Metric] {
        let counts = output?.statistics
        func counter(_ key: String, _ value: Int?, _ name: String, _ help: String) -> Metric {
            Metric(key, value.map(Double.init), name: name, kind: .counter, help: help)
        }
        return [
            counter(
                "relayFramesSent", counts?.framesSent, "relay_frames_sent_total", "Pictures sent to the media server."),
            counter(
                "relayPacketsDropped", counts?.packetsDropped, "relay_packets_dropped_total",
                "Packets that the media server did not get."),
            counter(
                "relayConnections", counts?.connections, "relay_connections_total",
                "Connections to the media server that stood."),
        ]
    }
}
