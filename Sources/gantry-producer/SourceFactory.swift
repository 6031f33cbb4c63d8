import CommandLineKit
import GantryCore
import GantryMedia
import GantryPlatform
import Glibc
import ProducerKit

/// The source that the command line asks for, opened.
struct SourceFactory {
    let source: any MediaSource
    /// For people: "test pattern", a file's name, a camera's.
    let label: String
    /// Of the sound, where it is another's.
    let audioLabel: String
    /// A file waits for its first studio, so that nothing of it is missed.
    let waitsForStudio: Bool
    let type: ProducerConfiguration.SourceType
    /// Where the pictures come from, if that is a camera.
    let camera: CameraSource?

    /// Pictures, with the sound that belongs to them.
    private struct Opened {
        var source: any MediaSource
        var label: String
        var waitsForStudio = false
        var type = ProducerConfiguration.SourceType.custom
    }

    /// - Throws: what is wrong with the source or with its options.
    init(_ arguments: ParsedArguments) throws(GantryError) {
        if arguments.positional(0) != nil && arguments.has("source") {
            throw GantryError(.invalidArgument, "The source is named twice: as an argument and with --source.")
        }
        let sound = try SoundChoice(arguments)
        let pictures = try Self.open(
            arguments.positional(0) ?? arguments.string("source") ?? "camera", arguments, ownSound: sound.isOwn)
        let microphone = try Self.microphone(sound, with: pictures.type)
        source = microphone.map { CombinedSource(video: pictures.source, audio: $0) } ?? pictures.source
        label = pictures.label
        audioLabel = microphone?.name ?? pictures.label
        waitsForStudio = pictures.waitsForStudio
        type = pictures.type
        camera = pictures.source as? CameraSource
    }

    private static func open(
        _ what: String, _ arguments: ParsedArguments, ownSound: Bool
    ) throws(GantryError) -> Opened {
        let isCamera = what == "camera" || what.hasPrefix("/dev/video") || what.hasPrefix("/dev/v4l/")
        if !isCamera { try refuseCameraOptions(arguments) }
        if what != "test", arguments.isTyped("grain") {
            throw useless("--grain", with: "a source that is no test pattern")
        }
        switch what {
        case "test": return try pattern(arguments, ownSound)
        case "-": return try standardInput(arguments)
        case _ where isCamera: return try camera(what == "camera" ? nil : what, arguments)
        case _ where ScreenPlace.isScreen(what): return try screen(what, arguments)
        default: return try file(what, arguments, ownSound)
        }
    }

    // MARK: Pictures

    private static func pattern(_ arguments: ParsedArguments, _ ownSound: Bool) throws(GantryError) -> Opened {
        if arguments.isTyped("loop") { throw useless("--loop", with: "the test pattern, which has no end") }
        let size = try arguments.size("size")
        let source = try TestPatternSource(
            configuration: TestPatternConfiguration(
                width: size?.width ?? 1280, height: size?.height ?? 720,
                frameRate: try arguments.rate("fps") ?? .fps30, audio: ownSound,
                hasGrain: arguments.has("grain")))
        return Opened(source: source, label: "test pattern")
    }

    private static func standardInput(_ arguments: ParsedArguments) throws(GantryError) -> Opened {
        for option in ["size", "fps", "loop"] where arguments.isTyped(option) {
            throw useless("--\(option)", with: "standard input. Let the program that writes the frames do it")
        }
        if StandardStreams.isInputTerminal {
            throw GantryError(
                .invalidArgument,
                "Standard input is a terminal. Pipe pictures into it: "
                    + "ffmpeg -i INPUT -pix_fmt yuv420p -f yuv4mpegpipe - | gantry-producer run -s -")
        }
        let source = try SlowNotice.around("Waiting for the first picture on standard input. Ctrl-C ends.") {
            () throws(GantryError) in try Y4MSource(descriptor: STDIN_FILENO)
        }
        return Opened(source: source, label: "standard input")
    }

