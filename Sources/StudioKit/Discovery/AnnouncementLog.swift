import GantryCore
import GantryTransport

/// Counts what happens to announcements, from one list of services to the next. Pure; bounded, whoever floods the network.
struct AnnouncementLog {
    /// Names that are kept: those that are here, then those that went last.
    static let maximumNames = 128

    private var services: [String: DiscoveredService] = [:]
    private var counts: [String: AnnouncementStatistics] = [:]

    /// By name.
    var statistics: [AnnouncementStatistics] { counts.values.sorted { $0.name < $1.name } }

    mutating func note(_ found: [DiscoveredService], now: MediaTimestamp) {
        let new = Dictionary(
            found.filter { ProducerRecord(text: $0.text) != nil }.map { (DisplayName($0.name).text, $0) }
        ) { first, _ in first }
        for (name, service) in new {
            var count = counts[name] ?? AnnouncementStatistics(name: name, at: now)
            if let former = services[name] {
                guard former != service else { continue }
                count.changed += 1
            } else {
                count.appeared += 1
            }
            count.isHere = true
            count.lastSeen = now
            counts[name] = count
        }
        for name in services.keys where new[name] == nil {
            counts[name]?.lost += 1
            counts[name]?.isHere = false
        }
        services = new
        forgetOldest()
    }

    private mutating func forgetOldest() {
        let excess = counts.count - Self.maximumNames
        guard excess > 0 else { return }
        for gone in counts.values.filter({ !$0.isHere }).sorted(by: { $0.lastSeen < $1.lastSeen }).prefix(excess) {
            counts[gone.name] = nil
        }
    }
}
