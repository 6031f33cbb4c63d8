/// Whether a paired producer can be received, well, just now.
public enum ServiceState: Sendable, Hashable {
    /// A paired producer is here, and what is received of it is well.
    case up
    /// And why not; never empty.
    case down(ServiceDownReasons)

    /// Whether it is `up`.
    public var isUp: Bool { self == .up }

    /// Empty when it is up.
    public var reasons: ServiceDownReasons {
        switch self {
        case .up: []
        case .down(let reasons): reasons
        }
    }
}

/// Why the service is down. Several may hold at once.
public struct ServiceDownReasons: OptionSet, Sendable, Hashable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// `StudioService.start()` was not called, or `stop()` was.
    public static let notRunning = Self(rawValue: 1 << 0)
    /// No network is up, and no paired producer is on a cable.
    public static let networkDown = Self(rawValue: 1 << 1)
    /// No paired producer of the studio's field of use is here.
    public static let noProducers = Self(rawValue: 1 << 2)
    /// The network cannot be searched for producers: no Avahi.
    public static let discoveryUnavailable = Self(rawValue: 1 << 3)
    /// The picture of a session is in danger, or gone, because of the link.
    public static let poorQuality = Self(rawValue: 1 << 4)
}

extension ServiceDownReasons: CustomStringConvertible {
    /// "networkDown, noProducers".
    public var description: String { names.joined(separator: ", ") }

    /// The names of those that hold, as above.
    package var names: [String] {
        let all: [(Self, String)] = [
            (.notRunning, "notRunning"), (.networkDown, "networkDown"), (.noProducers, "noProducers"),
            (.discoveryUnavailable, "discoveryUnavailable"), (.poorQuality, "poorQuality"),
        ]
        return all.filter { contains($0.0) }.map(\.1)
    }
}
