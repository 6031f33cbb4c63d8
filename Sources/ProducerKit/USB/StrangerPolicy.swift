import GantryCore

/// Which studios on the cable that are not paired may come as far as a question. Whoever has the cable can make keys
/// without end: one question at a time, and only so many that were not answered with yes.
///
/// A pure value; its owner guards it.
struct StrangerPolicy {
    /// Questions without a yes, until the producer is started again.
    static let patience = 3

    private let strangers: ProducerConfiguration.Strangers
    private var refused: Set<KeyID> = []
    private var current: UInt64?

    init(_ strangers: ProducerConfiguration.Strangers) { self.strangers = strangers }

    /// Whether TLS shall let this key through.
    ///
    /// - Parameter wasRemoved: it was paired once. A person may take it in again, nobody else.
    func admits(_ keyID: KeyID, wasRemoved: Bool) -> Bool {
        switch strangers {
        case .refuse: false
        case .ask: refused.count < Self.patience && !refused.contains(keyID)
        case .pair: !wasRemoved
        }
    }

    enum Step {
        case pair
        case ask
        /// Somebody else is asked about just now.
        case busy
    }

    /// A stranger that was admitted says hello on connection `id`.
    mutating func greeted(_ id: UInt64) -> Step {
        guard strangers == .ask else { return .pair }
        guard current == nil else { return .busy }
        current = id
        return .ask
    }

    /// The question of connection `id` is over; false when it had none.
    mutating func ended(_ id: UInt64, _ keyID: KeyID, isYes: Bool) -> Bool {
        guard current == id else { return false }
        current = nil
        if !isYes { refused.insert(keyID) }
        return true
    }
}
