package import GantryCore
import Glibc

/// What an `H264Encoder` makes; how it makes it stands in `H264EncoderSettings.swift`.
package struct H264EncoderConfiguration: Sendable, Hashable {
    /// How the bits of a picture are packed (ITU-R H.264, 9.2 and 9.3).
    package enum EntropyCoding: Sendable, Hashable {
        /// The faster one: a picture of 200 kbit takes 0.3 ms less to encode and 0.5 ms less to decode.
        case cavlc
        /// Takes about a tenth fewer bits for the same picture, more where bits are few.
        case cabac
    }

    /// Pixels; even, 16…8192.
    package var width: Int
    package var height: Int
    /// The nominal rate. The rate control hands out bitrate / frameRate bits to each picture.
    package var frameRate: FrameRate
    /// Bits a second.
    package var bitrate: Int
    /// Written into the stream (VUI); pictures are not converted.
    package var color: ColorDescription
    package var entropyCoding: EntropyCoding
    /// Each picture is cut into that many slices, coded side by side: threads add no delay.
    package var threads: Int
    /// Slices a picture; more than `threads` let a sender start earlier. At least `threads` are made.
    package var slices: Int

    /// - Parameters:
    ///   - bitrate: Nil takes `defaultBitrate`.
    ///   - threads: Nil takes one for each core, at most 4.
    package init(
        width: Int, height: Int, frameRate: FrameRate, bitrate: Int? = nil, color: ColorDescription,
        entropyCoding: EntropyCoding = .cavlc, threads: Int? = nil, slices: Int = 0
    ) {
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.bitrate = bitrate ?? Self.defaultBitrate(width: width, height: height, frameRate: frameRate)
        self.color = color
        self.entropyCoding = entropyCoding
        self.threads = threads ?? min(4, max(1, Int(clamping: sysconf(CInt(_SC_NPROCESSORS_ONLN)))))
        self.slices = slices
    }

    /// The floor of what the encoder chooses by itself, and of what adaptation goes down to: below it a picture is not worth
    /// sending, unless somebody asks for that.
    package static let minimumBitrate = 300_000
    /// What may be asked for, in bits a second.
    package static let bitrates = 30_000...maximumBitrate
    /// x264 counts in kbit/s in an int; 200 Mbit/s is beyond every use here.
    package static let maximumBitrate = 200_000_000

    /// Bits a second that show a real scene at 35 dB or more: 8 Mbit/s at 1280x720 and 30 frames a second.
    /// (The small buffer of the rate control leaves about a quarter of them unused: a street scene at night takes 5.9
    /// Mbit/s then and shows 35.8 dB.)
    ///
    /// Four times the pixels need about twice the bits (exponent 0.5: the same scene at 720x404 and 1920x1080 shows 36.7
    /// and 35.4 dB), as a larger picture of it has more coarse areas; twice the rate 1.5 times (exponent 0.6), as pictures
    /// closer in time differ less. Rounded to 50 kbit/s.
    package static func defaultBitrate(width: Int, height: Int, frameRate: FrameRate) -> Int {
        let pixels = Double(max(1, width)) * Double(max(1, height)) / (1280 * 720)
        let rate = frameRate.framesPerSecond / 30
        let bits = 8_000_000 * pow(pixels, 0.5) * pow(rate, 0.6)
        let rounded = Int((bits / 50_000).rounded()) * 50_000
        return min(maximumBitrate, max(minimumBitrate, rounded))
    }
}
