import Glibc

/// Owns one open descriptor and closes it at the end of its life.
package final class FileDescriptor: Sendable {
    package let rawValue: CInt

    package init(takingOwnership descriptor: CInt) { rawValue = descriptor }

    deinit { close(rawValue) }

    /// Non-blocking: EAGAIN and end of file are results, not errors.
    package enum Transfer: Equatable {
        case bytes(Int)
        case wouldBlock, endOfFile
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Transfer {
        do throws(SystemError) {
            let count = try syscall("read") { Glibc.read(rawValue, buffer.baseAddress, buffer.count) }
            return count == 0 ? .endOfFile : .bytes(count)
        } catch {
            if error.errno == EAGAIN || error.errno == EWOULDBLOCK { return .wouldBlock }
            throw error
        }
    }

    package func write(_ buffer: UnsafeRawBufferPointer) throws(SystemError) -> Transfer {
        do throws(SystemError) {
            return .bytes(try syscall("write") { Glibc.write(rawValue, buffer.baseAddress, buffer.count) })
        } catch {
            if error.errno == EAGAIN || error.errno == EWOULDBLOCK { return .wouldBlock }
            throw error
        }
    }

    /// Writes all, waiting where the descriptor is slow.
    package func writeAll(_ buffer: UnsafeRawBufferPointer) throws(SystemError) {
        var rest = buffer[...]
        while !rest.isEmpty {
            switch try write(UnsafeRawBufferPointer(rebasing: rest)) {
            case .bytes(let count): rest = rest.dropFirst(count)
            case .endOfFile: return
            case .wouldBlock:
                var waiting = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
                try syscall("poll") { poll(&waiting, 1, -1) }
            }
        }
    }
}
