public import GantryCore
import GantryTransport

/// Whom to connect to, and where.
public struct ProducerTarget: Sendable {
    /// Nil: over USB when it is plugged in; else where the device was met last, and wherever this network knows it.
    public var endpoint: Endpoint?
    /// Over USB only: the device with this serial number (or in this socket, "1-1.4"), or for "" the only one. A producer
    /// there that is not paired is paired once it has let us in: whoever names the cable trusts what is on it.
    public var usbSerial: String?
    /// The key that must answer; nil: any producer that is paired.
    public var keyID: KeyID?
    /// For people: the device's name, or the address.
    public var name: String

    /// A producer at an address: the one with this key, or whichever is paired.
    public init(endpoint: Endpoint, keyID: KeyID? = nil, name: String? = nil) {
        self.endpoint = endpoint
        self.keyID = keyID
        self.name = name ?? endpoint.description
    }

    /// Whichever producer is on the USB cable.
    ///
    /// - Parameter usbSerial: its serial number; "": there is only one.
    public init(usbSerial: String) {
        self.usbSerial = usbSerial
        name = usbSerial.isEmpty ? "the producer on USB" : "usb:" + DisplayName(usbSerial).text
    }

    /// A paired producer, wherever it is.
    public init(_ device: PairedDevice) {
        keyID = device.keyID
        name = device.displayedName
    }
}
