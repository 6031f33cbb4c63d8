import Foundation
import GantryCore
import GantryTestSupport
import Testing

@testable import CommandLineKit

/// What `doctor` says of a machine, by files as the kernel and programs write them.
@Suite struct DoctorCheckTests {
    private let folder: TestFolder
    private let files: SystemFiles

    init() throws {
        folder = try TestFolder()
        files = SystemFiles(root: folder.file("root"))
    }

    private func write(_ path: String, _ text: String) throws {
        let url = URL(fileURLWithPath: folder.file("root") + path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: url, atomically: true, encoding: .utf8)
    }

    private func link(_ path: String, to target: String) throws {
        let url = URL(fileURLWithPath: folder.file("root") + path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: url.path, withDestinationPath: target)
    }

    private func levels(_ findings: [Finding]) -> [Finding.Level] { findings.map(\.level) }

    // MARK: Sockets

    private static let header =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"

    private func writeSockets() throws {
        try write(
            "/proc/net/udp",
            Self.header
                + "  881: 00000000:14E9 00000000:0000 07 00000000:00000000 00:00000000 00000000   102        0 18210 2 0 0\n"
                + "  882: 00000000:14E9 00000000:0000 07 00000000:00000000 00:00000000 00000000   103        0 18211 2 0 0\n"
        )
        try write(
            "/proc/net/tcp",
            Self.header
                + "   0: 00000000:1E6B 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 777 1 0 0\n"
                + "   1: 0100007F:1E6C 0100007F:1E6B 01 00000000:00000000 00:00000000 00000000  1000        0 778 1 0 0\n"
                + "garbage\n")
        try write("/proc/77/comm", "avahi-daemon\n")
        try link("/proc/77/fd/12", to: "socket:[18210]")
        try write("/proc/78/comm", "systemd-resolve\n")
        try link("/proc/78/fd/3", to: "socket:[18211]")
        try link("/proc/78/fd/4", to: "/dev/null")
        try write("/proc/79/comm", "python3\n")
        try link("/proc/79/fd/3", to: "socket:[777]")
    }

    @Test func thePortsOfAMachineHaveOwners() throws {
        try writeSockets()
        let owners = SocketOwners(files)
        #expect(owners.owners(of: 5353, .udp) == ["avahi-daemon", "systemd-resolve"])
        #expect(owners.owners(of: 7787, .tcp) == ["python3"])
        // A connection is no listener.
        #expect(owners.owners(of: 7788, .tcp) == nil)
        try FileManager.default.removeItem(atPath: folder.file("root/proc/79"))
        #expect(owners.owners(of: 7787, .tcp) == [""])
        #expect(SocketOwners(SystemFiles(root: "/nonexistent")).owners(of: 5353, .udp) == nil)
    }

    @Test func thePortOfAProducer() {
        #expect(levels(PortCheck.judge(port: 7787, owners: nil)) == [.ok])
        #expect(levels(PortCheck.judge(port: 7787, owners: ["gantry-producer"])) == [.ok])
        let other = PortCheck.judge(port: 7787, owners: ["python3"])
        #expect(levels(other) == [.problem])
        #expect(other[0].text.contains("python3"))
        #expect(PortCheck.judge(port: 7787, owners: [""])[0].text.contains("Another user's"))
    }

    // MARK: Avahi

