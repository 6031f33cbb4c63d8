public import GantryCore
import GantryMedia

/// The table of a producer's settings.
enum ProducerSettings {
    typealias Row = Setting<ProducerConfiguration>

    static let table = SettingTable(
        ProducerConfiguration(),
        [
            Row.text("name", .displayName, \.name, .nextStart, "The name that studios show; null: the host's name."),
            Row(
                "port", .port(allowsAny: true), .nextStart,
                "The TCP port that studios dial; 0 lets the system choose.",
                read: { .integer(Int($0.port)) },
                write: { $0.port = $1.flatMap(UInt16.init) ?? Endpoint.defaultPort }),
            Row.flag(
                "advertise", default: true, \.isAdvertised, .nextStart,
                "Whether the producer is announced on the network."),
            Row(
                "video", .flag, .nextStart, "Whether a video stream is offered.", read: { .bool($0.video != nil) },
                write: {
                    let isWanted = $1 != "false"
                    if isWanted != ($0.video != nil) {
                        $0.video = isWanted ? ProducerConfiguration.VideoSettings() : nil
                    }
                }),
            Row(
                "audio", .flag, .nextStart, "Whether an audio stream is offered.", read: { .bool($0.audio != nil) },
                write: {
                    let isWanted = $1 != "false"
                    if isWanted != ($0.audio != nil) {
                        $0.audio = isWanted ? ProducerConfiguration.AudioSettings() : nil
                    }
                }),
            Row(
                "fps", .frameRate, .nextStart, "The nominal rate of the pictures that are handed in.",
                read: { ($0.video?.frameRate).map(frameRate) ?? .null },
                write: { $0.video?.frameRate = $1.flatMap { FrameRate(text: $0) } ?? .fps30 }),
            Row(
                "bitrate", .bitrate(ProducerConfiguration.bitrates), .atOnce,
                "Bits a second of the video; null: by size and rate.",
                read: { ($0.video?.bitrate).map { .integer($0) } ?? .null },
                write: { $0.video?.bitrate = $1.flatMap(Bitrate.parse) }),
            Row.word(
                "transport", default: .auto, \.transport, .nextStart, "How media goes to studios on the network."),
        ]
            + Row.fieldOfUse(\.fieldOfUse, .atOnce) {
                "The \($0) that it sends for, announced and told to studios; null: none."
            } + [
                Row.word("log", \.logLevel, .atOnce, "What is told on standard error; null leaves it as it is."),
                Row.text(
                    "state-dir", .text, \.stateDirectory, .atCreation,
                    "Where identity and paired devices are kept; null: gantry in the user's state folder."),
            ])

    /// A whole rate is a number, another one exact text.
    private static func frameRate(_ rate: FrameRate) -> SettingValue {
        rate.denominator == 1 ? .integer(Int(rate.numerator)) : .string("\(rate.numerator)/\(rate.denominator)")
    }
}

extension ProducerConfiguration {
    /// What a video's bitrate may be, in bits a second.
    package static let bitrates = H264EncoderConfiguration.bitrates

    /// From a JSON object with the keys of `ProducerController.settings`.
    ///
    /// - Throws: `invalidArgument`, which names line and key and says what is allowed.
    public init(json: String) throws(GantryError) {
        self = try ProducerSettings.table.changed(ProducerConfiguration(), byJSON: json)
    }
}
