import GantryCore

/// How a connection came to its end.
enum ConnectionEnd {
    /// Closed here, or all that was asked for has come.
    case byUs
    /// The producer said goodbye.
    case byProducer
    case failed(GantryError)

    var error: GantryError? {
        if case .failed(let error) = self { error } else { nil }
    }
}
