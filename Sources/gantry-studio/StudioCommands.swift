import CommandLineKit

/// The tables of everything that can be typed behind `gantry-studio`.
enum StudioCommands {
    static let root = Command(
        "gantry-studio",
        summary: "Receive video and sound of a paired producer",
        options: CommonOptions.all,
        examples: [
            .init("gantry-studio pair", "show a code for the producer to scan"),
            .init("gantry-studio receive camera --record take.mp4", "record what the producer named camera sends"),
            .init("gantry-studio receive camera --ts - | ffplay -", "watch it"),
        ],
        notes: [CommonOptions.exitStatuses],
        subcommands: [pair, receive, list, devices])

    static let pair = Command(
        "pair", summary: "Show a code that a producer scans, and wait for it",
        options: CodeWindow.options + [
            Option("name", value: "NAME", help: "What the producer shows. Default: the host's name."),
            Option("duration", short: "d", value: "TIME", help: "Give up after this time. Default and most: 5m."),
        ],
        examples: [
            .init("gantry-studio pair", "draw the QR code here"),
            .init("gantry-studio pair --png code.png", "and write it as a picture too, until it is used"),
            .init("gantry-studio pair --confirm", "compare numbers before anything is paired"),
        ],
        notes: ["Whoever sees the code can pair while it is shown: show it to nobody but the producer."])

    static let receive = Command(
        "receive", summary: "Connect to a paired producer and use what it sends",
        options: [
            Option(
                "pair",
                help: "Show a code, and receive from the producer that scans it, or from a paired one that is here.",
                group: "Code")
        ] + CodeWindow.options + [
            Option(
                "record", short: "r", value: "FILE",
                help: "Record to .mp4 or .mkv, without coding again; it plays even after a crash.", group: "Outputs"),
            Option(
                "snapshot", value: "FILE", help: "Write one picture as PNG, a second after the start.", group: "Outputs"
            ),
            Option(
                "y4m", value: "FILE", help: "Write the pictures as YUV4MPEG2; - is standard output.", group: "Outputs"),
            Option("wav", value: "FILE", help: "Write the sound as WAV; - is standard output.", group: "Outputs"),
        ] + SoundOptions.table + [
            Option(
                "ts", value: "FILE",
                help: "Write picture and sound as MPEG-TS; - is standard output, for ffplay or OBS.",
                group: "Outputs"),
            Option(
                "vcam", value: "DEVICE",
                help: "Be a camera for other programs (v4l2loopback). Default: the first free device.",
                group: "Outputs",
                optionalValue: ["/dev/", "auto"]),
            Option("vcam-size", value: "WxH", help: "Size of that camera. Default: 1280x720.", group: "Outputs"),
            Option(
                "trace", value: "FILE",
                help: "Write what became of each picture, as JSON lines; - is standard output.", group: "Outputs"),
            Option("force", short: "f", help: "Overwrite files that exist.", group: "Outputs"),
            Option("no-audio", help: "Take the picture only."),
            Option("no-video", help: "Take the sound only."),
            Option("duration", short: "d", value: "TIME", help: "Stop after this time of media, as in 10s or 1m30s."),
            Option(
                "no-reconnect",
                help:
                    "End when the connection is lost. Without it `receive` goes on, over the other path or as soon as the "
                    + "producer is back, in the same outputs, until Ctrl-C or the producer's goodbye."),
            Option("stats", help: "Show figures in full at the end: loss, latency, skew, processor time."),
            Option("name", value: "NAME", help: "What the producer shows. Default: the host's name."),
        ],
        positionals: [
            Positional(
                "HOST:PORT|NAME|usb",
                help:
                    "The producer; by its name over USB when it is plugged in, else over the network. usb, usb:SERIAL: the "
                    + "one on the cable, paired or not. Not needed when only one is paired.",
                isRequired: false)
        ],
        examples: [
            .init("gantry-studio receive", "connect to the only paired producer and show figures"),
            .init("gantry-studio receive usb", "what is on the USB cable; the producer asks when it is not paired"),
            .init("gantry-studio receive --pair", "show a code, and receive from the producer that scans it"),
            .init("gantry-studio receive 192.168.1.20:7787 -r take.mp4 -d 10s", "record ten seconds"),
            .init("gantry-studio receive camera --ts - | ffplay -", "watch"),
            .init("gantry-studio receive camera --vcam", "use it as a webcam in browsers and meetings"),
            .init("gantry-studio receive camera --play", "listen"),
            .init("gantry-studio receive camera --y4m - | ffmpeg -i - out.webm", "hand frames on"),
        ])

    static let list = Command(
        "list", summary: "Show the producers on this network and on USB, and the paired ones that are away",
        options: [Option("watch", short: "w", help: "Go on, and tell what comes, changes and goes, until Ctrl-C.")],
        examples: [
            .init("gantry-studio list", "who is here, at what address, and whether it is paired"),
            .init("gantry-studio list --watch --json", "a JSON line for each change"),
        ],
        notes: ["A name here can be given to `gantry-studio receive` once it is paired."])

    static let devices = DevicesCommand.table(peer: "producer", tool: "gantry-studio")
}