    private static func camera(_ path: String?, _ arguments: ParsedArguments) throws(GantryError) -> Opened {
        if arguments.isTyped("loop") { throw useless("--loop", with: "a camera, which has no end") }
        var wish = CameraWish()
        if let size = try arguments.size("size") { (wish.width, wish.height) = (size.width, size.height) }
        if let rate = try arguments.rate("fps") { wish.frameRate = rate }
        do throws(GantryError) {
            let source = try CameraSource(path: path, wish: wish, options: try cameraOptions(arguments))
            return Opened(source: source, label: source.name, type: .camera)
        } catch {
            guard path == nil else { throw error }
            throw error.withHint("See what there is with: gantry-producer sources", unless: "gantry-producer sources")
                .withHint("Without a camera: gantry-producer run test", unless: "gantry-producer run test")
        }
    }

    private static func screen(_ what: String, _ arguments: ParsedArguments) throws(GantryError) -> Opened {
        if arguments.isTyped("loop") { throw useless("--loop", with: "a screen, which has no end") }
        let size = try arguments.size("size")
        let place = try ScreenPlace(what) { Environment[$0] }
        if place.isOnWayland(variable: { Environment[$0] }) {
            Log.warning(
                "This is a Wayland session: only windows of X11 programs are seen. Log in to an X11 session for all.")
        }
        let source = try ScreenSource(
            place, frameRate: try arguments.rate("fps") ?? .fps30,
            size: size.map { .init(width: $0.width & ~1, height: $0.height & ~1) })
        return Opened(source: source, label: "screen \(place.display)", type: .screen)
    }

    private static func file(
        _ what: String, _ arguments: ParsedArguments, _ ownSound: Bool
    ) throws(GantryError) -> Opened {
        let size = try arguments.size("size")
        let options = MediaFileOptions(
            loops: arguments.has("loop"), audio: ownSound,
            size: size.map { .init(width: $0.width & ~1, height: $0.height & ~1) }, frameRate: try arguments.rate("fps")
        )
        let name = name(ofFile: what)
        let file = try SlowNotice.around("Waiting for \(name) to begin. Ctrl-C ends.") { () throws(GantryError) in
            try MediaFileSource(url: what, options: options)
        }
        return Opened(source: file, label: name, waitsForStudio: !file.info.isLive, type: .file)
    }

    // MARK: Sound

    /// One that was asked for must be there; one that nobody asked for is left out, and said to be.
    private static func microphone(
        _ sound: SoundChoice, with type: ProducerConfiguration.SourceType
    ) throws(GantryError) -> MicrophoneSource? {
        switch sound {
        case .off: return nil
        case .microphone(let name): return try MicrophoneSource(name: name)
        case .auto where type == .camera:
            do throws(GantryError) {
                return try MicrophoneSource()
            } catch {
                Log.warning("There is no sound. \(error)")
                return nil
            }
        case .auto: return nil
        }
    }

    private static func cameraOptions(_ arguments: ParsedArguments) throws(GantryError) -> CameraOptions {
        var options = CameraOptions(delivery: .auto)
        // The table of options permits these names only.
        if let text = arguments.string("pass-through") { options.delivery = CameraDelivery(rawValue: text) ?? .auto }
        if [.mjpeg, .h264].contains(options.delivery), arguments.has("bitrate") {
            throw useless("--bitrate", with: "--pass-through \(options.delivery.rawValue), as the camera decides it")
        }
        for text in arguments.strings("control") { options.controls.append(try CameraControlSetting(text)) }
        return options
    }

    /// The options of cameras go with nothing else.
    private static func refuseCameraOptions(_ arguments: ParsedArguments) throws(GantryError) {
        for option in ["control", "pass-through"] where arguments.isTyped(option) {
            throw useless("--\(option)", with: "a source that is no camera")
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

extension GantryError {
    /// With a sentence more, unless the message says it already.
    fileprivate func withHint(_ hint: String, unless known: String) -> GantryError {
        message.contains(known)
            ? self : GantryError(code, message + (message.hasSuffix(".") ? " " : ". ") + hint, cause: cause)
    }
}
