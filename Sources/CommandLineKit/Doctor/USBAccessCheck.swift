/// Whether a studio may open a producer on a USB cable without root: the rules of udev.
package enum USBAccessCheck {
    static let places = ["/etc/udev/rules.d/70-gantry.rules", "/usr/lib/udev/rules.d/70-gantry.rules"]

    package static func look(_ files: SystemFiles, isRoot: Bool) -> [Finding] {
        if let path = places.first(where: files.exists) { return [.ok("The rules of udev for USB are in \(path).")] }
        if isRoot { return [.ok("USB needs no rules of udev for root.")] }
        return [
            .warning("Without udev's rules a producer on USB can be used by root alone.", "scripts/install --udev-only")
        ]
    }
}
