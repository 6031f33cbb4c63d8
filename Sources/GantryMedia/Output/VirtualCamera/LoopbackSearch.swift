import GantryCore
import Glibc

/// Finds the devices of v4l2loopback without opening anything else: real cameras light their lamps for less.
enum LoopbackSearch {
    private static let folder = "/sys/class/video4linux"

    /// `/dev/video*` of v4l2loopback, in the order of their numbers. It is the one driver whose devices have
    /// `max_openers`.
    static func devices() -> [String] {
        let numbers = SystemPath.entries(folder, limit: 1024).compactMap { name -> Int? in
            guard name.hasPrefix("video"), let number = UInt16(name.dropFirst(5)) else { return nil }
            return access("\(folder)/\(name)/max_openers", F_OK) == 0 ? Int(number) : nil
        }
        return numbers.sorted().map { "/dev/video\($0)" }
    }

    static var isModuleLoaded: Bool { access("/sys/module/v4l2loopback", F_OK) == 0 }

    /// The device that was asked for; otherwise the first one that nobody writes to, those first whose label says Gantry.
    ///
    /// - Throws: `outputNotFound`, `outputBusy`, `outputNotPermitted`, `outputFailed`, `outputLost`.
    static func open(_ wish: VirtualCameraWish) throws(GantryError) -> LoopbackDevice {
        if let path = wish.device { return try LoopbackDevice(path: path, wish: wish) }
        let paths = devices()
        guard !paths.isEmpty else {
            throw isModuleLoaded ? VirtualCameraFailure.noDevice() : VirtualCameraFailure.noModule()
        }
        let ours = paths.filter(isOurs)
        var failures: [GantryError] = []
        for path in ours + paths.filter({ !ours.contains($0) }) {
            do throws(GantryError) { return try LoopbackDevice(path: path, wish: wish) } catch {
                failures.append(error)
            }
        }
        if failures.count > 1, failures.allSatisfy({ $0.code == .outputBusy }) {
            throw VirtualCameraFailure.allBusy(paths)
        }
        // Not busy says more than busy: that can be mended.
        throw failures.first { $0.code != .outputBusy } ?? failures.first ?? VirtualCameraFailure.noDevice()
    }

    private static func isOurs(_ path: String) -> Bool {
        SystemPath.firstLine("\(folder)/\(SystemPath.last(path))/name")?.lowercased().contains("gantry") ?? false
    }
}
