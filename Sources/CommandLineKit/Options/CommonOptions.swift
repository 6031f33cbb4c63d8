/// Options that both tools have, for all their commands.
package enum CommonOptions {
    package static let all = [
        Option(
            "state-dir", value: "DIR",
            help: "Where identity and paired devices are kept. Default: $GANTRY_STATE_DIR, or gantry in the user's "
                + "state folder."),
        Option(
            "log", value: "LEVEL", help: "What to tell on standard error. Default: warning.",
            allowed: ["error", "warning", "info", "debug"]),
        Option("json", help: "Write JSON lines to standard output, for programs.", isForCommandLine: true),
        Option(
            "config", value: "FILE",
            help: "Take options that are not given here from this file. Default: gantry/producer.json or "
                + "gantry/studio.json in the user's configuration folder, if it is there.",
            isForCommandLine: true),
        Option("no-config", help: "Take none from a file.", isForCommandLine: true),
    ]

    /// The last paragraph of a tool's help.
    package static let exitStatuses =
        "Exit status: 0 well, 1 failed, 2 wrong usage, 3 source, 4 output, 5 network, 6 not paired, 7 pairing failed, "
        + "8 other version, 9 state folder or key, 10 USB."
}
