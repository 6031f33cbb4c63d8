import Glibc

/// What `receive --vcam` needs: v4l2loopback.
package enum VirtualCameraCheck {
    package struct Device: Sendable, Hashable {
        package var path: String
        package var label: String
        package var isPermitted: Bool

        package init(path: String, label: String, isPermitted: Bool) {
            self.path = path
            self.label = label
            self.isPermitted = isPermitted
        }
    }

    package struct Facts: Sendable {
        package var isInstalled: Bool
        package var isLoaded: Bool
        /// As in /sys: "Y,N,N…", one for each device.
        package var exclusiveCaps: String?
        package var devices: [Device]

        package init(isInstalled: Bool, isLoaded: Bool, exclusiveCaps: String? = nil, devices: [Device] = []) {
            self.isInstalled = isInstalled
            self.isLoaded = isLoaded
            self.exclusiveCaps = exclusiveCaps
            self.devices = devices
        }
    }

    private static let load = "sudo modprobe v4l2loopback exclusive_caps=1 card_label=Gantry"
    private static let classFolder = "/sys/class/video4linux"

    /// - Parameter isPermitted: whether this user may open a path.
    package static func read(
        _ files: SystemFiles, kernel: String = kernelRelease,
        isPermitted: (String) -> Bool = { access($0, R_OK | W_OK) == 0 }
    ) -> Facts {
        let isLoaded = files.exists("/sys/module/v4l2loopback")
        let known =
            files.text("/lib/modules/\(kernel)/modules.dep", limit: 16 << 20)?.contains("/v4l2loopback.ko") ?? false
        let numbers = files.entries(classFolder).compactMap { name in
            // The one driver whose devices have it.
            name.hasPrefix("video") && files.exists("\(classFolder)/\(name)/max_openers")
                ? UInt16(name.dropFirst(5)) : nil
        }
        return Facts(
            isInstalled: known || isLoaded, isLoaded: isLoaded,
            exclusiveCaps: files.line("/sys/module/v4l2loopback/parameters/exclusive_caps"),
            devices: numbers.sorted().map { number in
                Device(
                    path: "/dev/video\(number)", label: files.line("\(classFolder)/video\(number)/name") ?? "?",
                    isPermitted: isPermitted("/dev/video\(number)"))
            })
    }

    /// As `uname -r`.
    package static var kernelRelease: String { SystemFiles().line("/proc/sys/kernel/osrelease") ?? "" }

    /// What is to be said of a device that has been opened; nil: nothing.
    package static func warning(about path: String, _ facts: Facts) -> Finding? {
        let findings = judge(facts)
        guard let index = facts.devices.firstIndex(where: { $0.path == path }), findings.indices.contains(index),
            findings[index].level == .warning
        else { return nil }
        return findings[index]
    }

    package static func judge(_ facts: Facts) -> [Finding] {
        guard facts.isInstalled else {
            return [
                .warning(
                    "The virtual camera (receive --vcam) needs the kernel module v4l2loopback, which is not installed.",
                    "sudo apt-get install v4l2loopback-dkms && \(load)")
            ]
        }
        guard facts.isLoaded else {
            return [.warning("The kernel module v4l2loopback is not loaded: no --vcam.", load)]
        }
        let again = "sudo modprobe -r v4l2loopback && \(load)"
        guard !facts.devices.isEmpty else { return [.problem("v4l2loopback is loaded and has no device.", again)] }
        let flags = facts.exclusiveCaps?.split(separator: ",").map(String.init) ?? []
        return facts.devices.enumerated().map { index, device in
            if !device.isPermitted {
                return .problem(
                    "You may not use the virtual camera \(device.path).",
                    "sudo usermod -aG video $USER   # then log in again")
            }
            if index < flags.count, flags[index] == "N" {
                return .warning(
                    "The virtual camera \(device.path) has no exclusive_caps: Chromium and programs built on it do not show it.",
                    again)
            }
            return .ok("The virtual camera \(device.path) (\(device.label)) can be used.")
        }
    }
}
