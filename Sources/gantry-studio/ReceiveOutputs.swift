import CommandLineKit
import GantryCore
import GantryMedia
import GantryPlatform
import GantryPreview
import StudioKit

/// The outputs that the command line asks for, opened, and the meters.
struct ReceiveOutputs {
    let configuration: StudioSessionConfiguration
    let latency = LatencyMeter()
    let skew: SkewMeter
    let stages = StageMeter()
    /// For the live view; nil: there is none.
    let levels: LevelOutput?
    let startTime = MonotonicClock.now()
    /// Standard output carries media: nothing else may be written there.
    let usesStandardOutput: Bool
    let recordingPath: String?
    let snapshotPath: String?
    /// Outlives sessions; `finish` closes it.
    let sound: SoundOutput?
    private let y4mPath: String?
    private let wavPath: String?
    private let recording: RecordingOutput?
    /// Outlives sessions; `finish` closes it.
    let virtualCamera: VirtualCameraOutput?
    let trace: TraceOutput?
    /// Outlives sessions; `finish` closes it.
    let preview: PreviewWindow?
    /// What the window's key records.
    let recordingSwitch: RecordingSwitch?
    let relay: RelayOutput?

    /// The options whose media go to standard output.
    static func onStandardOutput(_ arguments: ParsedArguments) -> [String] {
        ["y4m", "wav", "ts", "snapshot", "trace"].filter { arguments.string($0) == "-" }
    }

    /// - Parameter metersSound: for the live view.
    /// - Throws: what is wrong with a path, before anything is connected.
    init(
        _ arguments: ParsedArguments, metersSound: Bool, relayChanged: @escaping @Sendable (RelayEvent, String) -> Void,
        failed: @escaping @Sendable (GantryError) -> Void
    ) throws(GantryError) {
        let overwrite = arguments.has("force")
        let onStandardOutput = Self.onStandardOutput(arguments)
        guard onStandardOutput.count <= 1, onStandardOutput.isEmpty || !arguments.has("json") else {
            throw GantryError(
                .invalidArgument, "Only one thing fits on standard output: --json, or one of --y4m -, --wav -, --ts -.")
        }
        if let option = onStandardOutput.first, StandardStreams.isOutputTerminal {
            throw GantryError(
                .invalidArgument,
                "--\(option) - would fill the terminal with bytes. Send it into a program or a file, as in: "
                    + "gantry-studio receive --ts - | ffplay -")
        }
        usesStandardOutput = !onStandardOutput.isEmpty
        recordingPath = arguments.string("record")
        snapshotPath = arguments.string("snapshot")
        y4mPath = arguments.string("y4m")
        wavPath = arguments.string("wav")
        var configuration = StudioSessionConfiguration()
        configuration.duration = try arguments.duration("duration")
        configuration.wantsVideo = !arguments.has("no-video")
        configuration.wantsAudio = !arguments.has("no-audio")
        if arguments.has("replay") {
            var settings = ReplaySettings()
            if arguments.string("replay") != "", let duration = try arguments.duration("replay") {
                settings.duration = duration
            }
            configuration.replay = settings
        }
        configuration.transport = arguments.string("transport").flatMap(MediaTransport.init(rawValue:)) ?? .auto
        try Self.check(arguments, configuration)
        var recording: RecordingOutput?
        if let path = recordingPath {
            recording = try RecordingOutput(path: path, overwrite: overwrite, failed: failed)
        }
        self.recording = recording
        if let recording { configuration.packetOutputs.append(recording) }
        if let path = arguments.string("ts") {
            configuration.packetOutputs.append(
                try TransportStreamOutput(path: path, overwrite: overwrite, failed: failed))
        }
        if let path = arguments.string("y4m") {
            configuration.videoOutputs.append(try Y4MOutput(path: path, overwrite: overwrite, failed: failed))
        }
        if let path = snapshotPath {
            configuration.videoOutputs.append(try SnapshotOutput(path: path, overwrite: overwrite, failed: failed))
        }
        if let path = arguments.string("wav") {
            configuration.audioOutputs.append(try WAVOutput(path: path, overwrite: overwrite, failed: failed))
        }
        virtualCamera = try Self.virtualCamera(arguments)
        if let virtualCamera { configuration.videoOutputs.append(virtualCamera) }
        preview = arguments.has("preview") ? try PreviewWindow(failed: failed) : nil
        recordingSwitch = preview == nil ? nil : RecordingSwitch()
        if let preview {
            configuration.videoOutputs.append(preview)
            configuration.audioOutputs.append(preview)
        }
        if let recordingSwitch { configuration.packetOutputs.append(recordingSwitch) }
        // A relay copies packets: for figures alone nothing is decoded.
        let decodes =
            !RelayOptions.isWanted(arguments) || !configuration.videoOutputs.isEmpty || arguments.has("trace")
        sound = try SoundOptions.output(arguments)
        if let sound {
            configuration.audioOutputs.append(sound)
            if decodes { configuration.videoOutputs.append(sound) }
        }
        configuration.reconnection = Self.reconnection(arguments)
        let trace = try arguments.string("trace").map { path throws(GantryError) in
            try TraceOutput(path: path, overwrite: overwrite, failed: failed)
        }
        self.trace = trace
        skew = SkewMeter(paired: { trace?.note($0) })
        // Meters come last, so that they see what the other outputs cost.
        if decodes {
            configuration.videoOutputs += [latency, skew, stages]
            configuration.audioOutputs.append(skew)
        }
        levels = metersSound ? LevelOutput() : nil
        if let levels { configuration.audioOutputs.append(levels) }
        relay = try RelayOptions.output(arguments, changed: relayChanged, failed: failed)
        if let relay { configuration.packetOutputs.append(relay) }
        if let trace {
            configuration.videoOutputs.append(trace)
            configuration.packetOutputs.append(trace)
        }
        self.configuration = configuration
    }

