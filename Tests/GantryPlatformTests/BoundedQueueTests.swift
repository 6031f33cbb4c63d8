import GantryCore
import GantryPlatform
import Testing

@Suite struct BoundedQueueTests {
    private let past = MediaTimestamp(microseconds: 1)
    private var soon: MediaTimestamp { MonotonicClock.now() + .seconds(5) }

    @Test func keepsOrderAroundTheRing() {
        let queue = BoundedQueue<Int>(capacity: 3)
        var expected = 0
        for value in 0..<20 {
            #expect(queue.push(value))
            if value % 2 == 1 {
                #expect(queue.pop() == expected)
                #expect(queue.pop() == expected + 1)
                expected += 2
            }
        }
        #expect(queue.countInside == 0)
        #expect(queue.droppedCount == 0)
    }

    @Test func refusesWhenFull() {
        let queue = BoundedQueue<Int>(capacity: 2)
        #expect(queue.push(1))
        #expect(queue.push(2))
        #expect(!queue.push(3))
        #expect(!queue.push(4, until: past))
        #expect(queue.droppedCount == 2)
        #expect(queue.pop() == 1)
        #expect(queue.pop() == 2)
        #expect(queue.pop(until: past) == nil)
    }

    @Test func dropsTheOldestOnRequest() {
        let queue = BoundedQueue<Int>(capacity: 2)
        for value in 1...5 { #expect(queue.pushDroppingOldest(value)) }
        #expect(queue.droppedCount == 3)
        #expect(queue.pop() == 4)
        #expect(queue.pop() == 5)
    }

    @Test func hasRoomForOneAtLeast() {
        let queue = BoundedQueue<Int>(capacity: -3)
        #expect(queue.push(1))
        #expect(!queue.push(2))
    }

    @Test func closedTakesNothingButGivesTheRest() {
        let queue = BoundedQueue<Int>(capacity: 4)
        queue.push(1)
        queue.close()
        #expect(queue.closed)
        #expect(!queue.push(2))
        #expect(!queue.push(2, until: soon))
        #expect(!queue.pushDroppingOldest(2))
        #expect(queue.droppedCount == 0, "refusing after the end is not dropping")
        #expect(queue.pop() == 1)
        #expect(queue.pop() == nil)
    }

    @Test func removeAllMakesRoom() {
        let queue = BoundedQueue<Int>(capacity: 2)
        queue.push(1)
        queue.push(2)
        queue.removeAll()
        #expect(queue.countInside == 0)
        #expect(queue.push(3))
        #expect(queue.pop() == 3)
    }

    @Test func waitingPushAndPopMoveEverything() throws {
        let queue = BoundedQueue<Int>(capacity: 4)
        let total = 2000
        let thread = try NamedThread("producer") {
            for value in 0..<total { _ = queue.push(value, until: MonotonicClock.now() + .seconds(5)) }
            queue.close()
        }
        var next = 0
        while let value = queue.pop(until: soon) {
            #expect(value == next)
            next += 1
        }
        thread.join()
        #expect(next == total)
        #expect(queue.droppedCount == 0)
    }

    @Test func closingWakesAWaitingPush() throws {
        let queue = BoundedQueue<Int>(capacity: 1)
        queue.push(1)
        let result = LatestSlot<Bool>()
        let started = LatestSlot<Bool>()
        let thread = try NamedThread("pusher") {
            started.put(true)
            result.put(queue.push(2, until: MonotonicClock.now() + .seconds(5)))
        }
        #expect(started.take(until: soon) == true)
        queue.close()
        #expect(result.take(until: soon) == false)
        thread.join()
    }
}
