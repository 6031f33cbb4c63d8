package import GantryPlatform
import Glibc

/// The real thing.
package struct KernelGadgetFiles: GadgetFiles {
    package init() {}

    package func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    package func entries(_ path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    package func read(_ path: String) throws(SystemError) -> String {
        let bytes = Array(try TextFile.read(path).utf8)
        let isSpace = { (byte: UInt8) in byte <= UInt8(ascii: " ") }
        let end = bytes.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? 0
        return String(decoding: bytes[..<end].drop(while: isSpace), as: UTF8.self)
    }

    package func write(_ text: String, to path: String) throws(SystemError) {
        try TextFile.write(text + "\n", to: path)
    }

    package func makeFolder(_ path: String) throws(SystemError) {
        try syscall("mkdir \(path)") { mkdir(path, 0o755) }
    }

    package func removeFolder(_ path: String) throws(SystemError) { try syscall("rmdir \(path)") { rmdir(path) } }

    package func makeLink(_ path: String, to target: String) throws(SystemError) {
        try syscall("symlink \(path)") { symlink(target, path) }
    }

    package func removeLink(_ path: String) throws(SystemError) { try syscall("unlink \(path)") { unlink(path) } }

    /// Options of FunctionFS: Documentation/usb/functionfs.rst and `ffs_fs_fs_fields` in drivers/usb/gadget/function/f_fs.c.
    package func mount(_ mount: FunctionFSMount, owner: GadgetOwner) throws(SystemError) {
        let options = "uid=\(owner.user),gid=\(owner.group),rmode=0550,fmode=0660"
        let flags = UInt(MS_NOSUID | MS_NODEV | MS_NOEXEC)
        try syscall("mount \(mount.path)") {
            options.withCString { Glibc.mount(mount.function, mount.path, "functionfs", flags, $0) }
        }
    }

    package func unmount(_ path: String, evenIfBusy: Bool) throws(SystemError) {
        let flags = evenIfBusy ? CInt(MNT_DETACH) : 0
        try syscall("umount \(path)") { umount2(path, flags) }
    }

    package func mounts() -> [FunctionFSMount] { FunctionFSMount.all() }

    package func loadModule(_ name: String) throws(SystemError) { try KernelModule.load(name) }

    package func lock(_ path: String) throws(SystemError) -> FileDescriptor {
        let descriptor = FileDescriptor(
            takingOwnership: try syscall("open \(path)") { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
        try syscall("flock \(path)") { flock(descriptor.rawValue, LOCK_EX | LOCK_NB) }
        return descriptor
    }
}
