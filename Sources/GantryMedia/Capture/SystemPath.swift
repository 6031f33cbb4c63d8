import GantryCore
import GantryPlatform
import Glibc

/// Looks into `/sys`, `/proc` and `/dev`. Any thread; nothing throws, because nothing there is to be relied on.
enum SystemPath {
    /// Where links lead to in the end; nil when nothing is there.
    static func resolved(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// Where one link leads to, as it is written.
    static func link(_ path: String) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer -> String? in
            guard let base = buffer.baseAddress else { return nil }
            let count = readlink(path, base, buffer.count)
            guard count > 0, count < buffer.count else { return nil }
            return String(decoding: UnsafeRawBufferPointer(start: base, count: count), as: UTF8.self)
        }
    }

    /// The last part of a path.
    static func last(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    /// The first line of a small file, at most 256 bytes.
    static func firstLine(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        let descriptor = FileDescriptor(takingOwnership: file)
        return withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { buffer -> String? in
            let count = read(descriptor.rawValue, buffer.baseAddress, buffer.count)
            guard count > 0 else { return nil }
            return String(decoding: buffer.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        }
    }

    /// The names in a folder, without the two dots; in no order.
    static func entries(_ folder: String, limit: Int) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while names.count < limit, let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// A name that others have chosen, made fit for showing.
    static func shown(_ name: String) -> String { DisplayName(name).text }

    /// The group that a node belongs to, by name or by number; nil when nothing is there. `isRoot`: joining it would be no
    /// way to get access.
    static func group(of path: String) -> (name: String, isRoot: Bool)? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        let name = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16384) { buffer -> String? in
            var entry = Glibc.group()
            var result: UnsafeMutablePointer<Glibc.group>?
            guard getgrgid_r(status.st_gid, &entry, buffer.baseAddress, buffer.count, &result) == 0, result != nil,
                let name = entry.gr_name
            else { return nil }
            return String(cString: name)
        }
        return (name ?? "\(status.st_gid)", status.st_gid == 0 || status.st_mode & S_IRGRP == 0)
    }

    /// How to get access to a node of V4L2, in words.
    static func accessRemedy(_ path: String) -> String {
        if let group = group(of: path), !group.isRoot {
            return "It belongs to the group \(group.name). Join it: sudo usermod -aG \(group.name) $USER, then log in "
                + "again."
        }
        return "It belongs to root alone. Give it to a group: sudo chgrp video \(path) && sudo chmod g+rw \(path), and "
            + "join that: sudo usermod -aG video $USER, then log in again."
    }
}
