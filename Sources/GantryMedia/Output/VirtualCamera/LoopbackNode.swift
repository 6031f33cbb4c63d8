import CV4L2
import GantryCore
import GantryPlatform
import Glibc

/// One open descriptor of v4l2loopback, and the requests that a writer makes. Owned by one thread.
final class LoopbackNode {
    private let path: String
    /// Nil only while `reopen` is at work.
    private var descriptor: FileDescriptor?
    private var rawValue: CInt { descriptor?.rawValue ?? -1 }
    /// STREAMON was refused, and `write` does it.
    private var startsByWriting = false

    private static let type = V4L2_BUF_TYPE_VIDEO_OUTPUT.rawValue
    /// CID_KEEP_FORMAT of v4l2loopback: the first of its own controls.
    private static let keepFormat = UInt32(V4L2_CID_USER_BASE) | 0xF000

    /// - Throws: `outputNotFound`, `outputNotPermitted`, `outputBusy`, `outputFailed`.
    init(path: String) throws(GantryError) {
        self.path = path
        try reopen()
        var status = stat()
        guard fstat(rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFCHR else {
            throw VirtualCameraFailure.notALoopback(path, "it is no device")
        }
    }

    /// Newer modules (0.15) keep the place of a writer that began by `write` and is closed without STREAMOFF: nobody could
    /// write any more before the module is loaded again. Old ones (0.12) need none.
    deinit {
        guard startsByWriting else { return }
        var type = CInt(Self.type)
        do throws(SystemError) { try request("VIDIOC_STREAMOFF", CV4L2_STREAMOFF, &type) } catch {}
    }

    /// Closes the device before it is opened again: the last one to close it clears its format.
    ///
    /// - Throws: as `init`.
    func reopen() throws(GantryError) {
        descriptor = nil
        let path = path
        do throws(SystemError) {
            descriptor = FileDescriptor(
                takingOwnership: try syscall("open") { open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) })
        } catch {
            throw VirtualCameraFailure.opening(path, error)
        }
    }

    private func request<T>(_ name: String, _ number: UInt, _ argument: inout T) throws(SystemError) {
        try withUnsafeMutablePointer(to: &argument) { pointer throws(SystemError) in
            _ = try syscall(name) { ioctl(rawValue, number, UnsafeMutableRawPointer(pointer)) }
        }
    }

    struct Capabilities {
        var isCapture: Bool
        var isOutput: Bool
    }

    /// - Throws: `outputNotFound` when it is another driver's device.
    func checkedCapabilities() throws(GantryError) -> Capabilities {
        var answer = v4l2_capability()
        do throws(SystemError) { try request("VIDIOC_QUERYCAP", CV4L2_QUERYCAP, &answer) } catch {
            throw VirtualCameraFailure.notALoopback(path, "it does not answer as one")
        }
        let driver = withUnsafeBytes(of: &answer.driver) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        guard driver == CameraNode.loopbackDriver else {
            throw VirtualCameraFailure.notALoopback(path, "its driver is \(DisplayName(driver).text)")
        }
        let hasOwn = answer.capabilities & UInt32(V4L2_CAP_DEVICE_CAPS) != 0
        let flags = hasOwn ? answer.device_caps : answer.capabilities
        return Capabilities(
            isCapture: flags & UInt32(V4L2_CAP_VIDEO_CAPTURE) != 0, isOutput: flags & UInt32(V4L2_CAP_VIDEO_OUTPUT) != 0
        )
    }

    /// What the device makes of it: the format of before while somebody else has it open, or keeps it.
    ///
    /// - Throws: `outputBusy`, `outputLost`.
    func setFormat(_ wish: VirtualCameraLayout) throws(GantryError) -> VirtualCameraLayout {
        var format = v4l2_format()
        format.type = Self.type
        format.fmt.pix.width = UInt32(clamping: wish.width)
        format.fmt.pix.height = UInt32(clamping: wish.height)
        format.fmt.pix.pixelformat = wish.pixels.code.rawValue
        format.fmt.pix.field = V4L2_FIELD_NONE.rawValue
        format.fmt.pix.bytesperline = UInt32(clamping: wish.rowBytes)
        format.fmt.pix.sizeimage = UInt32(clamping: wish.byteCount)
        format.fmt.pix.colorspace = V4L2_COLORSPACE_SRGB.rawValue
        format.fmt.pix.priv = UInt32(V4L2_PIX_FMT_PRIV_MAGIC)
        format.fmt.pix.ycbcr_enc = V4L2_YCBCR_ENC_601.rawValue
        format.fmt.pix.quantization = V4L2_QUANTIZATION_LIM_RANGE.rawValue
        do throws(SystemError) { try request("VIDIOC_S_FMT", CV4L2_S_FMT, &format) } catch {
            throw VirtualCameraFailure.lost(path, error)
        }
        let pix = format.fmt.pix
        let code = FourCC(rawValue: pix.pixelformat)
        guard let pixels = VirtualCameraLayout.Pixels(code),
            let layout = VirtualCameraLayout(pixels: pixels, width: Int(pix.width), height: Int(pix.height)),
            layout.rowBytes == Int(pix.bytesperline), Int(pix.sizeimage) >= layout.byteCount
        else { throw VirtualCameraFailure.heldFormat(path, code) }
        return layout
    }

    /// What readers are told. Not of importance: failure is let pass.
    func setRate(_ rate: FrameRate) {
        var parameters = v4l2_streamparm()
        parameters.type = Self.type
        parameters.parm.output.timeperframe = v4l2_fract(numerator: rate.denominator, denominator: rate.numerator)
        do throws(SystemError) { try request("VIDIOC_S_PARM", CV4L2_S_PARM, &parameters) } catch {}
    }

    /// Nil where the module has no such control.
    var keepsFormat: Bool? {
        var control = v4l2_control(id: Self.keepFormat, value: 0)
        do throws(SystemError) { try request("VIDIOC_G_CTRL", CV4L2_G_CTRL, &control) } catch { return nil }
        return control.value != 0
    }

    func setKeepsFormat(_ value: Bool) {
        var control = v4l2_control(id: Self.keepFormat, value: value ? 1 : 0)
        do throws(SystemError) { try request("VIDIOC_S_CTRL", CV4L2_S_CTRL, &control) } catch {}
    }

    /// False when it is refused.
    func startStreaming() -> Bool {
        var type = CInt(Self.type)
        do throws(SystemError) {
            try request("VIDIOC_STREAMON", CV4L2_STREAMON, &type)
            startsByWriting = false
            return true
        } catch {
            startsByWriting = true
            return false
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        switch try descriptor?.write(bytes) {
        case .bytes(bytes.count), .wouldBlock: return
        // The format was changed under our hands.
        case .bytes, .endOfFile, nil: throw SystemError(errno: EIO, during: "write")
        }
    }
}
