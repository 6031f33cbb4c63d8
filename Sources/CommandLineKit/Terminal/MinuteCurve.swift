/// One value for each of the last 60 seconds. A value.
package struct MinuteCurve: Sendable {
    private static let seconds = 60

    /// The oldest first; nil: not known then.
    package private(set) var values = [Double?](repeating: nil, count: seconds)

    package init() {}

    /// Once a second.
    package mutating func add(_ value: Double?) {
        values.removeFirst()
        values.append(value)
    }
}
