import CommandLineKit

/// A table of the kind that the tools have, for the tests.
enum ExampleTool {
    static let root = Command(
        "gantry-example", summary: "shows what a table looks like",
        options: [
            Option("state-dir", value: "DIR", help: "Keep keys and paired devices in DIR."),
            Option("log", value: "LEVEL", help: "How much is logged.", allowed: ["error", "warning", "info", "debug"]),
        ],
        subcommands: [run, devices])

    static let run = Command(
        "run", summary: "plays a source to paired studios",
        options: [
            Option("loop", short: "l", help: "Start again at the end."),
            Option("json", short: "j", help: "Events as JSON lines."),
            Option("size", short: "s", value: "WxH", help: "Scale the picture to this size.", group: "Picture"),
            Option("fps", value: "RATE", help: "Frames per second.", group: "Picture"),
            Option(
                "bitrate", short: "b", value: "BITS",
                help:
                    "Most bits per second for the picture; the encoder goes below this when the network cannot take it.",
                group: "Picture"),
            Option("offset", value: "N", help: "A number."),
            Option("duration", value: "TIME", help: "Stop after this time."),
            Option("port", value: "PORT", help: "Listen on this port."),
            Option("to", value: "HOST:PORT", help: "Dial this studio.", isRepeatable: true),
            Option("play", value: "DEVICE", help: "Play the sound.", optionalValue: ["hw:", "default"]),
        ],
        positionals: [
            Positional("SOURCE", help: "A file, a URL, or - for standard input."),
            Positional("SOUND", help: "Another file for the sound.", isRequired: false),
        ],
        examples: [.init("gantry-example run clip.mp4 --loop", "Plays clip.mp4 again and again.")],
        notes: ["Ends at the end of the source, or after Ctrl-C."])

    static let devices = Command(
        "devices", summary: "paired devices",
        subcommands: [
            Command("list", summary: "shows them"),
            Command(
                "remove", summary: "forgets some",
                positionals: [Positional("NAME", help: "Which.", isRepeatable: true)]),
        ])

    static let parser = CommandLineParser(root, version: "1.2.3")
}
