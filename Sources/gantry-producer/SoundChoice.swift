import CommandLineKit
import GantryCore
import GantryMedia

/// What `--audio` says.
enum SoundChoice {
    /// The source's own; the default microphone with a camera.
    case auto
    case off
    /// Nil is the default one.
    case microphone(String?)

    init(_ arguments: ParsedArguments) throws(GantryError) {
        switch arguments.string("audio") {
        case nil, "auto": self = .auto
        case "off": self = .off
        case "mic": self = .microphone(nil)
        case "":
            throw GantryError(
                .invalidArgument,
                "--audio names nothing. It takes auto, off, mic, or a microphone of: "
                    + "gantry-producer sources")
        case let name?: self = .microphone(name)
        }
    }

    /// Whether a source shall give its own sound.
    var isOwn: Bool {
        switch self {
        case .auto: true
        case .off, .microphone: false
        }
    }
}
