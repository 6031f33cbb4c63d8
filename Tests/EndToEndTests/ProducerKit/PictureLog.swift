import GantryCore
import GantryPlatform
import GantryTestSupport
import ProducerKit
import StudioKit

/// Notes what each picture that a studio gets looks like: its size, its stamp, and the mean Y, U and V of its quarters.
final class PictureLog: VideoOutput {
    struct Entry: Sendable {
        var time: MediaTimestamp
        var width: Int
        var height: Int
        /// Upper left, upper right, lower left, lower right.
        var quarters: [[Double]]
    }

    let entries = Watched<[Entry]>([])

    func receive(_ frame: VideoFrame) {
        let quarters = (0..<4).map { quarter in
            (0..<3).map { plane in
                frame.withPlane(plane) { bytes, stride in
                    let (width, height) = plane == 0 ? (frame.width, frame.height) : (frame.width / 2, frame.height / 2)
                    return Self.mean(bytes, stride, width, height, quarter)
                } ?? -1
            }
        }
        entries.change {
            $0.append(Entry(time: frame.captureTime, width: frame.width, height: frame.height, quarters: quarters))
        }
    }

    func videoEnded() {}

    /// Of the middle half of the quarter.
    private static func mean(
        _ bytes: UnsafeRawBufferPointer, _ stride: Int, _ width: Int, _ height: Int, _ quarter: Int
    )
        -> Double
    {
        let left = (quarter % 2) * width / 2 + width / 8
        let top = (quarter / 2) * height / 2 + height / 8
        var sum = 0
        for row in top..<(top + height / 4) {
            for column in left..<(left + width / 4) { sum += Int(bytes[row * stride + column]) }
        }
        return Double(sum) / Double((height / 4) * (width / 4))
    }

    /// Hands the frame in until a studio has a picture of it.
    func sent(_ frame: CapturedFrame, by producer: ProducerController) async throws -> Entry? {
        let start = MonotonicClock.now()
        for _ in 0..<300 {
            try producer.enqueueVideo(frame)
            if try await entries.wait(.milliseconds(100), until: { $0.contains { $0.time >= start } }) { break }
        }
        return entries.value.first { $0.time >= start }
    }
}

/// Four quarters, red, green, blue and white, in memory of each format.
final class QuarterPicture: @unchecked Sendable {  // Not written after `init`.
    static let colors: [(r: Double, g: Double, b: Double)] = [
        (200, 30, 30), (30, 180, 30), (30, 30, 190), (220, 220, 220),
    ]
    let format: CapturedFrame.Format
    let width: Int
    let height: Int
    /// Rows are padded by so many bytes.
    let padding: Int
    let bytes: UnsafeMutableRawBufferPointer

    /// Y, U and V by ITU-R BT.601, limited range.
    static func yuv(_ quarter: Int) -> [Double] {
        let (r, g, b) = colors[quarter]
        let y = 0.299 * r + 0.587 * g + 0.114 * b
        return [16 + y * 219 / 255, 128 + (b - y) * 0.564 * 224 / 255, 128 + (r - y) * 0.713 * 224 / 255]
    }

    init(_ format: CapturedFrame.Format, width: Int = 320, height: Int = 180, padding: Int = 0) {
        (self.format, self.width, self.height, self.padding) = (format, width, height, padding)
        let (w, h) = (width + width % 2, height + height % 2)
        let row = format == .bgra || format == .rgba ? width * 4 : format == .yuyv || format == .uyvy ? w * 2 : width
        let stride = row + padding
        let size = format == .nv12 ? stride * height + (w + padding) * h / 2 : stride * (height + 2 * h)
        bytes = .allocate(byteCount: size, alignment: 1)
        _ = bytes.initializeMemory(as: UInt8.self, repeating: 0x55)
        for y in 0..<height {
            for x in 0..<width { put(x, y, stride, (y * 2 / height) * 2 + x * 2 / width) }
        }
    }

    deinit { bytes.deallocate() }

    private func put(_ x: Int, _ y: Int, _ stride: Int, _ quarter: Int) {
        let (r, g, b) = Self.colors[quarter]
        let yuv = Self.yuv(quarter).map { UInt8($0.rounded()) }
        func set(_ at: Int, _ values: [UInt8]) {
            for (index, value) in values.enumerated() { bytes[at + index] = value }
        }
        switch format {
        case .bgra: set(y * stride + x * 4, [UInt8(b), UInt8(g), UInt8(r), 0])
        case .rgba: set(y * stride + x * 4, [UInt8(r), UInt8(g), UInt8(b), 0])
        case .yuyv: set(y * stride + x * 2, [yuv[0], yuv[1 + x % 2]])
        case .uyvy: set(y * stride + x * 2, [yuv[1 + x % 2], yuv[0]])
        case .nv12:
            set(y * stride + x, [yuv[0]])
            set(stride * height + y / 2 * (stride + stride % 2) + x / 2 * 2, [yuv[1], yuv[2]])
        case .i420:
            let half = (stride + 1) / 2
            set(y * stride + x, [yuv[0]])
            set(stride * height + y / 2 * half + x / 2, [yuv[1]])
            set(stride * height + (height + 1) / 2 * half + y / 2 * half + x / 2, [yuv[2]])
        case .mjpeg, .h264: break
        }
    }

    var frame: CapturedFrame {
        let row =
            switch format {
            case .bgra, .rgba: width * 4
            case .yuyv, .uyvy: (width + width % 2) * 2
            default: width
            }
        var frame = CapturedFrame(
            format, width: width, height: height, bytes: UnsafeRawBufferPointer(bytes), stride: row + padding)
        frame.color = .bt601
        return frame
    }
}
