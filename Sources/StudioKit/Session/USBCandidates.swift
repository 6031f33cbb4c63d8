import GantryCore
import GantryTransport

/// The USB devices on which the producer of a session may be.
enum USBCandidates {
    /// How long a device may take to answer the start of a session; see `USBHost.open`.
    static let openLimit = MediaDuration.milliseconds(1500)
    /// How long TLS may take then.
    static let proofLimit = MediaDuration.seconds(5)
    /// Devices that do not say whose they are, and may be tried all the same.
    private static let mostGuesses = 4

    /// Those to try, in this order. Empty when the target names an address, and for one that may be anywhere when nothing
    /// is plugged in.
    ///
    /// - Throws: for a target on USB alone: `usbNotFound`, and `invalidArgument` when several fit.
    static func of(_ target: ProducerTarget) throws(GantryError) -> [USBDevice] {
        guard target.endpoint == nil else { return [] }
        let scan = USBScan.now()
        guard let serial = target.usbSerial else { return guesses(scan.devices, target.keyID) }
        return [try chosen(serial, scan)]
    }

    /// The one that says it is the producer, else those that do not say: a gadget that was set up by a script has another
    /// serial number. TLS proves who it is.
    static func guesses(_ devices: [USBDevice], _ keyID: KeyID?) -> [USBDevice] {
        guard let keyID else { return [] }
        let claimants = devices.filter { $0.claims(keyID) }
        return claimants.isEmpty ? Array(devices.filter { !isKey($0.serial) }.prefix(mostGuesses)) : claimants
    }

    /// Whether a serial number is the short id of some producer's key.
    private static func isKey(_ serial: String) -> Bool {
        serial.utf8.count == 16 && Base32.decode(serial.uppercased()) != nil
    }

    private static func chosen(_ serial: String, _ scan: USBScan) throws(GantryError) -> USBDevice {
        let fitting = scan.devices.filter {
            serial.isEmpty || $0.serial.uppercased() == serial.uppercased() || $0.port == serial
        }
        guard let device = fitting.first else { throw notFound(serial, scan) }
        guard fitting.count == 1 else {
            let names = fitting.map { "usb:" + (serial.isEmpty ? $0.name : $0.port) }
            throw GantryError(
                .invalidArgument,
                "Several producers are on USB: \(names.joined(separator: ", ")). Name one of them.")
        }
        return device
    }

    private static func notFound(_ serial: String, _ scan: USBScan) -> GantryError {
        if let other = scan.devices.first {
            return GantryError(
                .usbNotFound,
                "No producer on USB has the serial number \(DisplayName(serial).text). There is: \(other.description)")
        }
        let refused = scan.refused.first.map { " The device at \($0.port) is none: \($0.reason)." } ?? ""
        return GantryError(
            .usbNotFound,
            "No producer is on USB. Plug in one that runs `gantry-producer run --usb`, with a cable that carries data."
                + refused)
    }
}
