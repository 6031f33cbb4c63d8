import CommandLineKit
import GantryCore
import ProducerKit

/// The tables of everything that can be typed behind `gantry-producer`.
enum ProducerCommands {
    static let root = Command(
        "gantry-producer",
        summary: "Send video and sound of this machine to a paired studio",
        options: CommonOptions.all,
        examples: [
            .init("gantry-producer pair", "pair with the studio whose code you paste"),
            .init("gantry-producer sources", "which cameras, microphones and screens there are"),
            .init("gantry-producer run", "send the camera and the microphone"),
            .init("gantry-producer run clip.mp4", "send a file, in real time"),
            .init("gantry-producer status", "what the running one does"),
        ],
        notes: [CommonOptions.exitStatuses],
        subcommands: [run, sources, pair, devices, status, pause, resume, streams, admit, doctor, config])

    private static let whatToSend: [CompletionSource] = [
        .words(["camera", "screen", "test", "-"]), .cameras, .files,
    ]

    static let run = Command(
        "run", summary: "Wait for paired studios and send to them",
        options: [
            Option(
                "source", short: "s", value: "WHAT",
                help: "camera: the first real camera. A path such as /dev/video0: that one. screen: the screen of this "
                    + "X11 session; screen::1 another display's; screen,640x480+100+50 a part (width, height, left, top). "
                    + "test: moving test pattern with tone. FILE or URL: anything FFmpeg reads, in real time; a file "
                    + "begins when the first studio receives. -: YUV4MPEG2 on standard input. Default: camera.",
                group: "Source", completion: whatToSend),
            Option("loop", help: "Begin the file again at its end.", group: "Source"),
            Option(
                "audio", value: "WHAT",
                help:
                    "auto: the source's own sound; with a camera the default microphone if there is one, with the test "
                    + "pattern a tone, with a screen nothing. off: none. mic: the default microphone with any source. Or the "
                    + "name of a microphone, as `gantry-producer sources` lists them. Default: auto.",
                group: "Source", completion: [.words(["auto", "off", "mic"]), .microphones]),
            Option(
                "size", value: "WxH",
                help:
                    "Scale to this size; a camera gives the nearest it has. Default: as it comes; of a camera 1280x720.",
                group: "Picture", form: .size(16...8192)),
            Option(
                "fps", value: "RATE",
                help:
                    "Frames a second of the test pattern or a screen (default 30), or wished for from a camera; a file's frames beyond this rate are left out.",
                group: "Picture", form: .frameRate),
            Option(
                "grain", help: "Grain over the test pattern, so that it takes the whole bitrate: to try out a network.",
                group: "Picture"),
            Option(
                "bitrate", short: "b", value: "BITS",
                help:
                    "Bits a second of the video, as in 6M or 800k. Default: by size and rate; 8M at 1280x720, "
                    + "30 fps.",
                group: "Picture", form: .bitrate(ProducerConfiguration.bitrates)),
            Option(
                "control", value: "NAME=VALUE",
                help:
                    "Set a control of the camera: power_line_frequency=50_hz, focus_absolute=30. See: gantry-producer "
                    + "sources --controls.",
                group: "Picture", isRepeatable: true),
            Option(
                "keep-devices",
                help:
                    "Keep camera and microphone while no studio receives. Without it they are free for others a second "
                    + "after the last one has gone, and taken again when one comes.",
                group: "Picture"),
            Option(
                "pass-through", value: "WHAT",
                help: "Send what the camera has coded itself as it is. auto: H.264, where that is the camera's best "
                    + "mode. off: never. mjpeg, h264: only such modes. Default: auto.",
                group: "Picture", allowed: ["auto", "off", "mjpeg", "h264"]),
            Option(
                "name", value: "NAME", help: "What studios show. Default: the host's name.", group: "Connection",
                form: .displayName),
            Option(
                "port", short: "p", value: "PORT", help: "TCP port, 0 for any. Default: 7787.", group: "Connection",
                form: .port(allowsAny: true)),
            Option(
                "transport", value: "WAY",
                help:
                    "How media travels on a network. auto: TCP, and UDP once packets are lost, where the studio and the "
                    + "network take it. tcp: never UDP. Default: auto.",
                group: "Connection", allowed: ["auto", "tcp"]),
            Option(
                "usb", value: "FOLDER",
                help:
                    "Send over a USB cable as well: this machine is the device, the studio the host. FOLDER is where the "
                    + "gadget's FunctionFS is mounted. Default: the one that is. See docs/usb.md.",
                group: "USB", optionalValue: []),
            Option(
                "usb-setup",
                help:
                    "Make the USB gadget, and take it away at the end. Only root can; it never takes a controller that "
                    + "another gadget has.",
                group: "USB"),
            Option(
                "usb-controller", value: "NAME",
                help: "With --usb-setup: the device controller, as in /sys/class/udc. Default: the only free one.",
                group: "USB"),
            Option(
                "usb-id", value: "VVVV:PPPP",
                help: "With --usb-setup: the gadget's ids. Default: 1209:0001, which are for development only.",
                group: "USB"),
            Option(
                "usb-trust", value: "WHOM",
                help:
                    "What becomes of a studio on the cable that is not paired. prompt: ask, here or by `gantry-producer "
                    + "admit`. paired-only: refuse it. tofu: pair with it unasked. Default: prompt in a terminal, else "
                    + "paired-only.",
                group: "USB", allowed: ["prompt", "paired-only", "tofu"]),
        ]
            + FieldOfUse.options {
                "The \($0) that this is sent for; studios that name another one do not show it. At most 48 bytes."
            } + [
                Option(
                    "duration", short: "d", value: "TIME",
                    help: "Stop after this time, as in 10s or 1m30s. Time in a pause counts.", form: .anyDuration),
                Option(
                    "plain",
                    help: "Show a line of figures every few seconds on a terminal too, instead of a live view."),
                ToolPriority.option,
            ] + StatisticsOptions.table(usual: StatisticsOptions.producerMetrics) + [
                Option("force", short: "f", help: "Overwrite that file when it exists.", group: "Statistics")
            ],
        positionals: [
            Positional(
                "SOURCE", help: "The same as --source.", isRequired: false, option: "source", completion: whatToSend)
        ],
        examples: [
            .init("gantry-producer run", "the first camera and the microphone, until Ctrl-C"),
            .init("gantry-producer run /dev/video2 --audio off", "another camera, without sound"),
            .init("gantry-producer run screen --audio mic", "the screen, and what you say about it"),
            .init("gantry-producer run test", "test pattern and tone"),
            .init("gantry-producer run clip.mp4 --loop", "a file, again and again"),
            .init("ffmpeg -i in.mov -f yuv4mpegpipe - | gantry-producer run -s -", "frames of another program"),
            .init("sudo gantry-producer run --usb-setup", "over a USB cable too, on a board that can be a USB device"),
        ])

