import CAvahi

/// TXT records: strings of the form "key=value" (RFC 6763 section 6).
enum TextRecord {
    /// Keys that are taken from a stranger's record.
    static let maximumKeys = 16
    /// Bytes of one string.
    static let maximumBytes = 255

    /// The pairs that can be published, as strings, sorted. A key must be printable ASCII without "="; a pair that is
    /// longer than a string of DNS is left out.
    static func strings(of text: [String: String]) -> [[UInt8]] {
        text.sorted { $0.key < $1.key }.compactMap { key, value in
            let pair = Array("\(key)=\(value)".utf8)
            return isKey(key.utf8) && pair.count <= maximumBytes ? pair : nil
        }
    }

    /// From a stranger: keys in lower case, the first of two equal ones counts (RFC 6763 section 6.4). What has no
    /// usable key, is not UTF-8, or contains NUL, is left out. A key without "=" has an empty value.
    static func pairs(of strings: some Sequence<[UInt8]>) -> [String: String] {
        var result: [String: String] = [:]
        for string in strings where string.count <= maximumBytes {
            if result.count == maximumKeys { break }
            let end = string.firstIndex(of: UInt8(ascii: "=")) ?? string.endIndex
            guard isKey(string[..<end]), let key = String(validating: string[..<end], as: UTF8.self)?.lowercased(),
                let value = String(validating: string[end...].dropFirst(), as: UTF8.self),
                !value.utf8.contains(0), result[key] == nil
            else { continue }
            result[key] = value
        }
        return result
    }

    private static func isKey(_ bytes: some Collection<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy { 0x20...0x7E ~= $0 && $0 != UInt8(ascii: "=") }
    }

    // MARK: Avahi's lists

    /// Calls `body` with the record as Avahi takes it; nil for an empty one. The list ends with the call.
    static func withList<R>(_ text: [String: String], _ body: (OpaqueTextList?) -> R) -> R {
        var list: OpaqueTextList?
        // Each string is put before the others.
        for string in strings(of: text).reversed() {
            if let longer = avahi_string_list_add_arbitrary(list, string, string.count) { list = longer }
        }
        defer { avahi_string_list_free(list) }
        return body(list)
    }

    /// The strings of a list that lives for the time of the call; at most 64 are looked at.
    static func strings(in list: OpaqueTextList?) -> [[UInt8]] {
        var result: [[UInt8]] = []
        var entry = list
        while let current = entry, result.count < 64 {
            let size = avahi_string_list_get_size(current)
            if size <= maximumBytes, let bytes = avahi_string_list_get_text(current) {
                result.append(Array(UnsafeBufferPointer(start: bytes, count: size)))
            }
            entry = avahi_string_list_get_next(current)
        }
        return result
    }
}

typealias OpaqueTextList = UnsafeMutablePointer<AvahiStringList>
