import GantryPlatform
import Glibc
import Testing

@Suite struct HugePagesTests {
    /// As the kernel says it (proc(5)).
    @Test func noneAreGivenAfterwards() throws {
        #expect(HugePages.avoid())
        let status = try #require(text("/proc/self/status"))
        #expect(status.contains("THP_enabled:\t0"))
    }

    private func text(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = read(descriptor, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}
