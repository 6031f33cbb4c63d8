import Glibc

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
