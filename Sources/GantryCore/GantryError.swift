/// The one error of the package: a code for programs, a message for people, and what lay behind it.
///
/// The message says what happened and what to do next, in one or two sentences, and never contains a secret or
/// unchecked text of a peer. It is what the tools print.
public struct GantryError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is, for programs.
    public let code: Code
    /// What happened and what mends it.
    public let message: String
    /// The failure underneath, as its own words (a library's or the kernel's text), or nil.
    public let cause: String?

    /// The message is whole sentences: what happened, and what mends it. The cause is what a library or the system said.
    public init(_ code: Code, _ message: String, cause: String? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    public var description: String {
        guard let cause, !cause.isEmpty else { return message }
        return "\(message) (\(cause))"
    }

    /// A number in a range by subject: 100 general, 200 pairing, 300 transport, 400 USB, 500 source, 600 codec,
    /// 700 output. Numbers are never reused.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        init(_ rawValue: Int) { self.rawValue = rawValue }
    }
}

extension GantryError.Code {
    // General
    /// Something inside failed that no input explains.
    public static let general = Self(100)
    /// A value that was given cannot be used.
    public static let invalidArgument = Self(101)
    /// The call does not fit the state, for example `start` twice.
    public static let invalidState = Self(102)
    /// The caller gave it up.
    public static let cancelled = Self(103)
    /// The other end took too long.
    public static let timeout = Self(104)
    /// The one thing of its kind is in use already.
    public static let busy = Self(105)
    /// The program that was to be asked does not run.
    public static let notRunning = Self(106)
    /// The state folder cannot be used: permissions, owner, a link.
    public static let stateFolder = Self(110)
    /// The store of paired devices cannot be read or written.
    public static let store = Self(111)
    /// The identity key cannot be read, made or trusted.
    public static let identity = Self(112)
    /// No device of that name or key is in the store.
    public static let unknownDevice = Self(113)
    /// The control socket, or its folder, cannot be used: permissions, owner, a link.
    public static let controlSocket = Self(114)

    // Pairing
    /// Not a Gantry code, cut short, or damaged.
    public static let pairingCodeInvalid = Self(200)
    /// A code of another version.
    public static let pairingCodeVersion = Self(201)
    /// No studio that shows this code was found within 30 seconds.
    public static let noStudioAnswered = Self(202)
    /// One side said that the digits differ.
    public static let pairingDeclined = Self(203)
    /// One side gave it up.
    public static let pairingCancelled = Self(204)
    /// The other side began and did not finish.
    public static let pairingTimeout = Self(205)
    /// The code of this very installation.
    public static let pairingCodeOwn = Self(206)
    /// The code is older than two minutes.
    public static let pairingCodeExpired = Self(207)
    /// The other end did not know the secret, or is not who the code names.
    public static let pairingProof = Self(208)

    // Transport
    /// Nobody answers at any address of the peer.
    public static let cannotConnect = Self(300)
    /// Another program listens on the port.
    public static let portInUse = Self(301)
    /// The peer is not in the store, or does not have us in its own.
    public static let notPaired = Self(302)
    /// The peer has removed this device.
    public static let unpairedByPeer = Self(303)
    /// The peers have no version of the protocol in common.
    public static let versionMismatch = Self(304)
    /// The peer broke the protocol.
    public static let protocolError = Self(305)
    /// The connection was lost: no goodbye came.
    public static let peerLost = Self(306)
    /// The peer answered and said no (busy, declined, not ready).
    public static let rejected = Self(307)
    /// The TLS handshake failed, or what came could not be decrypted.
    public static let tls = Self(308)
    /// Another key answered than the one that is paired.
    public static let wrongPeer = Self(309)
    /// The network cannot be asked for devices: no Avahi daemon, no D-Bus, or publishing is refused.
    public static let discoveryUnavailable = Self(310)
    /// Media shall come over UDP alone, and none passes.
    public static let udpBlocked = Self(311)
    /// The producer's venue, owner or app is not the one that the studio wants.
    public static let otherFieldOfUse = Self(312)

    // USB: the gadget of the producer
    /// This machine has no USB device controller, not the one that was named, or several without a choice.
    public static let usbNoController = Self(410)
    /// Another gadget or driver uses the controller.
    public static let usbControllerTaken = Self(411)
    /// Making a gadget is for root.
    public static let usbNotPermitted = Self(412)
    /// The kernel has no gadgets, or refused a step of making one.
    public static let usbGadget = Self(413)
    /// Another producer uses the gadget.
    public static let usbGadgetInUse = Self(414)

    // USB, the link itself
    /// No Gantry producer is on USB, or it was unplugged.
    public static let usbNotFound = Self(420)
    /// The user may not open the USB device.
    public static let usbDeviceNotPermitted = Self(421)
    /// Another program uses the USB device.
    public static let usbBusy = Self(422)
    /// What is on the other end of the cable is no Gantry producer.
    public static let usbNotGantry = Self(423)
    /// A transfer failed, or the other end did not begin as agreed.
    public static let usbTransfer = Self(424)
    /// The FunctionFS mount is missing, taken, or refuses our descriptors.
    public static let usbFunction = Self(425)

    // Source
    /// There is no such file, device or address.
    public static let sourceNotFound = Self(500)
    /// Damaged, truncated, or not a media file.
    public static let sourceUnreadable = Self(501)
    /// The source has neither picture nor sound.
    public static let sourceHasNoMedia = Self(502)
    /// Coded in a way that is not known here.
    public static let unsupportedCodec = Self(503)
    /// Another program uses the device.
    public static let sourceBusy = Self(504)
    /// The user may not open the device.
    public static let sourceNotPermitted = Self(505)
    /// The device was unplugged, or its driver failed.
    public static let sourceLost = Self(506)
    /// The device is there and delivers nothing.
    public static let sourceSilent = Self(507)

    // Codec
    /// An encoder failed.
    public static let encoder = Self(600)
    /// A decoder failed.
    public static let decoder = Self(601)

    // Output
    /// The folder does not exist, or may not be written.
    public static let outputNotWritable = Self(700)
    /// No room is left on the device.
    public static let outputFull = Self(701)
    /// Writing failed for another reason than a full disk.
    public static let outputFailed = Self(702)
    /// The reader of a pipe has gone.
    public static let outputClosed = Self(703)
    /// There is no such device to put it out on.
    public static let outputNotFound = Self(704)
    /// Another program uses the output device.
    public static let outputBusy = Self(705)
    /// The user may not open the output device.
    public static let outputNotPermitted = Self(706)
    /// The output device was unplugged, or its driver failed.
    public static let outputLost = Self(707)
}
