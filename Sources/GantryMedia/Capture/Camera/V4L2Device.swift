import CV4L2
import GantryCore
import GantryPlatform
import Glibc

/// One open V4L2 device: the requests that we make of it. Owned by one thread at a time; closed with its owner.
final class V4L2Device {
    let path: String
    private let descriptor: FileDescriptor
    var rawValue: CInt { descriptor.rawValue }

    /// Formats, sizes and rates that are read from a driver at most: against one that never says "no more".
    private static let enumerationLimit: UInt32 = 64
    private static let captureType = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue

    /// - Throws: `sourceNotFound`, `sourceNotPermitted`, `sourceBusy`, `sourceUnreadable`.
    init(path: String) throws(GantryError) {
        self.path = path
        do throws(SystemError) {
            descriptor = FileDescriptor(
                takingOwnership: try syscall("open") { open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) })
        } catch {
            throw CameraFailure.opening(path, error)
        }
        var status = stat()
        guard fstat(descriptor.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFCHR else {
            throw CameraFailure.notACamera(path, "it is no device")
        }
    }

    func request<T>(_ name: String, _ number: UInt, _ argument: inout T) throws(SystemError) {
        try withUnsafeMutablePointer(to: &argument) { pointer throws(SystemError) in
            _ = try syscall(name) { ioctl(descriptor.rawValue, number, UnsafeMutableRawPointer(pointer)) }
        }
    }

    // MARK: What it is

    struct Capabilities {
        var name: String
        var driver: String
        var bus: String
        var flags: UInt32
        var isCapture: Bool { flags & UInt32(V4L2_CAP_VIDEO_CAPTURE) != 0 }
        var canStream: Bool { flags & UInt32(V4L2_CAP_STREAMING) != 0 }

        /// Why it cannot be used as a camera, in words; nil when it can.
        var reasonAgainst: String? {
            if isCapture { return canStream ? nil : "its driver cannot stream" }
            if flags & UInt32(V4L2_CAP_META_CAPTURE) != 0 {
                return "it delivers data about the pictures of a camera; the pictures come from another node of it"
            }
            if flags & UInt32(V4L2_CAP_VIDEO_CAPTURE_MPLANE) != 0 {
                return "its driver has the multi-planar kind of interface only, which is not supported"
            }
            if flags & UInt32(V4L2_CAP_VIDEO_OUTPUT | V4L2_CAP_VIDEO_OUTPUT_MPLANE | V4L2_CAP_META_OUTPUT) != 0 {
                return "it is an output, which takes pictures and gives none"
            }
            return "it delivers no pictures"
        }
    }

    func capabilities() throws(SystemError) -> Capabilities {
        var answer = v4l2_capability()
        try request("VIDIOC_QUERYCAP", CV4L2_QUERYCAP, &answer)
        let name = withUnsafeBytes(of: &answer.card) { Self.text($0) }
        let driver = withUnsafeBytes(of: &answer.driver) { Self.text($0) }
        let bus = withUnsafeBytes(of: &answer.bus_info) { Self.text($0) }
        let hasOwn = answer.capabilities & UInt32(V4L2_CAP_DEVICE_CAPS) != 0
        return Capabilities(
            name: name, driver: driver, bus: bus, flags: hasOwn ? answer.device_caps : answer.capabilities)
    }

    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    // MARK: What it offers

    /// The names of all formats, also of those that we cannot use.
    func formats() -> [FourCC] {
        var found: [FourCC] = []
        for index in 0..<Self.enumerationLimit {
            var entry = v4l2_fmtdesc()
            entry.index = index
            entry.type = Self.captureType
            do throws(SystemError) { try request("VIDIOC_ENUM_FMT", CV4L2_ENUM_FMT, &entry) } catch { break }
            found.append(FourCC(rawValue: entry.pixelformat))
        }
        return found
    }

