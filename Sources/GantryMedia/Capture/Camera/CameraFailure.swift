import GantryCore
import GantryPlatform
import Glibc

/// What can go wrong with a camera, in words.
enum CameraFailure {
    /// For a failed `open`.
    static func opening(_ path: String, _ error: SystemError) -> GantryError {
        switch error.errno {
        case ENOENT, ENOTDIR, ENODEV, ENXIO:
            return GantryError(
                .sourceNotFound, "There is no camera \(path). \(present())", cause: error.description)
        case EACCES, EPERM: return notPermitted(path, error)
        case EBUSY: return busy(path, error)
        case EISDIR, ELOOP: return notACamera(path, "it is no device")
        default:
            return GantryError(
                .sourceUnreadable, "The camera \(path) cannot be opened. Look at it with: v4l2-ctl -d \(path) --all",
                cause: error.description)
        }
    }

    static func notACamera(_ path: String, _ why: String) -> GantryError {
        GantryError(.sourceUnreadable, "\(path) is not a camera: \(why). \(present())")
    }

    private static func notPermitted(_ path: String, _ error: SystemError) -> GantryError {
        GantryError(
            .sourceNotPermitted, "You may not use the camera \(path). \(SystemPath.accessRemedy(path))",
            cause: error.description)
    }

    static func busy(_ path: String, _ error: SystemError?) -> GantryError {
        let holders = DeviceHolders.names(of: path)
        let what =
            holders.isEmpty
            ? "Another program uses the camera \(path). Close it; this shows which one it is: sudo fuser -v \(path)"
            : "The camera \(path) is in use by \(holders.joined(separator: ", ")). Close that, or take another camera."
        return GantryError(.sourceBusy, what, cause: error?.description)
    }

    /// USB reserves the bandwidth of a camera when it begins to stream.
    private static func noBandwidth(_ path: String, _ error: SystemError) -> GantryError {
        GantryError(
            .sourceBusy,
            "The USB has no bandwidth left for the camera \(path). Plug it into another port, without a hub that others "
                + "share; or ask for less: --size 640x480, --fps 15, or --pass-through mjpeg.", cause: error.description
        )
    }

    /// v4l2loopback has no format of its own.
    static func unwritten(_ path: String) -> GantryError {
        GantryError(
            .sourceSilent,
            "\(path) is a virtual camera into which no program writes now. Start that one first, then this.")
    }

    static func lost(_ path: String, _ error: SystemError) -> GantryError {
        switch error.errno {
        case ENODEV, ENXIO, ENOTCONN, EPIPE:
            GantryError(
                .sourceLost, "The camera \(path) was unplugged. Plug it in and start again.", cause: error.description)
        default:
            GantryError(
                .sourceLost,
                "The camera \(path) has failed. Unplug it, plug it in again, and look at the kernel's words: "
                    + "sudo dmesg | tail", cause: error.description)
        }
    }

    static func impossibleSize(_ path: String, _ mode: CameraMode) -> GantryError {
        GantryError(
            .unsupportedCodec,
            "The camera \(path) gives pictures of \(mode.width)x\(mode.height), which cannot be used. Look at it with: "
                + "v4l2-ctl -d \(path) --all")
    }

    static func silent(_ path: String, seconds: Int64) -> GantryError {
        GantryError(
            .sourceSilent,
            "The camera \(path) gives no picture\(seconds > 0 ? " (waited \(seconds) seconds)" : ""). Look whether its shutter or the program "
                + "behind it is closed, or unplug it and plug it in again.")
    }

    static func noUsableFormat(_ path: String, _ formats: [FourCC]) -> GantryError {
        let names = list(formats)
        return GantryError(
            .unsupportedCodec,
            "The camera \(path) has no picture format that can be used"
                + (names.isEmpty ? "" : " (only \(names))") + ". Use a camera with YUYV, NV12, MJPEG or H.264.")
    }

    static func noSuchDelivery(_ path: String, _ delivery: CameraDelivery, _ formats: [FourCC]) -> GantryError {
        let names = list(formats)
        return GantryError(
            .unsupportedCodec,
            "The camera \(path) gives no \(delivery == .h264 ? "H.264" : "MJPEG")"
                + (names.isEmpty ? "" : " (only \(names))") + ". Leave --pass-through \(delivery.rawValue) out.")
    }

    static func changed(_ path: String, _ mode: CameraMode) -> GantryError {
        GantryError(
            .sourceUnreadable,
            "The camera \(path) has come back with another kind of picture (\(mode)). Start again to use it as it is now."
        )
    }

    private static func list(_ formats: [FourCC]) -> String {
        formats.prefix(16).map(\.description).joined(separator: ", ")
    }

    /// For a failure while the camera is set up or streams.
    static func during(_ path: String, _ error: SystemError) -> GantryError {
        switch error.errno {
        case EBUSY: busy(path, error)
        case ENOSPC: noBandwidth(path, error)
        default: lost(path, error)
        }
    }

    /// Which cameras there are.
    private static func present() -> String {
        let paths = devices()
        if paths.isEmpty { return "This machine has no camera (no /dev/video*): plug one in." }
        return "There are: \(paths.joined(separator: ", "))."
    }

    /// `/dev/video*` in the order of their numbers.
    static func devices(in folder: String = "/dev") -> [String] {
        // Among all the rest of /dev.
        let numbers = SystemPath.entries(folder, limit: 65536).compactMap { name in
            name.hasPrefix("video") ? UInt16(name.dropFirst(5)) : nil
        }
        return numbers.sorted().prefix(256).map { "\(folder)/video\($0)" }
    }
}
