import GantryCore
import GantryPlatform
import Glibc
import Testing

@Suite struct NamedThreadTests {
    /// The name that the kernel shows for the calling thread.
    private static func ownName() -> String {
        let file = open("/proc/thread-self/comm", O_RDONLY)
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = read(file, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    @Test(arguments: ["encoder": "encoder", "a name that is too long": "a name that is "])
    func carriesItsName(name: String, shown: String) throws {
        let seen = LatestSlot<String>()
        let thread = try NamedThread(name) { seen.put(Self.ownName()) }
        #expect(seen.take(until: MonotonicClock.now() + .seconds(5)) == shown + "\n")
        thread.join()
    }

    @Test func joinWaitsForTheEnd() throws {
        let queue = BoundedQueue<Int>(capacity: 2)
        let go = LatestSlot<Bool>()
        let thread = try NamedThread("worker") {
            _ = go.take()
            queue.push(1)
        }
        #expect(queue.countInside == 0)
        go.put(true)
        thread.join()
        #expect(queue.countInside == 1)
        thread.join()  // Again: nothing.
    }

    @Test func joiningItselfDoesNotHang() throws {
        final class Owner: @unchecked Sendable {  // `thread` is set before `go` opens.
            var thread: NamedThread?
        }
        let owner = Owner()
        let go = LatestSlot<Bool>()
        let done = LatestSlot<Bool>()
        owner.thread = try NamedThread("itself") {
            _ = go.take()
            owner.thread?.join()
            done.put(true)
        }
        go.put(true)
        #expect(done.take(until: MonotonicClock.now() + .seconds(5)) == true)
        owner.thread?.join()
    }

    @Test func letsGoOfItsBodyAtTheEnd() throws {
        final class Captured: Sendable {}
        weak var captured: Captured?
        let thread: NamedThread
        do {
            let object = Captured()
            captured = object
            thread = try NamedThread("body") { withExtendedLifetime(object) {} }
        }
        thread.join()
        #expect(captured == nil)
    }
}
