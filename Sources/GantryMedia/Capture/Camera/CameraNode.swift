import GantryCore
import GantryPlatform
import Glibc

/// What stands behind a `/dev/video*` node.
enum CameraNode {
    case camera(CameraInfo)
    /// Metadata, an output, a codec, radio, or gone.
    case other

    init(path: String) {
        do throws(GantryError) {
            guard let info = try Self.look(path) else {
                self = .other
                return
            }
            self = .camera(info)
        } catch {
            // Who may not open the node cannot ask what it is: later nodes of a device are metadata mostly.
            if error.code == .sourceNotFound || Self.attribute("index", path).map({ $0 != "0" }) ?? false {
                self = .other
                return
            }
            self = .camera(
                CameraInfo(
                    path: path, stablePath: Self.stablePath(of: path),
                    name: DisplayName(Self.attribute("name", path) ?? "camera").text, driver: Self.driver(path),
                    bus: "", isVirtual: Self.isVirtual(path: path), problem: error))
        }
    }

    /// Nil when it is no camera.
    private static func look(_ path: String) throws(GantryError) -> CameraInfo? {
        let device = try V4L2Device(path: path)
        let capabilities: V4L2Device.Capabilities
        do throws(SystemError) { capabilities = try device.capabilities() } catch { return nil }
        guard capabilities.isCapture else { return nil }
        let isVirtual = isVirtual(path: path) || capabilities.driver == loopbackDriver
        let formats = device.formats()
        let offers = CameraSetup.offers(device, formats).map(\.offer)
        var problem: GantryError?
        if let reason = capabilities.reasonAgainst {
            problem = CameraFailure.notACamera(path, reason)
        } else if CameraNegotiation.choose(offers, wish: CameraWish()) == nil {
            problem = CameraFailure.noUsableFormat(path, formats)
        } else if !isVirtual {
            // Asking v4l2loopback for buffers would disturb who reads, and any number may read.
            problem = busy(device)
        }
        return CameraInfo(
            path: path, stablePath: stablePath(of: path), name: DisplayName(capabilities.name).text,
            driver: DisplayName(capabilities.driver).text, bus: DisplayName(capabilities.bus).text,
            isVirtual: isVirtual, modes: offers, controls: device.controls(), problem: problem)
    }

    /// Giving back buffers that one does not have changes nothing, and is refused while another program has some.
    private static func busy(_ device: V4L2Device) -> GantryError? {
        do throws(SystemError) {
            _ = try device.requestBuffers(0)
            return nil
        } catch {
            return error.errno == EBUSY ? CameraFailure.busy(device.path, error) : nil
        }
    }

    // MARK: sysfs and udev

    /// v4l2loopback's own word in VIDIOC_QUERYCAP.
    static let loopbackDriver = "v4l2 loopback"

    /// Devices that hang on no bus.
    static func isVirtual(path: String) -> Bool {
        SystemPath.resolved("/sys/class/video4linux/\(SystemPath.last(path))")?.hasPrefix("/sys/devices/virtual/")
            ?? false
    }

    private static func driver(_ path: String) -> String {
        let link = SystemPath.resolved("/sys/class/video4linux/\(SystemPath.last(path))/device/driver")
        return DisplayName(link.map(SystemPath.last) ?? "unknown").text
    }

    private static func attribute(_ name: String, _ path: String) -> String? {
        SystemPath.firstLine("/sys/class/video4linux/\(SystemPath.last(path))/\(name)")
    }

    /// The link of udev that leads to the node.
    static func stablePath(of path: String) -> String? {
        for folder in ["/dev/v4l/by-id", "/dev/v4l/by-path"] {
            for name in SystemPath.entries(folder, limit: 256)
            where SystemPath.resolved("\(folder)/\(name)") == path { return "\(folder)/\(name)" }
        }
        return nil
    }
}
