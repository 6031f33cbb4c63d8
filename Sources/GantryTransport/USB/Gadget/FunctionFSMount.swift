import GantryPlatform
import Glibc

/// A mounted FunctionFS: the folder with `ep0` that a producer opens.
package struct FunctionFSMount: Sendable, Hashable {
    /// The function's instance: `gantry` of `functions/ffs.gantry`.
    package let function: String
    package let path: String

    package init(function: String, path: String) {
        self.function = function
        self.path = path
    }

    /// All of this machine, as far as this process sees them. Empty without /proc.
    package static func all() -> [FunctionFSMount] {
        (try? TextFile.read("/proc/self/mounts", limit: 1 << 20)).map(parse) ?? []
    }

    /// The lines of `/proc/self/mounts` (proc(5), fstab(5)) that are FunctionFS.
    static func parse(_ text: String) -> [FunctionFSMount] {
        text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count >= 3, fields[2] == "functionfs" else { return nil }
            return FunctionFSMount(function: unescaped(fields[0]), path: unescaped(fields[1]))
        }
    }

    /// Space, tab, line break and backslash are written as `\` and three octal digits.
    private static func unescaped(_ field: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(field.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                bytes.append(value)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
