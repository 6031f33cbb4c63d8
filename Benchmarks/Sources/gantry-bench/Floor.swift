import CFloor
import Foundation

/// Bare x264 and libavcodec with the product's settings: 720p30, superfast, zerolatency, 6 Mbit/s.
final class Floor {
    /// Bits a second; the product gets the same.
    static let bitrate = 6_000_000
    private let codecs: OpaquePointer
    private let picture: MovingPicture
    private let i420: UnsafeMutablePointer<UInt8>
    private var index: Int64 = 0

    init(_ picture: MovingPicture) throws {
        let threads = Int32(min(4, max(1, ProcessInfo.processInfo.activeProcessorCount)))
        let codecs = "superfast".withCString { preset in
            var settings = floor_settings(
                width: Int32(picture.width), height: Int32(picture.height), fps: 30, bitrate: Int32(Self.bitrate),
                threads: threads, slices: threads, decoder_threads: threads, cabac: 0, preset: preset,
                vbv_frames: threads > 1 ? 1.5 : 1)
            return floor_open(&settings)
        }
        guard let codecs else { throw ConnectedPair.Failure(description: "x264 or libavcodec could not be opened") }
        self.codecs = codecs
        self.picture = picture
        i420 = .allocate(capacity: picture.width * picture.height * 3 / 2)
    }

    deinit {
        floor_close(codecs)
        i420.deallocate()
    }

    /// Picture `number` in I420, rows without padding; valid until the next call.
    func converted(_ number: Int) -> UnsafeRawBufferPointer {
        let (width, height) = (picture.width, picture.height)
        if let bytes = picture.pixels(number).baseAddress?.assumingMemoryBound(to: UInt8.self) {
            floor_convert(bytes, Int32(picture.stride), Int32(width), Int32(height), i420)
        }
        return UnsafeRawBufferPointer(start: i420, count: width * height * 3 / 2)
    }

    /// Encodes and decodes picture `number`, at `due`; the conversion is done before that and not measured.
    func frame(_ number: Int, due: Int64) throws -> (encode: Int64, decode: Int64) {
        _ = converted(number)
        Clock.sleep(until: due)
        var (encode, decode): (Int64, Int64) = (0, 0)
        guard floor_frame(codecs, i420, index, &encode, &decode) == 0 else {
            throw ConnectedPair.Failure(description: "the bare codecs gave no picture")
        }
        index += 1
        return (encode, decode)
    }
}