    private static func check(
        _ arguments: ParsedArguments, _ configuration: StudioSessionConfiguration
    ) throws(GantryError) {
        let needs: [(option: String, isThere: Bool, opposite: String)] = [
            ("wav", configuration.wantsAudio, "--no-audio"), ("y4m", configuration.wantsVideo, "--no-video"),
            ("snapshot", configuration.wantsVideo, "--no-video"), ("vcam", configuration.wantsVideo, "--no-video"),
            ("preview", configuration.wantsVideo, "--no-video"),
            ("play", configuration.wantsAudio, "--no-audio"),
        ]
        var seen: [String: String] = [:]
        for option in ["record", "ts", "y4m", "wav", "snapshot", "trace", "stats-csv"] {
            guard let path = arguments.string(option), path != "-" else { continue }
            if let other = seen.updateValue(option, forKey: path), OutputPath.isRegularFile(path) {
                throw GantryError(
                    .invalidArgument, "--\(other) and --\(option) name the same file. Give each a file of its own.")
            }
        }
        for need in needs where arguments.has(need.option) && !need.isThere {
            throw GantryError(.invalidArgument, "--\(need.option) does not go with \(need.opposite).")
        }
    }

    /// A virtual camera alone stays whatever becomes of its producer. Files, pipes and sound go on after a loss, until the
    /// producer says goodbye.
    private static func reconnection(_ arguments: ParsedArguments) -> Reconnection {
        if arguments.has("no-reconnect") { return .never }
        if arguments.has("wait") { return .always }
        let endsByItself = ["record", "ts", "y4m", "wav", "snapshot", "duration"].contains { arguments.has($0) }
        return arguments.has("vcam") && !endsByItself ? .always : .afterLoss
    }

    /// Opened, where the command line asks for one.
    static func virtualCamera(_ arguments: ParsedArguments) throws(GantryError) -> VirtualCameraOutput? {
        let size = try arguments.size("vcam-size") ?? PixelSize(width: 1280, height: 720)
        guard let device = arguments.string("vcam") else {
            guard arguments.has("vcam-size") else { return nil }
            throw GantryError(.invalidArgument, "--vcam-size is for the virtual camera: give --vcam as well.")
        }
        guard let layout = VirtualCameraLayout(width: size.width, height: size.height) else {
            throw GantryError(
                .invalidArgument,
                "--vcam-size cannot be \(size). It takes even numbers from 48x32 to 8192x8192, as in 1280x720.")
        }
        let wish = VirtualCameraWish(device: device.isEmpty || device == "auto" ? nil : device, layout: layout)
        let camera = try VirtualCamera(wish)
        if let warning = VirtualCameraCheck.warning(about: camera.path, VirtualCameraCheck.read(SystemFiles())) {
            Log.warning("\(warning.text) Where they are to: \(warning.remedy ?? "")")
        }
        return VirtualCameraOutput(camera)
    }

    /// Packet outputs are finished by the session; nothing is left to do for a session that never began.
    func finish() {
        for output in configuration.packetOutputs { output.finish() }
        virtualCamera?.close()
        preview?.close()
        sound?.finish()
    }

    /// A line for each output that was asked for and got nothing: a source without a picture, or without sound.
    func unwritten(_ result: StudioStatistics) -> [String] {
        let missing: [(paths: [String], what: String)] = [
            (result.framesReceived == 0 ? [y4mPath, snapshotPath].compactMap { $0 } : [], "picture"),
            (result.audioPacketsReceived == 0 ? [wavPath].compactMap { $0 } : [], "sound"),
        ]
        return missing.flatMap { missing in
            missing.paths.map { path in
                "No \(missing.what) came: nothing was written to \(path == "-" ? "standard output" : path)."
            }
        }
    }

    /// What was recorded; nil without a recording, or when nothing came.
    var recorded: SavedMedia? { recording?.saved }
    var recordingDropped: Int { recording?.droppedCount ?? 0 }
}
