import Glibc

/// Runs programs of the system: independent oracles.
enum Tool {
    struct Result {
        var status: CInt
        var output: String
    }

    /// A started program. Its standard output and error go to the file `output`.
    static func start(_ arguments: [String], output: String, input: String = "/dev/null") -> pid_t? {
        let descriptor = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return start(arguments, output: descriptor, input: input)
    }

    static func start(_ arguments: [String], output: CInt, input: String = "/dev/null") -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, output, 2)
        var words = arguments.map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var process = pid_t()
        guard let program = words.first ?? nil else { return nil }
        return posix_spawnp(&process, program, &actions, nil, words, environ) == 0 ? process : nil
    }

    static func wait(_ process: pid_t) -> CInt {
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        return status & 0x7f == 0 ? (status >> 8) & 0xff : -(status & 0x7f)
    }

    @discardableResult
    static func run(_ arguments: [String], in folder: ScratchFolder) -> Result {
        let output = folder.file("tool-output-\(UInt64.random(in: 0...UInt64.max))")
        guard let process = start(arguments, output: output) else { return Result(status: -1, output: "not started") }
        let status = wait(process)
        return Result(status: status, output: String(decoding: ScratchFolder.contents(output), as: UTF8.self))
    }

    @discardableResult
    static func openssl(_ line: String, in folder: ScratchFolder) -> Result {
        let words = line.split(separator: " ").map { String($0.replacing("@", with: folder.path + "/")) }
        return run(["openssl"] + words, in: folder)
    }
}
