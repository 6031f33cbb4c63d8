import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Testing

/// systemd as the first process of a process namespace, with the machine's own files and devices.
final class ServiceManager: Sendable {
    private let root: ToolRun
    private let processID: String

    /// What a whole machine begins with, and takes minutes here; and udevd, of which there is one already.
    private static let masked = [
        "systemd-tmpfiles-setup.service", "systemd-tmpfiles-setup-dev.service", "systemd-timesyncd.service",
        "systemd-update-utmp.service", "alsa-state.service", "alsa-restore.service", "timers.target", "sockets.target",
        "local-fs.target", "swap.target", "cryptsetup.target", "systemd-udevd.service", "systemd-udevd-control.socket",
        "systemd-udevd-kernel.socket", "systemd-udev-trigger.service",
    ]

    /// Waits until it answers.
    init() async throws {
        if !FileManager.default.fileExists(atPath: "/sys/fs/cgroup/cgroup.procs") {
            _ = try await Oracle.check(["mount", "-t", "cgroup2", "none", "/sys/fs/cgroup"])
        }
        // Its run-time folder is its own: where there is one, programs take it that systemd runs the machine.
        let setUp = """
            mkdir -p /run/systemd && mount -t tmpfs tmpfs /run/systemd && mkdir /run/systemd/system &&
            cd /run/systemd/system && for unit in \(Self.masked.joined(separator: " ")); do ln -s /dev/null $unit; done &&
            exec env -i container=vm PATH=/usr/sbin:/usr/bin:/sbin:/bin \\
                /lib/systemd/systemd --system --unit=basic.target --log-target=journal --show-status=no
            """
        let root = try ToolRun([
            "unshare", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc", "sh", "-c", setUp,
        ])
        self.root = root
        processID = try await Self.wait("systemd has not begun") {
            let path = "/proc/\(root.processID)/task/\(root.processID)/children"
            let children = (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: " ") ?? []
            return children.first.map(String.init)
        }
        _ = try await Self.wait("systemd does not answer") {
            let answer = try await self.systemctl(["is-active", "basic.target"])
            return answer.text.hasPrefix("active") ? true : nil
        }
    }

    deinit { root.signal(SIGKILL) }

    func systemctl(_ arguments: [String]) async throws -> Oracle.Result {
        try await Oracle.run(["nsenter", "-t", processID, "-p", "-m", "systemctl"] + arguments)
    }

    /// A property of a unit.
    func show(_ unit: String, _ property: String) async throws -> String {
        try await systemctl(["show", "-P", property, unit]).text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// What a unit has written.
    func journal(_ unit: String) async throws -> String {
        try await Oracle.run(
            ["nsenter", "-t", processID, "-p", "-m", "journalctl", "--no-pager", "-n", "20", "-u", unit]).text
    }

    /// Asks again and again, for at most two minutes: there is nothing that tells.
    static func wait<Value>(_ what: String, _ ask: () async throws -> Value?) async throws -> Value {
        let deadline = MonotonicClock.now() + .seconds(120)
        while MonotonicClock.now() < deadline {
            if let value = try await ask() { return value }
            _ = try await onThread { usleep(100_000) }
        }
        throw Oracle.Failure(text: what)
    }
}
