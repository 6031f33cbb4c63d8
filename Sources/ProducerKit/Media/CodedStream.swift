import GantryCore
import GantryMedia
import GantryPlatform

/// A stream that its device has coded: what is known of it, and what is missing. A plain value of the encoding thread.
struct CodedStream {
    private(set) var format: VideoStreamFormat
    private var last: UInt32?
    private var isBroken = true
    private var hasWarned = false

    /// A studio ends the session for a larger one.
    static let sizeLimit = WireLimits.maximumVideo - WireLimits.mediaPrefixSize

    init(_ format: VideoStreamFormat) { self.format = format }

    /// Looks at the next packet, and takes SPS and PPS over from it. False when something that it refers to is missing,
    /// or the stream was never described: nobody may have it, nor what follows until the next key frame.
    mutating func admit(_ packet: MediaPacket) -> Bool {
        guard packet.codec == format.codec, packet.count > 0 else { return false }
        guard packet.count <= Self.sizeLimit else {
            warn(packet.count)
            isBroken = true
            return false
        }
        guard format.codec == .h264 else { return true }
        if let last, packet.header.sequence != last &+ 1 { isBroken = true }
        last = packet.header.sequence
        if packet.header.isKey {
            let sets = ParameterSets.extract(from: packet.bytes)
            if !sets.isEmpty && sets.count <= WireLimits.maximumParameterSets { format.parameterSets = sets }
            isBroken = format.parameterSets.isEmpty
        }
        return !isBroken
    }

    private mutating func warn(_ count: Int) {
        guard !hasWarned else { return }
        hasWarned = true
        Log.warning(
            "The camera codes pictures of \(count) bytes, and \(Self.sizeLimit) is the most that can be passed on: such ones "
                + "are left out. Ask for smaller ones (--size 1920x1080), or let them be coded anew: --pass-through off"
        )
    }
}
