import GantryCore
import GantryPlatform
import GantryTestSupport
import Testing

@Suite struct LatestSlotTests {
    private let past = MediaTimestamp(microseconds: 1)
    private var soon: MediaTimestamp { MonotonicClock.now() + .seconds(5) }

    @Test func theNewestWinsAndTheRestIsCounted() {
        let slot = LatestSlot<Int>()
        for value in 1...5 { #expect(slot.put(value)) }
        #expect(slot.take() == 5)
        #expect(slot.droppedCount == 4)
        #expect(slot.take(until: past) == nil, "taken once only")
        slot.put(6)
        #expect(slot.take() == 6)
        #expect(slot.droppedCount == 4, "what was taken is not dropped")
    }

    @Test func closingLetsGoAndRefuses() {
        let slot = LatestSlot<Int>()
        slot.put(1)
        slot.close()
        #expect(slot.closed)
        #expect(slot.take() == nil)
        #expect(!slot.put(2))
        #expect(slot.take() == nil)
    }

    @Test func closingWakesAWaitingTaker() throws {
        let slot = LatestSlot<Int>()
        let taken = BoundedQueue<Int?>(capacity: 2)
        let thread = try NamedThread("taker") {
            taken.push(slot.take())
            taken.push(slot.take())
        }
        slot.put(7)
        #expect(taken.pop(until: soon) == .some(7))
        slot.close()
        #expect(taken.pop(until: soon) == .some(nil))
        thread.join()
    }

    @Test func aSourceThatCanWaitDropsNothing() throws {
        let slot = LatestSlot<Int>()
        let seen = BoundedQueue<Int>(capacity: 1000)
        let thread = try NamedThread("taker") {
            while let value = slot.take() { seen.push(value) }
        }
        for value in 0..<1000 {
            slot.put(value)
            #expect(slot.waitUntilTaken(until: soon))
        }
        slot.close()
        thread.join()
        #expect(slot.droppedCount == 0)
        #expect(seen.countInside == 1000)
    }

    @Test func waitingForATakerEnds() {
        let slot = LatestSlot<Int>()
        #expect(slot.waitUntilTaken(until: past), "an empty slot needs no wait")
        slot.put(1)
        #expect(!slot.waitUntilTaken(until: past))
        slot.close()
        #expect(!slot.waitUntilTaken(until: soon))
    }

    @Test(arguments: [Int64.min, -1, 0, 1]) func deadlinesThatHavePassed(microseconds: Int64) {
        #expect(LatestSlot<Int>().take(until: MediaTimestamp(microseconds: microseconds)) == nil)
    }

    @Test func letsGoOfWhatItHeld() {
        final class Frame: Sendable {}
        let slot = LatestSlot<Frame>()
        weak var first: Frame?
        weak var second: Frame?
        do {
            let frames = [Frame(), Frame()]
            first = frames[0]
            second = frames[1]
            for frame in frames { slot.put(frame) }
        }
        #expect(first == nil, "displaced")
        #expect(second != nil)
        slot.close()
        #expect(second == nil)
    }

    /// What happens at the end of a value may come back to the slot.
    @Test func letsGoOutsideItsLock() {
        final class Frame: Sendable {
            let slot: LatestSlot<Frame>
            let seen: Watched<[Int]>
            init(_ slot: LatestSlot<Frame>, _ seen: Watched<[Int]>) { (self.slot, self.seen) = (slot, seen) }
            deinit {
                let (slot, seen) = (slot, seen)
                seen.change { $0.append(slot.droppedCount) }
            }
        }
        let slot = LatestSlot<Frame>()
        let seen = Watched<[Int]>([])
        slot.put(Frame(slot, seen))
        slot.put(Frame(slot, seen))
        #expect(seen.value == [1])
        slot.close()
        #expect(seen.value == [1, 1])
        slot.put(Frame(slot, seen))
        #expect(seen.value == [1, 1, 1])
    }
}