    /// The sizes of a format, each with its highest rate. Empty when the driver does not list any.
    func offers(_ code: FourCC, _ pixels: CameraPixels) -> [CameraOffer] {
        var found: [CameraOffer] = []
        for index in 0..<Self.enumerationLimit {
            var entry = v4l2_frmsizeenum()
            entry.index = index
            entry.pixel_format = code.rawValue
            do throws(SystemError) { try request("VIDIOC_ENUM_FRAMESIZES", CV4L2_ENUM_FRAMESIZES, &entry) } catch {
                break
            }
            if entry.type == V4L2_FRMSIZE_TYPE_DISCRETE.rawValue {
                let (width, height) = (Int(entry.discrete.width), Int(entry.discrete.height))
                found.append(
                    CameraOffer(
                        pixels: pixels, width: width...width, height: height...height,
                        frameRate: fastest(code, entry.discrete.width, entry.discrete.height)))
                continue
            }
            if let offer = Self.offer(pixels, entry.stepwise) { found.append(offer) }
            break
        }
        return found
    }

    private static func offer(_ pixels: CameraPixels, _ sizes: v4l2_frmsize_stepwise) -> CameraOffer? {
        guard sizes.min_width <= sizes.max_width, sizes.min_height <= sizes.max_height else { return nil }
        return CameraOffer(
            pixels: pixels, width: Int(sizes.min_width)...Int(sizes.max_width),
            height: Int(sizes.min_height)...Int(sizes.max_height), widthStep: Int(max(1, sizes.step_width)),
            heightStep: Int(max(1, sizes.step_height)))
    }

    /// The shortest interval on the list.
    private func fastest(_ code: FourCC, _ width: UInt32, _ height: UInt32) -> FrameRate? {
        var best: FrameRate?
        for index in 0..<Self.enumerationLimit {
            var entry = v4l2_frmivalenum()
            entry.index = index
            entry.pixel_format = code.rawValue
            entry.width = width
            entry.height = height
            do throws(SystemError) {
                try request("VIDIOC_ENUM_FRAMEINTERVALS", CV4L2_ENUM_FRAMEINTERVALS, &entry)
            } catch { break }
            let isDiscrete = entry.type == V4L2_FRMIVAL_TYPE_DISCRETE.rawValue
            let interval = isDiscrete ? entry.discrete : entry.stepwise.min
            if let rate = FrameRate(interval.denominator, interval.numerator),
                rate.framesPerSecond > best?.framesPerSecond ?? 0
            {
                best = rate
            }
            if !isDiscrete { break }
        }
        return best
    }

    // MARK: What it shall do

    /// What the driver has agreed to.
    struct Layout {
        var code: FourCC
        var width: Int
        var height: Int
        var stride: Int
        var colorspace: UInt32
        var encoding: UInt32
        var quantization: UInt32
    }

    func currentFormat() throws(SystemError) -> Layout {
        var format = v4l2_format()
        format.type = Self.captureType
        try request("VIDIOC_G_FMT", CV4L2_G_FMT, &format)
        return Self.layout(format.fmt.pix)
    }

    /// The driver may change any of it.
    func setFormat(_ code: FourCC, width: Int, height: Int) throws(SystemError) -> Layout {
        var format = v4l2_format()
        format.type = Self.captureType
        format.fmt.pix.width = UInt32(clamping: width)
        format.fmt.pix.height = UInt32(clamping: height)
        format.fmt.pix.pixelformat = code.rawValue
        format.fmt.pix.field = V4L2_FIELD_NONE.rawValue
        try request("VIDIOC_S_FMT", CV4L2_S_FMT, &format)
        return Self.layout(format.fmt.pix)
    }

    private static func layout(_ pix: v4l2_pix_format) -> Layout {
        Layout(
            code: FourCC(rawValue: pix.pixelformat), width: Int(pix.width), height: Int(pix.height),
            stride: Int(pix.bytesperline), colorspace: pix.colorspace, encoding: pix.ycbcr_enc,
            quantization: pix.quantization)
    }

