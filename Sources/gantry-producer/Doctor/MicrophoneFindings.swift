import CommandLineKit
import GantryCore
import GantryMedia

/// What is said of the microphones.
enum MicrophoneFindings {
    static func judge(_ microphones: [MicrophoneInfo]) -> [Finding] {
        let real = microphones.filter { !$0.isVirtual }
        guard !real.isEmpty else {
            return [
                .warning(
                    "There is no microphone: the picture is sent alone, or with a source's own sound.", "arecord -l")
            ]
        }
        return real.map { microphone in
            if let problem = microphone.problem { return .problem(problem) }
            return .ok(
                "\(microphone.name) (\(microphone.description)) can be used\(microphone.isDefault ? ", and is the default" : "")."
            )
        }
    }
}