    @Test func avahiThatIsAbsentStoppedOrFought() throws {
        #expect(AvahiCheck.judge(AvahiCheck.read(files)).first?.remedy == "sudo apt-get install avahi-daemon")
        try write("/usr/sbin/avahi-daemon", "")
        #expect(AvahiCheck.judge(AvahiCheck.read(files)).first?.remedy == "sudo systemctl enable --now avahi-daemon")
        try writeSockets()
        try write("/run/avahi-daemon/pid", "77\n")
        try write("/run/dbus/system_bus_socket", "")
        let fought = AvahiCheck.judge(AvahiCheck.read(files))
        #expect(levels(fought) == [.warning])
        #expect(fought[0].text.contains("systemd-resolve"))
        #expect(fought[0].remedy?.contains("MulticastDNS=no") == true)
        try FileManager.default.removeItem(atPath: folder.file("root/proc/78"))
        #expect(levels(AvahiCheck.judge(AvahiCheck.read(files))) == [.ok])
        try write("/etc/avahi/avahi-daemon.conf", "[publish]\n#disable-publishing=yes\ndisable-publishing = yes\n")
        #expect(levels(AvahiCheck.judge(AvahiCheck.read(files))) == [.problem])
        // A number that another process has got meanwhile.
        try write("/run/avahi-daemon/pid", "79\n")
        #expect(AvahiCheck.judge(AvahiCheck.read(files)).first?.text == "The Avahi daemon does not run.")
    }

    // MARK: Firewall

    private static let closed = """
        table inet filter {
        \tchain input {
        \t\ttype filter hook input priority filter; policy drop;
        \t\tct state established,related accept
        \t\ttcp dport { 22, 80 } accept
        \t}
        \tchain output {
        \t\ttype filter hook output priority filter; policy accept;
        \t}
        }
        """

    private func judge(_ ruleset: String?, hasNft: Bool = true, isRoot: Bool = true) -> [Finding] {
        FirewallCheck.judge(
            FirewallCheck.Facts(ruleset: ruleset, hasNft: hasNft, isRoot: isRoot),
            [FirewallCheck.discovery, FirewallCheck.session])
    }

