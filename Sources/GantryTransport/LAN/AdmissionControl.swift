package import GantryCore

/// Decides which connections may wait for their proof of identity: few, few from one address, not too many a second from
/// one address. The oldest unproven one gives way to a newcomer, so that idle sockets cannot lock out a genuine peer.
///
/// A pure value; its owner guards it.
package struct AdmissionControl {
    private struct Entry {
        let id: UInt64
        let host: String
    }

    private let maximumUnproven: Int
    private let maximumPerHost: Int
    private let maximumPerSecond: Int
    private var unproven: [Entry] = []
    private var recent: [(host: String, time: MediaTimestamp)] = []
    /// Connections of one second that are remembered, over all addresses; more are refused.
    private static let remembered = 256

    package init(maximumUnproven: Int = 4, maximumPerHost: Int = 2, maximumPerSecond: Int = 10) {
        self.maximumUnproven = maximumUnproven
        self.maximumPerHost = maximumPerHost
        self.maximumPerSecond = maximumPerSecond
    }

    package enum Decision: Equatable {
        /// Take it in; first close the connection `evicting`, where there is one.
        case admit(evicting: UInt64?)
        /// Close it at once: too many from there in this second.
        case refuse
    }

    package mutating func connected(_ id: UInt64, from host: String, now: MediaTimestamp) -> Decision {
        recent.removeAll { now - $0.time >= .seconds(1) }
        guard recent.count < Self.remembered, recent.count(where: { $0.host == host }) < maximumPerSecond else {
            return .refuse
        }
        recent.append((host, now))
        var evicted: UInt64?
        if unproven.count(where: { $0.host == host }) >= maximumPerHost {
            evicted = remove { $0.host == host }
        } else if unproven.count >= maximumUnproven {
            evicted = remove { _ in true }
        }
        unproven.append(Entry(id: id, host: host))
        return .admit(evicting: evicted)
    }

    /// The connection has proved who it is, or has ended: it no longer counts.
    package mutating func settled(_ id: UInt64) {
        unproven.removeAll { $0.id == id }
    }

    private mutating func remove(where matches: (Entry) -> Bool) -> UInt64? {
        guard let index = unproven.firstIndex(where: matches) else { return nil }
        return unproven.remove(at: index).id
    }
}
