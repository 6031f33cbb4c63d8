/// Every limit and constant of the wire protocol (`pairing/wire.md`, section "Limits"). Sizes are bytes.
package enum WireLimits {
    /// The minor version that this code speaks; the major one is in the ALPN name.
    package static let minorVersion: UInt16 = 0
    package static let sessionProtocolName = "gantry/1"
    package static let pairingProtocolName = "gantry-pair/1"

    package static let headerSize = 8
    /// The largest payload of a frame that is accepted.
    package static let maximumFragment = 16384
    /// The largest payload that we send: header and payload fill one TLS record of 16384.
    package static let sentFragment = maximumFragment - headerSize
    /// Reassembled messages.
    package static let maximumVideo = 4 * 1024 * 1024
    package static let maximumAudio = 8 * 1024
    package static let maximumData = 64 * 1024
    package static let maximumControl = 16 * 1024
    /// Every message before the peer is authorised, and every message of pairing.
    package static let maximumBeforeAuthorisation = 4 * 1024

    /// Channel 0 is control; 1…8 carry media and data.
    package static let highestChannel: UInt16 = 8
    package static let maximumChannels = Int(highestChannel)

    package static let maximumFields = 64
    package static let maximumName = 64
    package static let maximumModel = 32
    package static let maximumVersion = 32
    package static let maximumReasonText = 128
    package static let maximumDataLabel = 32
    package static let maximumParameterSets = 4096
    package static let maximumAudioHead = 512
    package static let maximumCodecs = 16
    package static let carrierTokenSize = 16
    /// Pixels of a side.
    package static let maximumSide = 8192
    /// Samples of each channel in an audio packet: 120 ms at 48 kHz (RFC 6716 section 2.1.4).
    package static let maximumSamplesPerPacket = 5760
    /// The bytes in front of a video or audio payload.
    package static let mediaPrefixSize = 22
    /// Control messages in a second; DATA, VIDEO and AUDIO do not count.
    package static let controlPerSecond = 200
}
