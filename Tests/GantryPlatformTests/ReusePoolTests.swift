import GantryPlatform
import Synchronization
import Testing

@Suite struct ReusePoolTests {
    private final class Buffer {}

    @Test func usesTheSameObjectAgain() {
        let pool = ReusePool<Buffer>(capacity: 4) { Buffer() }
        var first: ObjectIdentifier?
        for _ in 0..<10 {
            let buffer = pool.take()
            first = first ?? buffer.map(ObjectIdentifier.init)
            #expect(buffer.map(ObjectIdentifier.init) == first)
        }
        #expect(pool.count == 1)
    }

    @Test func neverGivesAnObjectTwiceAtOnce() {
        let pool = ReusePool<Buffer>(capacity: 3) { Buffer() }
        var held = (0..<3).compactMap { _ in pool.take() }
        #expect(Set(held.map(ObjectIdentifier.init)).count == 3)
        #expect(pool.take() == nil, "all are in use")
        let freed = ObjectIdentifier(held.remove(at: 1))
        #expect(pool.take().map(ObjectIdentifier.init) == freed)
        #expect(pool.count == 3)
    }

    @Test func anObjectThatCannotBeMadeIsNil() {
        let pool = ReusePool<Buffer>(capacity: 3) { nil }
        #expect(pool.take() == nil)
        #expect(pool.count == 0)
    }

    @Test func capacityIsOneAtLeast() {
        let pool = ReusePool<Buffer>(capacity: 0) { Buffer() }
        let held = pool.take()
        #expect(held != nil)
        #expect(pool.take() == nil)
    }

    /// Two threads write their mark into what they hold; nobody ever sees the other's.
    @Test func threadsNeverShareAnObject() throws {
        // Atomic, since the thread sanitizer does not see the reference counts that the pool goes by.
        final class Marked: Sendable { let mark = Atomic(0) }
        let pool = ReusePool<Marked>(capacity: 2) { Marked() }
        let faults = BoundedQueue<Int>(capacity: 8)
        let threads = try (1...2).map { mark in
            try NamedThread("pool \(mark)") {
                for _ in 0..<20_000 {
                    guard let object = pool.take() else {
                        faults.push(-1)
                        continue
                    }
                    object.mark.store(mark, ordering: .relaxed)
                    if object.mark.load(ordering: .relaxed) != mark { faults.push(mark) }
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(faults.countInside == 0)
        #expect(faults.droppedCount == 0)
        #expect(pool.count <= 2)
    }
}
