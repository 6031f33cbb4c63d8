public import GantryCore

/// How a producer's announcement on the network has fared, as long as a `ProducerBrowser` watches. A value.
///
/// mDNS repeats itself, and Avahi tells what came of it: an announcement that is lost for good is one that ran out without
/// being renewed. Single packets that are lost are nobody's to see.
public struct AnnouncementStatistics: Sendable, Hashable, Identifiable {
    /// The name on the network, fit for showing.
    public let name: String
    /// How often it appeared: more than once, when it was away in between.
    public internal(set) var appeared = 0
    /// How often its addresses or what it says of itself changed while it was there.
    public internal(set) var changed = 0
    /// How often it went: with a goodbye, or because nothing was heard of it any more.
    public internal(set) var lost = 0
    /// `CLOCK_MONOTONIC`: when it was told of last.
    public internal(set) var lastSeen: MediaTimestamp
    /// Whether it is announced now.
    public internal(set) var isHere = true

    public var id: String { name }

    init(name: String, at time: MediaTimestamp) {
        self.name = name
        lastSeen = time
    }
}
