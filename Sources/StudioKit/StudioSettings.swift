public import GantryCore

/// The table of a studio's settings.
enum StudioSettings {
    typealias Row = Setting<StudioConfiguration>

    static let table = SettingTable(
        StudioConfiguration(),
        [
            Row.text(
                "name", .displayName, \.name, .nextSession, "The name that producers show; null: the host's name."),
            Row.flag("video", default: true, \.wantsVideo, .nextSession, "Whether sessions take the picture."),
            Row.flag("audio", default: true, \.wantsAudio, .nextSession, "Whether sessions take the sound."),
            Row.flag("data", default: true, \.wantsData, .nextSession, "Whether sessions observe and send data."),
            Row.word("transport", default: .auto, \.transport, .nextSession, "How media comes over a network."),
            Row(
                "reconnect", .word(["never", "after-loss", "always"]), .nextSession,
                "Whether a session goes on when its connection has ended.",
                read: {
                    switch $0.reconnection {
                    case .never: "never"
                    case .afterLoss: "after-loss"
                    case .always: "always"
                    }
                },
                write: { $0.reconnection = $1 == "always" ? .always : $1 == "after-loss" ? .afterLoss : .never }),
            Row.duration(
                "replay", ReplaySettings.durations, \.replay, .nextSession,
                "How much of the past a session holds from its start on; null: nothing."),
            Row.duration(
                "duration", MediaDuration.milliseconds(1)...MediaDuration.seconds(3_600_000), \.duration, .nextSession,
                "Ends a session after this much media; null: goes on."),
        ]
            + Row.fieldOfUse(\.fieldOfUse, .nextSession) {
                "The \($0) that producers must name to be shown and connected; null: any or none."
            } + [
                Row.word("log", \.logLevel, .atOnce, "What is told on standard error; null leaves it as it is."),
                Row.text(
                    "state-dir", .text, \.stateDirectory, .atCreation,
                    "Where identity and paired devices are kept; null: gantry in the user's state folder."),
            ])
}

extension StudioConfiguration {
    /// From a JSON object with the keys of `StudioController.settings`.
    ///
    /// - Throws: `invalidArgument`, which names line and key and says what is allowed.
    public init(json: String) throws(GantryError) {
        self = try StudioSettings.table.changed(StudioConfiguration(), byJSON: json)
    }

    /// What the configuration says about sessions; outputs are to be added.
    var session: StudioSessionConfiguration {
        var session = StudioSessionConfiguration()
        session.wantsVideo = wantsVideo
        session.wantsAudio = wantsAudio
        session.wantsData = wantsData
        session.transport = transport
        session.reconnection = reconnection
        session.replay = replay.map { ReplaySettings(duration: $0) }
        session.duration = duration
        return session
    }
}
