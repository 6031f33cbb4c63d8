import Glibc

/// Modules of the kernel.
package enum KernelModule {
    /// Runs modprobe(8) and waits for its end; its own words are not shown. Root only. For start-up: it may take a second.
    package static func load(_ name: String) throws(SystemError) {
        let operation = "modprobe \(name)"
        // Not from $PATH, which under sudo may be the user's.
        let programs = ["/usr/sbin/modprobe", "/sbin/modprobe"]
        guard let program = programs.first(where: { access($0, X_OK) == 0 }) else {
            throw SystemError(errno: ENOENT, during: operation)
        }
        var process = pid_t()
        let code = spawn(program, [program, "-q", "--", name], &process)
        guard code == 0 else { throw SystemError(errno: code, during: operation) }
        var status: CInt = 0
        try syscall(operation) { waitpid(process, &status, 0) }
        // WIFEXITED and WEXITSTATUS, which are macros.
        guard status == 0 else { throw SystemError(errno: geteuid() == 0 ? ENODEV : EPERM, during: operation) }
    }

    private static func spawn(_ program: String, _ arguments: [String], _ process: inout pid_t) -> CInt {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
        pointers.append(nil)
        defer { for pointer in pointers { free(pointer) } }
        var environment: [UnsafeMutablePointer<CChar>?] = [nil]
        return posix_spawn(&process, program, &actions, nil, &pointers, &environment)
    }
}
