import GantryCore

/// What a session has of its connection, whatever that is over. Any thread.
protocol SessionConnection: AnyObject, Sendable {
    var statistics: StudioStatistics { get }
    func close(_ reason: Bye.Reason)
    /// The session's wishes have changed.
    func applyWishes()
    /// Whether key frames are wanted has changed.
    func wakeUp()
    /// False when it is not possible now.
    func sendData(_ message: LabeledData) -> Bool
}

extension SessionConnection {
    func close() { close(.normal) }
}
