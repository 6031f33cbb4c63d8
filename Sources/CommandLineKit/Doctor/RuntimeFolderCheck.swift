import Glibc

/// Where control sockets are made: `status`, `pause` and the like of another process find a running one there.
package enum RuntimeFolderCheck {
    package static func look(_ files: SystemFiles) -> [Finding] {
        let path = Environment["XDG_RUNTIME_DIR"]
        return judge(path: path, status: path.flatMap(files.status), user: geteuid())
    }

    /// - Parameters:
    ///   - path: `$XDG_RUNTIME_DIR`.
    ///   - user: our number.
    package static func judge(path: String?, status: SystemFiles.Status?, user: UInt32) -> [Finding] {
        guard let path, !path.isEmpty else {
            return [
                .ok("XDG_RUNTIME_DIR is not set: control sockets are made in /run/user/\(user) or the state folder.")
            ]
        }
        guard let status, status.isFolder else {
            return [.warning("XDG_RUNTIME_DIR names \(path), which is no folder.", "unset XDG_RUNTIME_DIR")]
        }
        guard status.owner == user else {
            return [
                .warning(
                    "XDG_RUNTIME_DIR names \(path), which belongs to another user: it is not used.",
                    "export XDG_RUNTIME_DIR=/run/user/\(user)")
            ]
        }
        guard status.mode & 0o077 == 0 else {
            return [
                .problem("The runtime folder \(path) is open to other users.", "chmod 700 \(ShellWord.quoted(path))")
            ]
        }
        return [.ok("The runtime folder is \(path).")]
    }
}
