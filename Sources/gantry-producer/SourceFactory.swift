import CommandLineKit
import GantryCore
import GantryMedia
import GantryPlatform
import Glibc
import ProducerKit

/// The source that the command line asks for, opened.
struct SourceFactory {
    let source: any MediaSource
    /// For people: "test pattern", a file's name.
    let label: String
    /// A file waits for its first studio, so that nothing of it is missed.
    let waitsForStudio: Bool
    let type: ProducerConfiguration.SourceType

    /// - Throws: what is wrong with the source or with its options.
    init(_ arguments: ParsedArguments) throws(GantryError) {
        if arguments.positional(0) != nil && arguments.has("source") {
            throw GantryError(.invalidArgument, "The source is named twice: as an argument and with --source.")
        }
        let what = arguments.positional(0) ?? arguments.string("source") ?? "test"
        let size = try arguments.size("size")
        let rate = try arguments.rate("fps")
        let hasAudio = arguments.string("audio") != "off"
        switch what {
        case "test":
            if arguments.has("loop") { throw Self.useless("--loop", with: "the test pattern, which has no end") }
            try Self.refuseCameraOptions(arguments, with: "the test pattern")
            source = try TestPatternSource(
                configuration: TestPatternConfiguration(
                    width: size?.width ?? 1280, height: size?.height ?? 720, frameRate: rate ?? .fps30,
                    audio: hasAudio))
            label = "test pattern"
            waitsForStudio = false
            type = .custom
        case "-":
            try Self.refuseCameraOptions(arguments, with: "standard input")
            for option in ["size", "fps", "loop"] where arguments.has(option) {
                throw Self.useless("--\(option)", with: "standard input. Let the program that writes the frames do it")
            }
            if StandardStreams.isInputTerminal {
                throw GantryError(
                    .invalidArgument,
                    "Standard input is a terminal. Pipe pictures into it: "
                        + "ffmpeg -i INPUT -pix_fmt yuv420p -f yuv4mpegpipe - | gantry-producer run -s -")
            }
            source = try Y4MSource(descriptor: STDIN_FILENO)
            label = "standard input"
            waitsForStudio = false
            type = .custom
        case "camera":
            (source, label) = try Self.camera(nil, arguments, size, rate)
            waitsForStudio = false
            type = .camera
        case _ where what.hasPrefix("/dev/video") || what.hasPrefix("/dev/v4l/"):
            (source, label) = try Self.camera(what, arguments, size, rate)
            waitsForStudio = false
            type = .camera
        default:
            try Self.refuseCameraOptions(arguments, with: "a file")
            let file = try MediaFileSource(
                url: what,
                options: MediaFileOptions(
                    loops: arguments.has("loop"), audio: hasAudio,
                    size: size.map { .init(width: $0.width & ~1, height: $0.height & ~1) }, frameRate: rate))
            source = file
            label = Self.name(ofFile: what)
            waitsForStudio = !file.info.isLive
            type = .file
        }
    }

    private static func camera(
        _ path: String?, _ arguments: ParsedArguments, _ size: PixelSize?, _ rate: FrameRate?
    ) throws(GantryError) -> (any MediaSource, String) {
        if arguments.has("loop") { throw useless("--loop", with: "a camera, which has no end") }
        var wish = CameraWish()
        if let size { (wish.width, wish.height) = (size.width, size.height) }
        if let rate { wish.frameRate = rate }
        let source = try CameraSource(path: path, wish: wish, options: try cameraOptions(arguments))
        return (source, source.name)
    }

    private static func cameraOptions(_ arguments: ParsedArguments) throws(GantryError) -> CameraOptions {
        var options = CameraOptions(delivery: .auto)
        // The table of options permits these names only.
        if let text = arguments.string("pass-through") { options.delivery = CameraDelivery(rawValue: text) ?? .auto }
        for text in arguments.strings("control") { options.controls.append(try CameraControlSetting(text)) }
        return options
    }

    /// The options of cameras go with nothing else.
    private static func refuseCameraOptions(_ arguments: ParsedArguments, with what: String) throws(GantryError) {
        for option in ["control", "pass-through"] where arguments.has(option) {
            throw useless("--\(option)", with: what)
        }
    }

    private static func useless(_ option: String, with what: String) -> GantryError {
        GantryError(.invalidArgument, "\(option) does not go with \(what).")
    }

    /// The last part of a path; of a URL only what cannot hold a password.
    private static func name(ofFile path: String) -> String {
        let withoutQuery = path.split(separator: "?", omittingEmptySubsequences: false).first.map(String.init) ?? path
        let last = withoutQuery.split(separator: "/").last.map(String.init) ?? path
        return DisplayName(last.contains("@") ? "stream" : last).text
    }
}
