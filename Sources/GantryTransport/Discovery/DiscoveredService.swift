package import GantryCore

/// A service on the network: all that is known of one instance name, over all interfaces. A value. Everything in it comes
/// from strangers.
package struct DiscoveredService: Sendable, Hashable {
    package var type: ServiceType
    /// As on the network: not fit for showing, see `DisplayName`.
    package var name: String
    /// Every address that it was resolved to, each once, at most 16. A link-local IPv6 address carries its interface as
    /// zone ("fe80::1%eth0").
    package var endpoints: [Endpoint]
    /// TXT keys in lower case and their values; what is not UTF-8, or is too long, is left out.
    package var text: [String: String]

    package init(type: ServiceType, name: String, endpoints: [Endpoint], text: [String: String]) {
        self.type = type
        self.name = name
        self.endpoints = endpoints
        self.text = text
    }
}

extension [DiscoveredService] {
    /// Where to dial them: the first place at each machine, then the second at each, so that nobody waits for all that
    /// another one claims.
    ///
    /// - Parameter limit: addresses of one service.
    package func endpointsInTurn(ofEach limit: Int) -> [Endpoint] {
        let turns = (0..<Swift.max(0, limit)).flatMap { turn in
            compactMap { $0.endpoints.indices.contains(turn) ? $0.endpoints[turn] : nil }
        }
        return turns.inTurn { $0.host }
    }
}

extension Array {
    /// The first of each host, then the second of each, and so on; else as they are.
    func inTurn(host: (Element) -> String) -> [Element] {
        var counts: [String: Int] = [:]
        let ranked = enumerated().map { index, element in
            let rank = counts[host(element), default: 0]
            counts[host(element)] = rank + 1
            return (rank: rank, index: index, element: element)
        }
        return ranked.sorted { ($0.rank, $0.index) < ($1.rank, $1.index) }.map(\.element)
    }
}
