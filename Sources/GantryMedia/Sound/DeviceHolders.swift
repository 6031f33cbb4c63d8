import Glibc

/// Which programs have a device open, as far as this user may see.
enum DeviceHolders {
    /// Names with process numbers, `arecord (1234)`, at most four.
    ///
    /// Reads `/proc`; for messages only, never on the way of media.
    static func find(_ paths: [String]) -> [String] {
        var found: [String] = []
        guard !paths.isEmpty, let processes = opendir("/proc") else { return [] }
        defer { closedir(processes) }
        while let entry = readdir(processes), found.count < 4 {
            guard let process = UInt32(name(entry)), holds(process, paths) else { continue }
            let program = SoundCards.text("/proc/\(process)/comm")?.split(separator: "\n").first ?? "a program"
            let shown = program.unicodeScalars.filter { $0.isASCII && $0.value > 0x1f && $0.value != 0x7f }
            found.append("\(String(String.UnicodeScalarView(shown))) (\(process))")
        }
        return found
    }

    private static func holds(_ process: UInt32, _ paths: [String]) -> Bool {
        let folder = "/proc/\(process)/fd"
        guard let descriptors = opendir(folder) else { return false }
        defer { closedir(descriptors) }
        return withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { buffer in
            while let entry = readdir(descriptors) {
                guard let target = buffer.assumingMemoryBound(to: CChar.self).baseAddress else { return false }
                let count = readlink("\(folder)/\(name(entry))", target, buffer.count)
                if count > 0, paths.contains(String(decoding: buffer.prefix(count), as: UTF8.self)) { return true }
            }
            return false
        }
    }

    private static func name(_ entry: UnsafeMutablePointer<dirent>) -> String {
        withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

/// The group that may use a device.
enum DeviceGroup {
    static func name(of path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 16) { buffer in
            var entry = group()
            var result: UnsafeMutablePointer<group>?
            let text = buffer.assumingMemoryBound(to: CChar.self)
            guard getgrgid_r(status.st_gid, &entry, text.baseAddress, text.count, &result) == 0,
                let name = result?.pointee.gr_name
            else { return nil }
            return String(cString: name)
        }
    }
}
