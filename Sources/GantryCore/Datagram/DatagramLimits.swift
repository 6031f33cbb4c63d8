/// Every limit and number of media over UDP (`pairing/datagram.md`). Sizes are bytes.
package enum DatagramLimits {
    /// Label of the TLS exporter (RFC 8446 section 7.5) that the keys come from; the context is empty.
    package static let exporterLabel = "EXPORTER-gantry-datagram"

    /// UDP payload sizes that a path is tried with, largest first: 1500 bytes of Ethernet less IP and UDP headers, and
    /// what every IPv6 path carries (1280, RFC 8200 section 5).
    package static let payloadSizesIPv4 = [1472, 1232]
    package static let payloadSizesIPv6 = [1452, 1232]
    package static let smallestPayload = 1232
    package static let largestPayload = 1472
    /// What SRTP adds to a packet: the tag of AEAD_AES_128_GCM (RFC 7714 section 13).
    package static let protection = 16
    /// What SRTCP adds: the tag and the index (RFC 7714 section 9).
    package static let controlProtection = 20
    /// Memory of one packet.
    package static let packetCapacity = 1536

    /// Larger access units go over TLS.
    package static let largestUnit = 1024 * 1024

    /// Larger packets of sound go over TLS: what fits into the smallest payload.
    package static let largestSound = smallestPayload - protection - MediaDatagram.firstPrefix

    /// Data packets of one block that parity is computed over, and its parity packets.
    package static let blockData = 48
    package static let blockParity = 32
    /// Packets of one unit, parity included.
    package static let unitPackets = 1800

    /// Packets that a stream remembers, on both sides: a power of two. Sequence numbers have 16 bits, so well below 32768.
    package static let videoWindow = 4096
    package static let audioWindow = 256
    /// Units that a receiver puts together at a time.
    package static let openUnits = 64

    /// RTP payload types, of the dynamic range (RFC 3551 section 6).
    package static let h264PayloadType: UInt8 = 96
    package static let opusPayloadType: UInt8 = 97
    package static let parityPayloadType: UInt8 = 98
    package static let probePayloadType: UInt8 = 99

    /// SSRC of a media channel is its number; these are the producer's probes and reports, and the studio's.
    package static let producerSource: UInt32 = 9
    package static let studioSource: UInt32 = 10

    /// How long a unit may be waited for before it counts as lost.
    package static let videoPatience = MediaDuration.milliseconds(400)
    package static let audioPatience = MediaDuration.milliseconds(200)
    /// The studio reports at least this often while packets come.
    package static let reportInterval = MediaDuration.milliseconds(50)
    /// A producer that learns for so long, and the time that the path takes for an answer, of nothing that has arrived goes back to TLS.
    package static let reportSilence = MediaDuration.milliseconds(500)
    /// A path that has not answered by then takes no UDP.
    package static let probeLimit = MediaDuration.milliseconds(700)
    package static let probeInterval = MediaDuration.milliseconds(20)
    /// After the first answer, so long for answers of larger sizes.
    package static let probeGrace = MediaDuration.milliseconds(60)
    /// A path that took no UDP, or lost too much, is tried again.
    package static let probeAgain = MediaDuration.seconds(30)
    /// Missing packets that one report may name.
    package static let requestedPackets = 256
}
