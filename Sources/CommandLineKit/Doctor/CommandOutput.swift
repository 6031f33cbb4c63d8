import GantryCore
import GantryPlatform
import Glibc

/// What another program writes to standard output. For programs that end soon.
enum CommandOutput {
    private static let limit = 1 << 20
    private static let patience = MediaDuration.seconds(3)

    /// Nil when it cannot be started, fails, or takes longer than three seconds (it is ended then). Blocks.
    ///
    /// - Parameter arguments: a path first.
    static func read(_ arguments: [String]) -> String? {
        var ends: [CInt] = [0, 0]
        guard let path = arguments.first, pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let reader = FileDescriptor(takingOwnership: ends[0])
        let started = spawn(path, arguments, output: ends[1])
        // The end comes when nobody holds the other side any more.
        close(ends[1])
        guard let process = started else { return nil }
        var bytes: [UInt8] = []
        let isWhole = drain(reader.rawValue, into: &bytes)
        if !isWhole { kill(process, SIGKILL) }
        var status: CInt = 0
        _ = try? syscall("waitpid") { waitpid(process, &status, 0) }
        return isWhole && status == 0 ? String(decoding: bytes, as: UTF8.self) : nil
    }

    private static func drain(_ reader: CInt, into bytes: inout [UInt8]) -> Bool {
        let deadline = MonotonicClock.now() + patience
        var piece = [UInt8](repeating: 0, count: 16384)
        while bytes.count < limit {
            let left = (deadline - MonotonicClock.now()).microseconds / 1000
            var waiting = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
            guard left > 0, poll(&waiting, 1, CInt(clamping: left)) > 0 else { return false }
            let count = Glibc.read(reader, &piece, piece.count)
            guard count > 0 else { return count == 0 }
            bytes += piece[..<count]
        }
        return false
    }

    private static func spawn(_ path: String, _ arguments: [String], output: CInt) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
        pointers.append(nil)
        defer { for pointer in pointers { free(pointer) } }
        var environment: [UnsafeMutablePointer<CChar>?] = [nil]
        var process = pid_t()
        return posix_spawn(&process, path, &actions, nil, &pointers, &environment) == 0 ? process : nil
    }
}
