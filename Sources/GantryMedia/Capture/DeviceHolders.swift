import Glibc

/// Which processes have a device open, as far as the user may see: those of other users only root does.
enum DeviceHolders {
    /// Such as "ffmpeg (process 812)"; at most four. Takes some milliseconds on a full machine. This process counts where no
    /// other has the device: who looks for the holder has it open as well.
    ///
    /// - Parameter exceptUs: leaves this very process out.
    static func names(of path: String, exceptUs: Bool = false) -> [String] { names(of: [path], exceptUs: exceptUs) }

    static func names(of paths: [String], exceptUs: Bool = false) -> [String] {
        let devices = paths.compactMap(SystemPath.resolved)
        guard !devices.isEmpty else { return [] }
        var found: [String] = []
        var isOurs = false
        for process in SystemPath.entries("/proc", limit: 65536) {
            guard let number = Int(process), found.count < 4 else { continue }
            guard holds(process, devices) else { continue }
            if number == Int(getpid()) {
                isOurs = !exceptUs
            } else {
                let name = SystemPath.shown(SystemPath.firstLine("/proc/\(process)/comm") ?? "?")
                found.append("\(name) (process \(number))")
            }
        }
        return found.isEmpty && isOurs ? ["this very program"] : found
    }

    private static func holds(_ process: String, _ devices: [String]) -> Bool {
        let folder = "/proc/\(process)/fd"
        return SystemPath.entries(folder, limit: 4096).contains { entry in
            SystemPath.link("\(folder)/\(entry)").map(devices.contains) ?? false
        }
    }
}
