import CV4L2
import GantryCore
import GantryPlatform
import Glibc

/// Finds out whether somebody writes to a device of v4l2loopback.
///
/// Old modules (0.12) let any number write at once, and the pictures alternate. So we look as a reader whether pictures
/// come. Newer ones (0.14) take one writer only and refuse the others; there this looks at nothing, and takes nothing.
enum LoopbackProbe {
    private static let patience: CInt = 700
    /// CID_SUSTAIN_FRAMERATE and CID_TIMEOUT of v4l2loopback: the module itself gives pictures when the writer does not.
    private static let repeaters = [UInt32(V4L2_CID_USER_BASE) | 0xF001, UInt32(V4L2_CID_USER_BASE) | 0xF002]

    /// Takes up to 0.7 s when the device has a format already; returns at once for one that nobody uses.
    static func isWrittenTo(_ path: String) throws(GantryError) -> Bool {
        let descriptor: FileDescriptor
        do throws(SystemError) {
            descriptor = FileDescriptor(
                takingOwnership: try syscall("open") { open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) })
        } catch {
            throw VirtualCameraFailure.opening(path, error)
        }
        var type = CInt(V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue)
        guard ioctl(descriptor.rawValue, CV4L2_STREAMON, &type) == 0 else { return false }
        for control in repeaters {
            var value = v4l2_control(id: control, value: 0)
            // It cannot be told then. Those who set it do so on devices of their own.
            if ioctl(descriptor.rawValue, CV4L2_G_CTRL, &value) == 0, value.value != 0 { return false }
        }
        // The pictures of before: the newest two at most are given.
        var byte: UInt8 = 0
        for _ in 0..<8 where read(descriptor.rawValue, &byte, 1) < 0 { break }
        var waiting = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, patience) > 0 && waiting.revents & Int16(POLLIN) != 0
    }
}
