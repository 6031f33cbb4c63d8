import CAvahi
import GantryCore

/// Avahi's error numbers in our words.
enum AvahiFailure {
    /// The client waits for the daemon.
    static let noDaemon = GantryError(
        .discoveryUnavailable,
        "Devices cannot be found on the network: the Avahi daemon does not answer. "
            + "Start it with: sudo systemctl start avahi-daemon")

    /// No client could be made. With AVAHI_CLIENT_NO_FAIL an absent daemon is no failure: "no daemon" then stands for a
    /// bus that is absent.
    static func connecting(_ code: CInt) -> GantryError {
        switch Int(code) {
        case AVAHI_ERR_TIMEOUT: return noDaemon
        case AVAHI_ERR_NO_DAEMON, AVAHI_ERR_DBUS_ERROR, AVAHI_ERR_DISCONNECTED:
            return GantryError(
                .discoveryUnavailable,
                "Devices cannot be found on the network: the D-Bus system bus, through which Avahi is asked, does not "
                    + "answer. Start it with: sudo systemctl start dbus avahi-daemon",
                cause: Int(code) == AVAHI_ERR_NO_DAEMON ? nil : words(code))
        case AVAHI_ERR_ACCESS_DENIED, AVAHI_ERR_NOT_PERMITTED:
            return GantryError(
                .discoveryUnavailable,
                "Devices cannot be found on the network: D-Bus does not let this user ask the Avahi daemon. "
                    + "See: /etc/dbus-1/system.d/avahi-dbus.conf", cause: words(code))
        default:
            return GantryError(
                .discoveryUnavailable,
                "Devices cannot be found on the network: the Avahi daemon gives an error. "
                    + "See: systemctl status avahi-daemon", cause: words(code))
        }
    }

    /// The daemon answers and does not publish.
    static func publishing(_ code: CInt) -> GantryError {
        guard [AVAHI_ERR_NOT_PERMITTED, AVAHI_ERR_ACCESS_DENIED].contains(Int(code)) else {
            return GantryError(
                .discoveryUnavailable,
                "This device cannot be announced on the network: the Avahi daemon gives an error. "
                    + "See: systemctl status avahi-daemon", cause: words(code))
        }
        return GantryError(
            .discoveryUnavailable,
            "This device cannot be announced on the network: the Avahi daemon is set not to publish services. Remove "
                + "disable-publishing and disable-user-service-publishing from /etc/avahi/avahi-daemon.conf, then: "
                + "sudo systemctl restart avahi-daemon", cause: words(code))
    }

    static func words(_ code: CInt) -> String {
        avahi_strerror(code).flatMap { String(validatingCString: $0) } ?? "error \(code)"
    }
}
