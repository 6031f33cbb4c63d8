import GantryCore
import GantryPlatform
import Glibc

/// Reads a pipe to the byte, and can be woken. Owned by one thread; `wake` is for any.
final class Y4MReader: @unchecked Sendable {  // The descriptor is read by the owning thread only.
    enum Outcome {
        case complete
        case endOfFile(after: Int)
        case stopped
        case failed(SystemError)
    }

    private let descriptor: CInt
    private let wakeUp: EventDescriptor

    /// - Parameter descriptor: Stays the caller's, and open for the life of this object.
    init(descriptor: CInt) throws(GantryError) {
        self.descriptor = descriptor
        wakeUp = try EventDescriptor()
        RawPipe.widen(descriptor)
    }

    func wake() { wakeUp.signal() }

    /// Fills `target` whole, waiting for as long as it takes.
    func fill(_ target: UnsafeMutableRawPointer, count: Int) -> Outcome {
        var done = 0
        while done < count {
            let readiness = waitForInput()
            guard case .complete = readiness else { return readiness }
            let result = read(descriptor, target + done, count - done)
            if result > 0 {
                done += result
            } else if result == 0 {
                return .endOfFile(after: done)
            } else if errno != EINTR, errno != EAGAIN {
                return .failed(SystemError(errno: errno, during: "read"))
            }
        }
        return .complete
    }

    /// `.complete` when there is something to read.
    private func waitForInput() -> Outcome {
        var waiting = (
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeUp.rawValue, events: Int16(POLLIN), revents: 0)
        )
        let status = withUnsafeMutablePointer(to: &waiting) { pointer in
            pointer.withMemoryRebound(to: pollfd.self, capacity: 2) { poll($0, 2, -1) }
        }
        if waiting.1.revents != 0 { return .stopped }
        if status < 0, errno != EINTR { return .failed(SystemError(errno: errno, during: "poll")) }
        if waiting.0.revents & Int16(POLLNVAL) != 0 { return .failed(SystemError(errno: EBADF, during: "poll")) }
        return .complete
    }
}
