/// The first byte of a frame. Types that are not listed here are skipped by a receiver.
package struct MessageType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    private init(_ rawValue: UInt8) { self.rawValue = rawValue }

    package static let hello = Self(0x01)
    package static let accept = Self(0x02)
    package static let reject = Self(0x03)
    package static let start = Self(0x04)
    package static let format = Self(0x05)
    package static let keyframe = Self(0x06)
    package static let prefer = Self(0x07)
    package static let pause = Self(0x08)
    package static let resume = Self(0x09)
    package static let feedback = Self(0x0A)
    package static let rate = Self(0x0B)
    package static let stats = Self(0x0C)
    package static let ping = Self(0x0D)
    package static let pong = Self(0x0E)
    package static let videoState = Self(0x0F)
    package static let data = Self(0x10)
    package static let streams = Self(0x11)
    package static let carrierOffer = Self(0x12)
    package static let carrierBind = Self(0x13)
    package static let dataCredit = Self(0x14)
    package static let error = Self(0x1E)
    package static let bye = Self(0x1F)
    package static let video = Self(0x20)
    package static let audio = Self(0x21)
    package static let pairHello = Self(0x30)
    package static let pairAccept = Self(0x31)
    package static let pairDone = Self(0x32)
    package static let pairFail = Self(0x33)

    /// Video and audio: the payload is not gathered, but handed on as it comes.
    package var isMedia: Bool { self == .video || self == .audio }

    package var isPairing: Bool { Self.pairHello.rawValue...Self.pairFail.rawValue ~= rawValue }

    package var isKnown: Bool {
        switch rawValue {
        case 0x01...0x14, 0x1E...0x21, 0x30...0x33: true
        default: false
        }
    }

    /// The largest reassembled message of this type, in bytes, once the peer is authorised.
    package var maximumSize: Int {
        switch self {
        case .video: WireLimits.maximumVideo
        case .audio: WireLimits.maximumAudio
        case .data: WireLimits.maximumData
        default: isPairing ? WireLimits.maximumBeforeAuthorisation : WireLimits.maximumControl
        }
    }

    /// Video, audio and data have channels 1…8; every other known type has channel 0.
    package func mayUse(channel: UInt16) -> Bool {
        guard channel <= WireLimits.highestChannel else { return false }
        guard isKnown else { return true }
        return (isMedia || self == .data) == (channel != 0)
    }

    /// Whether `role` may send this type in a session.
    package func maySend(_ role: SessionRole) -> Bool {
        switch self {
        case .accept, .reject, .format, .rate, .videoState, .streams, .video, .audio: role == .producer
        case .start, .keyframe, .prefer, .feedback: role == .studio
        default: !isPairing
        }
    }

    package var description: String {
        let digits = String(rawValue, radix: 16, uppercase: true)
        return "0x" + (digits.utf8.count < 2 ? "0" : "") + digits
    }
}
