/// An observer of data that was added to a session or a producer. It stays until `cancel`, whether this is kept or not.
public struct DataObservation: Sendable {
    private let end: @Sendable () -> Void
    package init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    /// Nothing that comes later is told to the observer. Any thread, also from the observer.
    public func cancel() { end() }
}
