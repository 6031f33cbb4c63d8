import GantryCore
import GantryPlatform

/// Makes pooled packets of the pictures that a camera has coded itself. Belongs to the capturing thread.
final class CameraPackets {
    enum Outcome {
        case packet(MediaPacket)
        /// No JPEG, no H.264 in Annex B form, or too large.
        case damaged
        /// All packets are in use.
        case full
    }

    let codec: MediaCodec
    private let pool: ReusePool<MediaPacket>
    /// SPS and PPS as they came last: some cameras send them once only.
    private var parameterSets: [UInt8] = []

    /// Of one picture. JPEG of 4096x2304 at the best quality has 12 MB.
    private static let maximumBytes = 32 * 1024 * 1024

    init(codec: MediaCodec, capacity: Int) {
        self.codec = codec
        pool = ReusePool(capacity: capacity) { MediaPacket(capacity: 128 * 1024) }
    }

    func pack(_ bytes: UnsafeRawBufferPointer, sequence: UInt32, stamp: MediaTimestamp) -> Outcome {
        guard bytes.count <= Self.maximumBytes else { return .damaged }
        return codec == .mjpeg ? packJPEG(bytes, sequence, stamp) : packH264(bytes, sequence, stamp)
    }

    private func packJPEG(_ bytes: UnsafeRawBufferPointer, _ sequence: UInt32, _ stamp: MediaTimestamp) -> Outcome {
        guard let extent = JPEGExtent(bytes) else { return .damaged }
        guard let packet = take(sequence, stamp, isKey: true) else { return .full }
        packet.append(UnsafeRawBufferPointer(rebasing: bytes[..<extent.count]))
        if !extent.hasEnd { withUnsafeBytes(of: (UInt8(0xff), UInt8(0xd9))) { packet.append($0) } }
        return .packet(packet)
    }

    private func packH264(_ bytes: UnsafeRawBufferPointer, _ sequence: UInt32, _ stamp: MediaTimestamp) -> Outcome {
        guard let unit = H264AccessUnit(bytes) else { return .damaged }
        // A key frame only, so once in some seconds: this allocates.
        if unit.isKey, unit.hasParameterSets { parameterSets = ParameterSets.extract(from: bytes) }
        let isUsableKey = unit.isKey && (unit.hasParameterSets || !parameterSets.isEmpty)
        guard let packet = take(sequence, stamp, isKey: isUsableKey) else { return .full }
        if isUsableKey, !unit.hasParameterSets { parameterSets.withUnsafeBytes { packet.append($0) } }
        packet.append(bytes)
        return .packet(packet)
    }

    private func take(_ sequence: UInt32, _ stamp: MediaTimestamp, isKey: Bool) -> MediaPacket? {
        guard let packet = pool.take() else { return nil }
        packet.removeAll()
        packet.codec = codec
        packet.header = MediaHeader(
            sequence: sequence, presentationTime: stamp, captureTime: stamp, epoch: 0, isKey: isKey)
        packet.arrivalTime = stamp
        return packet
    }
}
