package import GantryCore
import Glibc

/// Writes sound as WAV: PCM, 48 kHz, stereo, 16 bits. One thread drives it.
///
/// In step with the stamps: a gap of more than 20 ms becomes silence, sound that lies more than 20 ms before the end of
/// what is written is cut. The header of a file is mended every second, so that the file plays after SIGKILL; a pipe
/// gets the length 0xFFFFFFFF, as ffmpeg and sox write and read it.
package final class WAVWriter {
    /// Samples of each channel written, silence included.
    package private(set) var sampleCount: Int64 = 0
    private let output: OutputFile
    /// Stamp of sample 0.
    private var origin: MediaTimestamp?
    private var mendedAt: Int64 = 0
    /// When the first block arrived.
    private var firstArrival: MediaTimestamp?
    private var isJumping = false
    /// 16-bit samples on their way out; used again.
    private let buffer: UnsafeMutableBufferPointer<Int16>

    private static let rate = Int64(AudioBlock.sampleRate)
    private static let bytesPerSample = Int64(AudioBlock.channels * 2)
    private static let tolerance = MediaDuration.milliseconds(20)
    /// A longer gap is a new beginning (the producer's clock jumped), not silence.
    private static let longestGap = MediaDuration.seconds(3600)
    /// What delay and a faster clock may put into the file beyond the time that has passed here.
    private static let ahead = MediaDuration.seconds(60)
    private static let headerSize: Int64 = 44

    /// Writes the header.
    ///
    /// - Parameter origin: the stamp that time 0 of the file stands for, for example of the first picture; nil takes
    ///   the first block's.
    /// - Throws: what `OutputFile.write` throws.
    package init(output: OutputFile, origin: MediaTimestamp? = nil) throws(GantryError) {
        self.output = output
        self.origin = origin
        buffer = .allocate(capacity: 4096)
        buffer.initialize(repeating: 0)
        try output.write(Self.header(dataBytes: output.isRegular ? 0 : nil))
    }

    deinit { buffer.deallocate() }

    /// What comes next follows directly, whatever its stamp: a replay begins, jumps or ends.
    package func jump() { isJumping = true }

    /// - Throws: `outputFull`, `outputClosed`, `outputFailed`; what was written before stays playable.
    package func write(_ block: AudioBlock) throws(GantryError) {
        var skipped = 0
        if let origin {
            let end = origin + .microseconds(sampleCount * 1_000_000 / Self.rate)
            let gap = block.presentationTime - end
            if isJumping || gap > Self.longestGap || gap < .zero - Self.longestGap
                || !hasPassed(block.presentationTime, block)
            {
                self.origin = origin + gap
            } else if gap > Self.tolerance {
                try writeSilence(Self.samples(in: gap))
            } else if gap < .zero - Self.tolerance {
                skipped = Int(min(Self.samples(in: .zero - gap), Int64(block.count)))
            }
        } else {
            origin = block.presentationTime
        }
        isJumping = false
        if firstArrival == nil { firstArrival = block.arrivalTime }
        try writeSamples(of: block, from: skipped)
        if sampleCount - mendedAt >= Self.rate { try mendHeader() }
    }

    /// Mends the header for the last time. Nothing may be written afterwards.
    package func finish() throws(GantryError) { try mendHeader() }

    /// Whether so much time has passed here since the first block that the file may reach `time`. Stamps of a peer that
    /// run ahead of the clock would fill the disk with silence.
    private func hasPassed(_ time: MediaTimestamp, _ block: AudioBlock) -> Bool {
        guard let origin, let firstArrival, block.arrivalTime.microseconds > 0 else { return true }
        return time - origin <= block.arrivalTime - firstArrival + Self.ahead
    }

    private func writeSamples(of block: AudioBlock, from start: Int) throws(GantryError) {
        var next = start * AudioBlock.channels
        let end = min(block.count, block.capacity) * AudioBlock.channels
        while next < end {
            let count = min(end - next, buffer.count)
            for index in 0..<count { buffer[index] = Self.sample16(block.samples[next + index]) }
            try flush(count)
            next += count
        }
    }

    private func writeSilence(_ samples: Int64) throws(GantryError) {
        buffer.update(repeating: 0)
        var rest = samples * Int64(AudioBlock.channels)
        while rest > 0 {
            let count = Int(min(rest, Int64(buffer.count)))
            try flush(count)
            rest -= Int64(count)
        }
    }

    private func flush(_ count: Int) throws(GantryError) {
        try output.write(UnsafeRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[..<count])))
        sampleCount += Int64(count / AudioBlock.channels)
    }

    private func mendHeader() throws(GantryError) {
        mendedAt = sampleCount
        guard output.isRegular else { return }
        try output.patch(Self.header(dataBytes: sampleCount * Self.bytesPerSample), at: 0)
    }

    /// RIFF header with a 16-byte "fmt " chunk (Microsoft, Multimedia Programming Interface 1.0). Nil: length unknown.
    private static func header(dataBytes: Int64?) -> [UInt8] {
        let data = dataBytes.map { UInt32(clamping: $0) } ?? UInt32.max
        let riff = dataBytes.map { UInt32(clamping: $0 + headerSize - 8) } ?? UInt32.max
        var header: [UInt8] = []
        func append(_ text: String) { header += Array(text.utf8) }
        func append<N: FixedWidthInteger>(_ value: N) {
            withUnsafeBytes(of: value.littleEndian) { header += Array($0) }
        }
        append("RIFF")
        append(riff)
        append("WAVEfmt ")
        append(UInt32(16))
        append(UInt16(1))  // PCM
        append(UInt16(AudioBlock.channels))
        append(UInt32(rate))
        append(UInt32(rate * bytesPerSample))
        append(UInt16(bytesPerSample))
        append(UInt16(16))  // bits a sample
        append("data")
        append(data)
        return header
    }

    private static func samples(in span: MediaDuration) -> Int64 { span.microseconds * rate / 1_000_000 }

    private static func sample16(_ value: Float) -> Int16 {
        // NaN compares false and becomes silence.
        guard value >= -1 else { return value < -1 ? .min : 0 }
        return value >= 1 ? .max : Int16((value * 32767).rounded())
    }
}
