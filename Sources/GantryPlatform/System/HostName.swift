import Glibc

/// The name of this machine.
package enum HostName {
    /// Without domain; "gantry" when the machine has none.
    package static var current: String {
        var buffer = [UInt8](repeating: 0, count: 256)
        let status = buffer.withUnsafeMutableBytes { bytes -> CInt in
            guard let base = bytes.baseAddress else { return -1 }
            return gethostname(base.assumingMemoryBound(to: CChar.self), bytes.count - 1)
        }
        guard status == 0 else { return "gantry" }
        let text = String(decoding: buffer.prefix { $0 != 0 && $0 != UInt8(ascii: ".") }, as: UTF8.self)
        return text.isEmpty ? "gantry" : text
    }
}