    static let sources = Command(
        "sources", summary: "Show the cameras, microphones and screens that can be sent",
        options: [
            Option("controls", help: "Also what can be set at each camera (with --json it is always there).")
        ],
        examples: [
            .init("gantry-producer sources", "each with the word to give to `run`, and what would be sent without one"),
            .init("gantry-producer sources --json | jq .default", "for programs"),
        ],
        notes: ["Nothing is used, and no program that uses a device is disturbed."])

    static let pair = Command(
        "pair", summary: "Pair with a studio by the code that `gantry-studio pair` shows",
        usage: ["[options]", "- [options]", "--image FILE [options]", "--camera DEV [options]"],
        options: [
            Option("image", value: "FILE", help: "Read the QR code out of a picture (PNG, JPEG)."),
            Option("confirm", help: "Ask whether the studio shows the same number before anything is stored."),
            Option(
                "camera", value: "DEV",
                help:
                    "Scan the QR code with a camera: a path, or auto for the first real one. In a terminal it shows what "
                    + "the camera sees. Gives up after two minutes.",
                completion: [.words(["auto"]), .cameras]),
            Option("name", value: "NAME", help: "What the studio shows. Default: the host's name.", form: .displayName),
            Option(
                "port", short: "p", value: "PORT",
                help: "The port that `gantry-producer run` will use; the studio keeps it. Default: 7787.",
                form: .port(allowsAny: false)),
        ],
        positionals: [
            Positional(
                "-", help: "Read the code from standard input. Without it you are asked, and nothing is shown.",
                isRequired: false)
        ],
        examples: [
            .init("gantry-producer pair", "asks for the code"),
            .init("gantry-producer pair --camera auto", "scans what a camera sees"),
            .init("gantry-producer pair --image code.png", "scans a picture"),
            .init("wl-paste | gantry-producer pair -", "takes the code from the clipboard"),
            .init("gantry-producer pair --confirm", "for a studio that somebody else may have set up"),
        ],
        notes: [
            "A code cannot be given as an argument: other users would see it in the list of processes.",
            "A code holds for two minutes, then the studio shows another one. Pairing takes at most 30 seconds.",
            "A producer that runs from the same state folder does the pairing, under its own name and port.",
        ])

    static let status = Command(
        "status", summary: "Show what the running producer does",
        examples: [
            .init("gantry-producer status", "name, source, who receives"),
            .init("gantry-producer status --json | jq .studios", "for programs"),
        ],
        notes: ["Ends with status 1 when no producer runs from this state folder."])

    static let pause = Command(
        "pause", summary: "Let the running producer send nothing; studios stay connected",
        examples: [
            .init("gantry-producer pause", "until `gantry-producer resume`")
        ],
        notes: [
            "Nothing that is seen or heard before `resume` is sent after it. A file holds where it is; what the "
                + "test pattern, standard input or a live stream gives meanwhile is let go."
        ])

    static let resume = Command(
        "resume", summary: "Let the running producer send again",
        examples: [
            .init("gantry-producer resume", "goes on after `gantry-producer pause`")
        ])

    static let streams = Command(
        "streams", summary: "Show which streams the running producer offers, and begin or end one",
        positionals: [
            Positional(
                "STREAM", help: "video or audio.", isRequired: false, completion: [.words(["video", "audio"])]),
            Positional("STATE", help: "on or off.", isRequired: false, completion: [.words(["on", "off"])]),
        ],
        examples: [
            .init("gantry-producer streams", "what studios are offered now"),
            .init("gantry-producer streams audio off", "studios go on with the picture alone"),
        ],
        notes: [
            "Studios stay connected, and are told that the stream has gone, or that there is a new one. A microphone that is "
                + "unplugged does the same by itself, and nobody else hears a microphone that is off: its device is let go."
        ])

    static let admit = Command(
        "admit", summary: "Decide about a studio on the USB cable that is not paired",
        options: [],
        positionals: [
            Positional(
                "ANSWER", help: "no, once (until it disconnects), or always (pair with it).", isRequired: true,
                completion: [.words(["no", "once", "always"])])
        ],
        examples: [
            .init("gantry-producer status", "shows who asks"),
            .init("gantry-producer admit always", "pair with it"),
        ],
        notes: ["For a producer that runs with --usb-trust prompt. A studio waits for 30 seconds."])

    static let devices = DevicesCommand.table(peer: "studio", tool: "gantry-producer")
    static let config = ConfigCommand.table(tool: "gantry-producer")
    static let doctor = DoctorCommand.table(
        tool: "gantry-producer", about: "cameras, microphones, speed, network, USB, and what keeps them from working")
}
