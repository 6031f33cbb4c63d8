/// How long to wait before a lost session is tried again, and whether at all. A plain value.
package struct ReconnectDelay: Sendable {
    /// Grows at each failure in a row, so that a producer that is away for long is not besieged.
    private static let steps: [MediaDuration] = [
        .milliseconds(500), .seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(15),
    ]
    /// Each is longer or shorter by up to this part: studios that lost one producer at the same moment do not all come
    /// back at the same moment.
    private static let spread = 0.3

    private var failures = 0

    package init() {}

    /// - Parameter random: from 0 up to 1.
    package mutating func next(random: Double = .random(in: 0..<1)) -> MediaDuration {
        let step = Self.steps[min(failures, Self.steps.count - 1)]
        failures = min(failures + 1, Self.steps.count)
        let factor = 1 + Self.spread * (2 * min(max(random, 0), 1) - 1)
        return MediaDuration(microseconds: Int64(Double(step.microseconds) * factor))
    }

    /// A session stood: the next failure is the first again.
    package mutating func succeeded() { failures = 0 }

    /// False when the other end has said no, or never can: trying again would only be a nuisance.
    package static func isWorthwhile(after error: GantryError?) -> Bool {
        guard let error else { return true }
        switch error.code {
        case .peerLost, .cannotConnect, .timeout, .cancelled, .discoveryUnavailable, .general: return true
        // Unplugged, or not yet let go of by a process that ends.
        case .usbNotFound, .usbTransfer, .usbBusy: return true
        default: return false
        }
    }
}
