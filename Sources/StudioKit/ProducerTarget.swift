public import GantryCore
import GantryMedia
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
    /// A stream by URL instead of a producer; nil: a producer.
    public var url: String?
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

    /// Whatever plays at a URL: RTSP, RTMP, SRT, HTTP (a file, MPEG-TS, HLS), UDP, or a file. It has no identity: anyone in the
    /// network may be behind it, unless the URL's own protocol says otherwise. Everything that libavcodec decodes is taken.
    ///
    /// - Parameter url: as in rtsp://192.168.1.30/stream, file:///home/me/clip.mp4. A name and a password in it are never shown.
    /// - Throws: `invalidArgument` for another scheme.
    public init(url: String) throws(GantryError) {
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard Self.schemes.contains(scheme), url.dropFirst(scheme.count).hasPrefix("://"), !url.utf8.contains(0),
            url.utf8.count <= 4096
        else {
            throw GantryError(
                .invalidArgument,
                "\(DisplayName(url).text) cannot be played. A URL begins with one of: "
                    + Self.schemes.map { $0 + "://" }.joined(separator: " "))
        }
        self.url = url
        name = LibAVInput.shown(url)
    }

    private static let schemes = [
        "rtsp", "rtsps", "rtmp", "rtmps", "srt", "http", "https", "udp", "rtp", "tcp", "file",
    ]

    /// A paired producer, wherever it is.
    public init(_ device: PairedDevice) {
        keyID = device.keyID
        name = device.displayedName
    }
}