    /// Asks for a rate; what the driver makes of it, or nil when it cannot be set.
    func setRate(_ rate: FrameRate) throws(SystemError) -> FrameRate? {
        var parameters = v4l2_streamparm()
        parameters.type = Self.captureType
        parameters.parm.capture.timeperframe = v4l2_fract(numerator: rate.denominator, denominator: rate.numerator)
        do throws(SystemError) { try request("VIDIOC_S_PARM", CV4L2_S_PARM, &parameters) } catch {
            // Old and simple drivers have one rate only.
            if error.errno == ENOTTY || error.errno == EINVAL { return nil }
            throw error
        }
        let interval = parameters.parm.capture.timeperframe
        return FrameRate(interval.denominator, interval.numerator)
    }

    // MARK: Streaming

    /// Returns how many buffers there are. 0 gives them all back.
    func requestBuffers(_ count: Int) throws(SystemError) -> Int {
        var buffers = v4l2_requestbuffers()
        buffers.count = UInt32(clamping: count)
        buffers.type = Self.captureType
        buffers.memory = V4L2_MEMORY_MMAP.rawValue
        try request("VIDIOC_REQBUFS", CV4L2_REQBUFS, &buffers)
        return Int(buffers.count)
    }

    /// Where the memory of a buffer lies, for `mmap`.
    func buffer(_ index: Int) throws(SystemError) -> (offset: Int, length: Int) {
        var buffer = Self.emptyBuffer(index)
        try request("VIDIOC_QUERYBUF", CV4L2_QUERYBUF, &buffer)
        return (Int(buffer.m.offset), Int(buffer.length))
    }

    func enqueue(_ index: Int) throws(SystemError) {
        var buffer = Self.emptyBuffer(index)
        try request("VIDIOC_QBUF", CV4L2_QBUF, &buffer)
    }

    /// A filled buffer.
    struct Filled {
        var index: Int
        var count: Int
        var isDamaged: Bool
        /// The driver's count of pictures, those included that it has lost.
        var sequence: UInt32
        /// On the monotonic clock; nil when the driver stamps otherwise.
        var stamp: MediaTimestamp?
    }

    /// Nil when none is filled yet.
    func dequeue() throws(SystemError) -> Filled? {
        var buffer = Self.emptyBuffer(0)
        do throws(SystemError) { try request("VIDIOC_DQBUF", CV4L2_DQBUF, &buffer) } catch {
            if error.errno == EAGAIN { return nil }
            throw error
        }
        let isMonotonic =
            buffer.flags & UInt32(V4L2_BUF_FLAG_TIMESTAMP_MASK) == UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC)
        let stamp = MediaTimestamp(
            microseconds: Int64(buffer.timestamp.tv_sec) &* 1_000_000 &+ Int64(buffer.timestamp.tv_usec))
        return Filled(
            index: Int(buffer.index), count: Int(buffer.bytesused),
            isDamaged: buffer.flags & UInt32(V4L2_BUF_FLAG_ERROR) != 0, sequence: buffer.sequence,
            stamp: isMonotonic ? stamp : nil)
    }

    private static func emptyBuffer(_ index: Int) -> v4l2_buffer {
        var buffer = v4l2_buffer()
        buffer.index = UInt32(clamping: index)
        buffer.type = captureType
        buffer.memory = V4L2_MEMORY_MMAP.rawValue
        return buffer
    }

    func startStreaming() throws(SystemError) {
        var type = CInt(Self.captureType)
        try request("VIDIOC_STREAMON", CV4L2_STREAMON, &type)
    }

    func stopStreaming() {
        var type = CInt(Self.captureType)
        do throws(SystemError) { try request("VIDIOC_STREAMOFF", CV4L2_STREAMOFF, &type) } catch {}
    }
}
