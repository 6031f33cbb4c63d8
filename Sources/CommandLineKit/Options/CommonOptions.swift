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
        "Exit status: \(ExitStatus.meanings.map { "\($0.status.rawValue) \($0.meaning)" }.joined(separator: ", "))."

    /// What the manual says about variables of the environment.
    static let environment: [(name: String, meaning: String)] = [
        ("GANTRY_STATE_DIR", "Where identity and paired devices are kept, unless --state-dir says otherwise."),
        ("STATE_DIRECTORY", "The same, as systemd sets it for a service with StateDirectory=."),
        ("XDG_STATE_HOME", "Without those, the folder gantry in this one. Default: .local/state in the home folder."),
        (
            "XDG_CONFIG_HOME",
            "The configuration file is in the folder gantry in this one. Default: .config in the home folder."
        ),
        ("XDG_RUNTIME_DIR", "Where the control sockets of running commands are."),
        ("DISPLAY", "The X11 screen that a producer sends."),
        ("NO_COLOR", "Set, and not empty: no colours."),
    ]

    /// What the manual says about a tool's files.
    static func files(tool: String) -> [(name: String, meaning: String)] {
        let kind = tool.split(separator: "-").last ?? ""
        return [
            ("~/.config/gantry/\(kind).json", "Options that are always the same. `\(tool) config` shows what holds."),
            ("~/.local/state/gantry", "The key that this machine proves itself with, and the paired devices."),
            ("/usr/share/doc/gantry", "The guides, where Gantry was installed as a package."),
        ]
    }
}
