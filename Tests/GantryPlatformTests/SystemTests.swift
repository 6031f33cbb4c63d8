import GantryCore
import GantryPlatform
import Glibc
import Testing

@Suite struct SystemTests {
    @Test func syscallSaysWhatTheKernelSaid() {
        let error = #expect(throws: SystemError.self) {
            try syscall("open") { open("/nonexistent/file", O_RDONLY) }
        }
        #expect(error == SystemError(errno: ENOENT, during: "open"))
        #expect(error?.description == "open: No such file or directory")
    }

    @Test func syscallTriesAgainAfterAnInterruption() throws {
        var calls = 0
        let result = try syscall("test") { () -> Int in
            calls += 1
            errno = EINTR
            return calls < 3 ? -1 : 42
        }
        #expect(result == 42)
        #expect(calls == 3)
    }

    @Test func eventWakesPollUntilCleared() throws {
        let event = try EventDescriptor()
        func isReady() -> Bool {
            var waiting = pollfd(fd: event.rawValue, events: Int16(POLLIN), revents: 0)
            return poll(&waiting, 1, 0) == 1
        }
        #expect(!isReady())
        event.signal()
        event.signal()
        #expect(isReady())
        event.clear()
        #expect(!isReady(), "one clear takes back every signal")
        event.clear()  // Does not block.
    }

    @Test func descriptorClosesAtTheEndOfItsLife() throws {
        var ends: [CInt] = [-1, -1]
        // Closed on exec from the start: a process that another test starts must not keep the far end open.
        let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        try syscall("socketpair") { socketpair(AF_UNIX, type, 0, &ends) }
        let reader = FileDescriptor(takingOwnership: ends[0])
        var buffer = [UInt8](repeating: 0, count: 16)
        var writer: FileDescriptor? = FileDescriptor(takingOwnership: ends[1])
        #expect(try buffer.withUnsafeMutableBytes { try reader.read(into: $0) } == .wouldBlock)
        try [1, 2, 3].withUnsafeBytes { try writer?.writeAll($0) }
        #expect(try buffer.withUnsafeMutableBytes { try reader.read(into: $0) } == .bytes(16))
        #expect(try buffer.withUnsafeMutableBytes { try reader.read(into: $0) } == .bytes(8))
        writer = nil
        #expect(try buffer.withUnsafeMutableBytes { try reader.read(into: $0) } == .endOfFile)
    }

    @Test func clockNeverGoesBackAndSleepsLongEnough() {
        let before = MonotonicClock.now()
        MonotonicClock.sleep(until: before + .milliseconds(5))
        #expect(MonotonicClock.now() >= before + .milliseconds(5))
        MonotonicClock.sleep(until: MediaTimestamp(microseconds: -5))  // Returns at once.
    }
}
