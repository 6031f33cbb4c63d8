public import GantryCore

/// What a user interface shows while `ProducerController.pairStudio` runs.
public enum ProducerPairingEvent: Sendable {
    /// The search begins and lasts this long at most.
    case searching(seconds: Int)
    /// The studio that the code names is connected.
    case studioAnswered
    /// Six digits that must be the same at the studio. With `needsAnswer`, pairing waits for
    /// `ProducerController.confirmPairing`.
    case comparison(String, needsAnswer: Bool)
    /// The network cannot be searched; the address in the code is still tried.
    case discoveryUnavailable(GantryError)
}
