package import GantryCore

/// A microphone that this machine has.
package struct MicrophoneInfo: Sendable, Hashable {
    /// What is given on the command line.
    package var name: String
    /// The card's short name; nil when a sound server is behind it, or it is not known.
    package var cardID: String?
    /// The card's and the device's names, made fit for showing.
    package var description: String
    /// The one that is called `default`: of the user's own settings, or of a sound server (PipeWire, PulseAudio).
    package var isDefault: Bool
    /// No microphone but a program's sound: snd-aloop, snd-dummy.
    package var isVirtual: Bool
    /// Why it cannot be used now (in use, not permitted); nil when nothing is known against it.
    package var problem: GantryError?

    package static func == (a: Self, b: Self) -> Bool {
        a.name == b.name && a.cardID == b.cardID && a.description == b.description && a.isDefault == b.isDefault
            && a.isVirtual == b.isVirtual && a.problem?.code == b.problem?.code
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