    @Test func rulesOfNftables() {
        let closed = judge(Self.closed)
        #expect(levels(closed) == [.problem, .problem])
        #expect(
            closed.map(\.remedy) == [
                "sudo nft insert rule inet filter input udp dport 5353 accept",
                "sudo nft insert rule inet filter input tcp dport 7787 accept",
            ])
        let half = Self.closed.replacingOccurrences(of: "{ 22, 80 }", with: "{ 22, 7000-8000 }")
        #expect(levels(judge(half)) == [.problem, .ok])
        #expect(levels(judge(Self.closed.replacingOccurrences(of: "policy drop", with: "policy accept"))) == [.ok])
        // The policy lets through, and the last rule does not.
        for rule in ["drop", "counter drop", "counter packets 12 bytes 720 drop", "reject with icmpx port-unreachable"]
        {
            let last = Self.closed.replacingOccurrences(of: "policy drop", with: "policy accept")
                .replacingOccurrences(
                    of: "accept\n\t}\n\tchain output", with: "accept\n\t\t\(rule)\n\t}\n\tchain output")
            #expect(levels(judge(last)) == [.problem, .problem], "\(rule)")
        }
        // What goes out is nobody's business here.
        #expect(
            levels(judge("table ip x {\n chain o {\n type filter hook output priority 0; policy drop;\n }\n}")) == [.ok]
        )
        #expect(levels(judge("")) == [.ok])
        #expect(judge(nil, isRoot: false)[0].text.contains("sudo"))
        #expect(levels(judge("\u{0}}}{ chain hook input ;;; drop {{{")) == [.problem, .problem])
    }

    @Test func ufwAndFirewalld() throws {
        try write("/etc/ufw/ufw.conf", "# x\nENABLED=yes\n")
        try write(
            "/etc/ufw/user.rules",
            "-A ufw-user-input -p tcp --dport 7787 -j ACCEPT\n-A ufw-user-input -p tcp --dport 5353 -j ACCEPT\n")
        let found = FirewallCheck.judge(
            FirewallCheck.read(files, isRoot: false), [FirewallCheck.discovery, FirewallCheck.session])
        #expect(levels(found) == [.problem, .ok])
        #expect(found[0].remedy == "sudo ufw allow 5353/udp")
        try FileManager.default.removeItem(atPath: folder.file("root/etc/ufw/user.rules"))
        #expect(
            levels(FirewallCheck.judge(FirewallCheck.read(files, isRoot: false), [FirewallCheck.session])) == [.warning]
        )
        try write("/etc/ufw/ufw.conf", "ENABLED=no\n")
        try write("/run/firewalld/x", "")
        try write("/proc/9/comm", "firewalld\n")
        let other = FirewallCheck.judge(FirewallCheck.read(files, isRoot: false), [FirewallCheck.session])
        #expect(other[0].remedy == "sudo firewall-cmd --permanent --add-port=7787/tcp && sudo firewall-cmd --reload")
    }

    // MARK: Networks

    private func interface(
        _ name: String, _ addresses: [String], kind: NetworkInterface.Kind = .wired
    ) -> NetworkInterface {
        NetworkInterface(name: name, index: 1, kind: kind, isUp: true, addresses: addresses)
    }

    @Test func networks() throws {
        #expect(levels(NetworkCheck.judge(.init(interfaces: []), defaultInterface: nil, isStudio: true)) == [.problem])
        let one = NetworkInformation(interfaces: [
            interface("lo", ["127.0.0.1"], kind: .loopback), interface("docker0", ["172.17.0.1"], kind: .virtual),
            interface("eth0", ["fe80::1%eth0", "192.168.1.5"]),
        ])
        #expect(levels(NetworkCheck.judge(one, defaultInterface: "eth0", isStudio: true)) == [.ok])
        let two = NetworkInformation(interfaces: one.interfaces + [interface("wlan0", ["10.0.0.7"], kind: .wifi)])
        let found = NetworkCheck.judge(two, defaultInterface: "tun0", isStudio: true)
        #expect(levels(found) == [.ok, .warning, .warning])
        #expect(found[1].text.contains("192.168.1.5"))
        #expect(found[2].text.contains("VPN"))
        #expect(levels(NetworkCheck.judge(two, defaultInterface: "eth0", isStudio: false)) == [.ok])
        try write(
            "/proc/net/route",
            "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
                + "wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"
                + "eth0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
                + "tun0\t0000000A\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0\nx\n")
        #expect(NetworkCheck.defaultInterface(files) == "eth0")
    }

    // MARK: Devices

    @Test func virtualCameras() throws {
        func judge(_ isPermitted: Bool = true) -> [Finding] {
            VirtualCameraCheck.judge(VirtualCameraCheck.read(files, kernel: "6.1") { _ in isPermitted })
        }
        #expect(judge().first?.remedy?.contains("v4l2loopback-dkms") == true)
        try write("/lib/modules/6.1/modules.dep", "kernel/a.ko:\nupdates/dkms/v4l2loopback.ko: kernel/b.ko\n")
        #expect(judge().first?.remedy == "sudo modprobe v4l2loopback exclusive_caps=1 card_label=Gantry")
        try write("/sys/module/v4l2loopback/parameters/exclusive_caps", "Y,N,N\n")
        #expect(levels(judge()) == [.problem])
        for number in [10, 9] {
            try write("/sys/class/video4linux/video\(number)/max_openers", "10\n")
            try write("/sys/class/video4linux/video\(number)/name", "Gantry\n")
        }
        try write("/sys/class/video4linux/video0/name", "a real one\n")
        let found = judge()
        #expect(levels(found) == [.ok, .warning])
        #expect(found[0].text.contains("/dev/video9"))
        #expect(levels(judge(false)) == [.problem, .problem])
        // What `receive --vcam` says of the one that it takes.
        let facts = VirtualCameraCheck.read(files, kernel: "6.1") { _ in true }
        #expect(VirtualCameraCheck.warning(about: "/dev/video10", facts) == found[1])
        #expect(found[1].remedy?.contains("modprobe v4l2loopback exclusive_caps=1") == true)
        #expect(VirtualCameraCheck.warning(about: "/dev/video9", facts) == nil)
        #expect(VirtualCameraCheck.warning(about: "/dev/video11", facts) == nil)
    }

    @Test func gadgetsAndRules() throws {
        #expect(levels(GadgetCheck.judge(GadgetCheck.read(files))) == [.ok])
        try write("/sys/class/udc/fe980000.usb", "")
        try write("/etc/systemd/system/gantry-gadget.service", "")
        #expect(levels(GadgetCheck.judge(GadgetCheck.read(files))) == [.ok])
        try write("/sys/kernel/config/usb_gadget/g1/UDC", "fe980000.usb\n")
        let taken = GadgetCheck.judge(GadgetCheck.read(files))
        #expect(levels(taken) == [.problem])
        #expect(taken[0].remedy == "echo | sudo tee /sys/kernel/config/usb_gadget/g1/UDC")
        #expect(levels(USBAccessCheck.look(files, isRoot: false)) == [.warning])
        #expect(levels(USBAccessCheck.look(files, isRoot: true)) == [.ok])
        try write("/etc/udev/rules.d/70-gantry.rules", "")
        #expect(levels(USBAccessCheck.look(files, isRoot: false)) == [.ok])
    }

    @Test func clocks() throws {
        #expect(ClockCheck.look(files).isEmpty)
        let place = "/sys/devices/system/clocksource/clocksource0"
        try write("\(place)/current_clocksource", "acpi_pm\n")
        try write("\(place)/available_clocksource", "tsc acpi_pm \n")
        #expect(ClockCheck.look(files)[0].remedy?.hasPrefix("echo tsc |") == true)
        try write("\(place)/current_clocksource", "tsc\n")
        #expect(levels(ClockCheck.look(files)) == [.ok])
    }

    // MARK: The user's side

    @Test func terminals() {
        let size = TerminalSize(columns: 120, rows: 40)
        #expect(levels(TerminalCheck.judge(size: size, type: "xterm", locale: "en_US.UTF-8")) == [.ok])
        #expect(levels(TerminalCheck.judge(size: size, type: "dumb", locale: "C")) == [.warning, .warning])
        #expect(levels(TerminalCheck.judge(size: .standard, type: "xterm", locale: "C.utf8")) == [.warning])
        #expect(levels(TerminalCheck.judge(size: nil, type: nil, locale: nil)) == [.ok])
    }

    @Test func runtimeFolders() {
        func judge(_ owner: UInt32, _ mode: UInt32, isFolder: Bool = true) -> [Finding] {
            RuntimeFolderCheck.judge(
                path: "/run/user/5", status: .init(owner: owner, mode: mode, isFolder: isFolder, group: 0), user: 5)
        }
        #expect(levels(judge(5, 0o700)) == [.ok])
        #expect(levels(judge(6, 0o700)) == [.warning])
        #expect(judge(5, 0o755)[0].remedy == "chmod 700 /run/user/5")
        #expect(levels(judge(5, 0o700, isFolder: false)) == [.warning])
        #expect(levels(RuntimeFolderCheck.judge(path: nil, status: nil, user: 5)) == [.ok])
    }

    @Test func stateFoldersAreLookedAtAndNotMade() throws {
        let place = folder.file("state")
        func look() -> [Finding] { StateCheck.look(place, peer: "studio") { .success(2) } }
        #expect(levels(look()) == [.ok])
        #expect(!FileManager.default.fileExists(atPath: place))
        try FileManager.default.createDirectory(
            atPath: place, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        #expect(look()[0].text.contains("Nothing is paired"))
        _ = FileManager.default.createFile(
            atPath: place + "/paired.sqlite", contents: nil, attributes: [.posixPermissions: 0o600])
        #expect(look()[0].text.hasPrefix("2 studios paired"))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: place + "/paired.sqlite")
        #expect(look()[0].remedy == "chmod 600 \(place)/paired.sqlite")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: place)
        #expect(levels(look()) == [.problem])
        #expect(look()[0].text.contains("chmod 700"))
    }

    @Test func anotherProgramIsReadWithinBounds() {
        #expect(CommandOutput.read(["/bin/echo", "a b"]) == "a b\n")
        #expect(CommandOutput.read(["/bin/false"]) == nil)
        #expect(CommandOutput.read(["/nonexistent"]) == nil)
        #expect(CommandOutput.read(["/usr/bin/yes"]) == nil)
    }
}
