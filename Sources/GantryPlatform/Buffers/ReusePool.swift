import Synchronization

/// A fixed set of objects that are used again and again.
///
/// An object is free when nobody but the pool holds a reference: giving it back is letting go of it. `take` looks
/// for a free one, makes a new one while there is room, and returns nil when all are in use, so memory is bounded.
package final class ReusePool<Object: AnyObject>: @unchecked Sendable {  // All state is guarded by `lock`.
    private let lock = Lock()
    private var objects: [Object] = []
    private let capacity: Int
    private let make: () -> Object?
    private var next = 0

    package init(capacity: Int, make: @escaping @Sendable () -> Object?) {
        self.capacity = max(1, capacity)
        self.make = make
        objects.reserveCapacity(self.capacity)
    }

    package func take() -> Object? {
        lock.withLock {
            for _ in 0..<objects.count {
                let index = next
                next = next + 1 == objects.count ? 0 : next + 1
                guard isKnownUniquelyReferenced(&objects[index]) else { continue }
                // The other half of the release with which the last holder let go: what it read and wrote is over
                // before the next holder begins, on ARM too. (The check alone only reads the count.)
                atomicMemoryFence(ordering: .acquiring)
                return objects[index]
            }
            guard objects.count < capacity, let object = make() else { return nil }
            objects.append(object)
            return object
        }
    }

    /// Objects made so far.
    package var count: Int { lock.withLock { objects.count } }
}
