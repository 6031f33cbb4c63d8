import CommandLineKit
import GantryCore
import StudioKit

/// The tables of everything that can be typed behind `gantry-studio`.
enum StudioCommands {
    static let root = Command(
        "gantry-studio",
        summary: "Receive video and sound of a paired producer",
        options: CommonOptions.all,
        examples: [
            .init("gantry-studio pair", "show a code for the producer to scan"),
            .init("gantry-studio receive camera --record take.mp4", "record what the producer named camera sends"),
            .init("gantry-studio receive camera --preview", "watch it"),
        ],
        notes: [CommonOptions.exitStatuses],
        subcommands: [
            pair, receive, relay, latency, list, network, status, replay, pause, resume, prefer, devices, doctor,
            config,
        ])

    static let pair = Command(
        "pair", summary: "Show a code that a producer scans, and wait for it",
        options: CodeWindow.options + [
            Option(
                "name", value: "NAME", help: "What the producer shows. Default: the host's name.", form: .displayName),
            Option(
                "duration", short: "d", value: "TIME", help: "Give up after this time. Default and most: 5m.",
                form: .anyDuration),
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
                "preview",
                help:
                    "Show the picture in a window, as early as it can be. Keys: h shows all of them, f fills the screen, i shows "
                    + "latency and sound level, s snapshot, r record, q ends.",
                group: "Outputs"),
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
            Option(
                "vcam-size", value: "WxH", help: "Size of that camera. Default: 1280x720.", group: "Outputs",
                form: .size(16...8192)),
            Option(
                "trace", value: "FILE",
                help: "Write what became of each picture, as JSON lines; - is standard output.", group: "Outputs"),
            RelayOptions.option,
            Option("force", short: "f", help: "Overwrite files that exist.", group: "Outputs"),
            Option(
                "replay", value: "TIME",
                help: "Hold the last seconds, to be shown again or saved with `gantry-studio replay`. Default: 30s.",
                optionalValue: [], form: .duration(ReplaySettings.durations)),
            Option(
                "plain", help: "Show a line of figures every few seconds on a terminal too, instead of a live view."),
            RelayOptions.wait,
            Option("no-audio", help: "Take the picture only."),
            Option("no-video", help: "Take the sound only."),
            Option(
                "duration", short: "d", value: "TIME", help: "Stop after this time of media, as in 10s or 1m30s.",
                form: .anyDuration),
            Option(
                "no-reconnect",
                help:
                    "End when the connection is lost. Without it `receive` goes on, over the other path or as soon as the "
                    + "producer is back, in the same outputs, until Ctrl-C or the producer's goodbye."),
            Option(
                "transport", value: "WAY",
                help:
                    "How media travels on a network. auto: TCP, and UDP once packets are lost, where it passes. tcp: "
                    + "never UDP. udp: UDP from the beginning; end when it does not pass. Default: auto.",
                allowed: ["auto", "tcp", "udp"]),
            Option(
                "name", value: "NAME", help: "What the producer shows. Default: the host's name.", form: .displayName),
            ToolPriority.option,
        ] + field + StatisticsOptions.table(usual: StatisticsOptions.studioMetrics),
        positionals: [
            Positional(
                "HOST:PORT|NAME|usb|URL",
                help:
                    "The producer; by its name over USB when it is plugged in, else over the network. usb, usb:SERIAL: the "
                    + "one on the cable, paired or not. rtsp://…, rtmp://, srt://, http://, udp://, file://: a stream that is no "
                    + "producer's. Not needed when only one is paired.",
                isRequired: false, completion: [.pairedDevices, .words(["usb"])])
        ],
        examples: [
            .init("gantry-studio receive", "connect to the only paired producer and show figures"),
            .init("gantry-studio receive usb", "what is on the USB cable; the producer asks when it is not paired"),
            .init("gantry-studio receive --pair", "show a code, and receive from the producer that scans it"),
            .init("gantry-studio receive 192.168.1.20:7787 -r take.mp4 -d 10s", "record ten seconds"),
            .init("gantry-studio receive camera --preview --play", "watch and listen"),
            .init("gantry-studio receive camera --ts - | ffplay -", "hand it to a player"),
            .init("gantry-studio receive camera --vcam", "use it as a webcam in browsers and meetings"),
            .init("gantry-studio receive camera --play", "listen"),
            .init(
                "gantry-studio receive camera --vcam --replay=1m", "and `gantry-studio replay back 20` shows it again"),
            .init("gantry-studio receive camera --y4m - | ffmpeg -i - out.webm", "hand frames on"),
        ])

    static let relay = RelayOptions.command

    static let list = Command(
        "list", summary: "Show the producers on this network and on USB, and the paired ones that are away",
        options: [Option("watch", short: "w", help: "Go on, and tell what comes, changes and goes, until Ctrl-C.")]
            + field,
        examples: [
            .init("gantry-studio list", "who is here, at what address, and whether it is paired"),
            .init("gantry-studio list --watch --json", "a JSON line for each change"),
        ],
        notes: ["A name here can be given to `gantry-studio receive` once it is paired."])

    static let network = NetworkCommand.table
    static let latency = LatencyCommand.table

    /// Of all that look for producers.
    static let field = FieldOfUse.options { "Only producers that name this \($0). Default: all." }

    static let status = Command(
        "status", summary: "Show what is being received",
        options: [RunningReceives.option],
        examples: [
            .init("gantry-studio status", "from whom, what is paused here, and how much a replay holds"),
            .init("gantry-studio status --json", "a JSON line for each that runs"),
        ],
        notes: ["Ends with 1 when nothing is received."])

    private static let media = [
        Option("video", help: "The picture only."), Option("audio", help: "The sound only."), RunningReceives.option,
    ]

    static let pause = Command(
        "pause", summary: "Let the producer send nothing to this studio",
        options: media,
        examples: [
            .init("gantry-studio pause", "nothing comes until `resume`; the connection stays"),
            .init("gantry-studio pause --video", "sound goes on"),
        ])

    static let resume = Command(
        "resume", summary: "Go on after pause",
        options: media,
        examples: [
            .init("gantry-studio resume", "picture and sound"),
            .init("gantry-studio resume --audio -p camera", "the sound of the producer named camera"),
        ])

    static let prefer = Command(
        "prefer", summary: "Ask the producer for another size or rate",
        options: [
            Option("bitrate", value: "RATE", help: "Bits a second at most, as in 1M."), RunningReceives.option,
        ],
        positionals: [
            Positional("SIZE@RATE", help: "As in 640x480, @15 or 640x480@15.", isRequired: false)
        ],
        examples: [
            .init("gantry-studio prefer 640x480@15", "a small picture, 15 times a second"),
            .init("gantry-studio prefer --bitrate 800k", "for a thin link"),
        ],
        notes: ["A wish: the producer may send something else. It holds until the session ends."])

    static let replay = Command(
        "replay", summary: "Show or save the last seconds of what is being received",
        options: [RunningReceives.option],
        examples: [
            .init("gantry-studio replay back 10", "show again what came 10 seconds before"),
            .init("gantry-studio replay live", "and back"),
            .init("gantry-studio replay save goal.mp4", "into a file, without coding again"),
        ],
        notes: [
            "Needs `gantry-studio receive --replay`, or `replay arm`. Virtual camera, loudspeaker and pipes show it; "
                + "recordings go on with what is live."
        ],
        subcommands: [
            Command(
                "back", summary: "Show what came earlier", positionals: [time("How far back. Default: 10 seconds.")],
                examples: [.init("gantry-studio replay back 10", "again: 10 seconds further back")]),
            Command(
                "forward", summary: "Show what came later",
                positionals: [time("How far forward. Default: 10 seconds.")],
                examples: [.init("gantry-studio replay forward 5", "at the newest picture it is live again")]),
            Command(
                "to", summary: "Show what came so long before now",
                positionals: [Positional("TIME", help: "How long ago, as in 20 or 1m.")],
                examples: [.init("gantry-studio replay to 20", "what came 20 seconds ago, whatever is shown now")]),
            Command(
                "live", summary: "Show what comes now", examples: [.init("gantry-studio replay live", "back to now")]),
            Command(
                "save", summary: "Write what is held into a file",
                options: [Option("force", short: "f", help: "Overwrite a file that exists.")],
                positionals: [Positional("FILE", help: "Ends in .mp4 or .mkv.")],
                examples: [.init("gantry-studio replay save goal.mp4", "receiving goes on meanwhile")]),
            Command(
                "arm", summary: "Begin to hold what comes", positionals: [time("How long. Default: 30 seconds.")],
                examples: [.init("gantry-studio replay arm 1m", "the last minute, from now on")]),
            Command(
                "disarm", summary: "Hold nothing any more",
                examples: [.init("gantry-studio replay disarm", "its memory is free again")]),
        ])

    private static func time(_ help: String) -> Positional {
        Positional("TIME", help: help, isRequired: false)
    }

    static let devices = DevicesCommand.table(peer: "producer", tool: "gantry-studio")
    static let config = ConfigCommand.table(tool: "gantry-studio")
    static let doctor = DoctorCommand.table(
        tool: "gantry-studio", about: "network, virtual camera, USB, terminal, and what keeps them from working")
}
