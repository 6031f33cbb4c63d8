package import GantryCore
import Glibc

/// What this process has used so far.
package struct ProcessUsage: Sendable {
    /// User and system time of all threads.
    package let processorTime: MediaDuration
    /// Resident memory now, in bytes; 0 when /proc is not there.
    package let residentBytes: Int

    package static var current: ProcessUsage {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
        let microseconds = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec
        return ProcessUsage(
            processorTime: MediaDuration(microseconds: Int64(seconds) * 1_000_000 + Int64(microseconds)),
            residentBytes: resident())
    }

    /// The second number of /proc/self/statm is the resident set in pages (proc(5)).
    private static func resident() -> Int {
        let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return 0 }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 128)
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return 0 }
        let fields = buffer[..<count].split(separator: UInt8(ascii: " "))
        guard fields.count > 1, let pages = Int(String(decoding: fields[1], as: UTF8.self)) else { return 0 }
        return pages * Int(sysconf(CInt(_SC_PAGESIZE)))
    }
}
