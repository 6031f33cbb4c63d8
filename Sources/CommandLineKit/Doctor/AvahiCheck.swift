import GantryCore

/// Whether the network can be searched: the Avahi daemon, and who else answers mDNS.
package enum AvahiCheck {
    package struct Facts: Sendable {
        package var isInstalled: Bool
        package var isRunning: Bool
        package var hasBus: Bool
        package var refusesToPublish: Bool
        /// Nil: nobody has UDP port 5353; "" is a process that may not be known.
        package var owners: [String]?

        package init(isInstalled: Bool, isRunning: Bool, hasBus: Bool, refusesToPublish: Bool, owners: [String]?) {
            self.isInstalled = isInstalled
            self.isRunning = isRunning
            self.hasBus = hasBus
            self.refusesToPublish = refusesToPublish
            self.owners = owners
        }
    }

    package static func read(_ files: SystemFiles) -> Facts {
        let process = files.line("/run/avahi-daemon/pid").flatMap { Int($0) }
        let settings = files.lines("/etc/avahi/avahi-daemon.conf").map { $0.filter { $0 != " " } }
        return Facts(
            isInstalled: files.exists("/usr/sbin/avahi-daemon"),
            isRunning: process.map { files.line("/proc/\($0)/comm")?.hasPrefix("avahi-daemon") ?? false } ?? false,
            hasBus: files.exists("/run/dbus/system_bus_socket"),
            refusesToPublish: settings.contains {
                $0 == "disable-publishing=yes" || $0 == "disable-user-service-publishing=yes"
            },
            owners: SocketOwners(files).owners(of: 5353, .udp))
    }

    package static func judge(_ facts: Facts) -> [Finding] {
        guard facts.isInstalled else {
            return [
                .problem(
                    "Avahi is not installed: devices do not find each other. Addresses work: gantry-studio receive HOST:7787",
                    "sudo apt-get install avahi-daemon")
            ]
        }
        guard facts.isRunning else {
            return [
                .problem("The Avahi daemon does not run.", "sudo systemctl enable --now avahi-daemon")
            ]
        }
        var findings: [Finding] = []
        if !facts.hasBus {
            findings.append(
                .problem(
                    "The D-Bus system bus, through which Avahi is asked, does not run.",
                    "sudo systemctl start dbus avahi-daemon"))
        }
        if facts.refusesToPublish {
            findings.append(
                .problem(
                    "Avahi is set not to publish: this machine is not announced.",
                    "sudo sed -i 's/^ *disable-.*publishing *= *yes//' /etc/avahi/avahi-daemon.conf && sudo systemctl restart avahi-daemon"
                ))
        }
        findings += strangers(facts.owners ?? [])
        return findings.isEmpty ? [.ok("The Avahi daemon runs, and has UDP port 5353.")] : findings
    }

    /// Another responder takes answers away from Avahi, and may announce this machine under another name.
    private static func strangers(_ owners: [String]) -> [Finding] {
        owners.filter { !$0.isEmpty && !$0.hasPrefix("avahi-daemon") }.map { name in
            .warning(
                "\(name) answers mDNS (UDP port 5353) as well. Names may be found twice, late, or not at all.",
                name.hasPrefix("systemd-resolve")
                    ? "sudo mkdir -p /etc/systemd/resolved.conf.d && printf '[Resolve]\\nMulticastDNS=no\\n' | sudo tee "
                        + "/etc/systemd/resolved.conf.d/no-mdns.conf && sudo systemctl restart systemd-resolved" : nil)
        }
    }
}
