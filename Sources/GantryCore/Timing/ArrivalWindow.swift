/// When media of a stream comes, compared with its stamps: the usual way of a packet, without those that were held up.
///
/// Holds for each of the last packets (one second, at most 128) how much later than its stamp it came, on clocks whose
/// difference does not matter. `base` is the lower quartile: a jam that holds up to three quarters of a second back does
/// not move it, unlike a mean, and a single packet that was lucky does not either, unlike the smallest. With few packets
/// it is the smallest: at the start of a stream they often come in a bunch. Owned by one thread; allocates nothing.
package struct ArrivalWindow: Sendable {
    private struct Arrival {
        var received: Int64 = 0
        var offset: Int64 = 0
    }

    private static let span: Int64 = 1_000_000
    /// Fewer say little about a quartile.
    private static let few = 32
    private var ring = InlineArray<128, Arrival>(repeating: Arrival())
    private var next = 0
    private var filled = 0

    package init() {}

    package mutating func removeAll() { filled = 0 }

    /// A packet whose sound ends at `stamp` (the producer's clock) came at `received` (ours).
    package mutating func add(stamp: MediaTimestamp, received: MediaTimestamp) {
        ring[next] = Arrival(received: received.microseconds, offset: (received - stamp).microseconds)
        next = next + 1 == ring.count ? 0 : next + 1
        filled = min(filled + 1, ring.count)
    }

    /// How much later than their stamps packets came in the second before `now`; nil when none came.
    package func base(at now: MediaTimestamp) -> MediaDuration? {
        var sorted = InlineArray<128, Int64>(repeating: 0)
        var count = 0
        for age in 1...ring.count where age <= filled {
            let arrival = ring[(next + ring.count - age) % ring.count]
            guard now.microseconds &- arrival.received <= Self.span else { break }
            var place = count
            // Insertion: they are few, and nearly in order.
            while place > 0, sorted[place - 1] > arrival.offset {
                sorted[place] = sorted[place - 1]
                place -= 1
            }
            sorted[place] = arrival.offset
            count += 1
        }
        guard count > 0 else { return nil }
        return MediaDuration(microseconds: sorted[count < Self.few ? 0 : count / 4])
    }
}
