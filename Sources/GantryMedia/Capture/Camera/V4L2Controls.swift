import CV4L2
import GantryCore
import GantryPlatform
import Glibc

extension V4L2Device {
    /// What a driver lists at most of controls, and of entries of a menu.
    private static let controlLimit = 256

    /// The controls that take a number; without those of other kinds (text, arrays).
    func controls() -> [CameraControl] {
        var found: [CameraControl] = []
        var last: UInt32 = 0
        for _ in 0..<Self.controlLimit {
            var query = v4l2_query_ext_ctrl()
            query.id = last | UInt32(V4L2_CTRL_FLAG_NEXT_CTRL)
            do throws(SystemError) { try request("VIDIOC_QUERY_EXT_CTRL", CV4L2_QUERY_EXT_CTRL, &query) } catch {
                break
            }
            // A driver that does not go forward would never end.
            guard query.id > last else { break }
            last = query.id
            if let control = control(query) { found.append(control) }
        }
        return found
    }

    /// One control as it is now; nil when the camera does not have it.
    func control(_ id: UInt32) -> CameraControl? {
        var query = v4l2_query_ext_ctrl()
        query.id = id
        do throws(SystemError) { try request("VIDIOC_QUERY_EXT_CTRL", CV4L2_QUERY_EXT_CTRL, &query) } catch {
            return nil
        }
        return control(query)
    }

    private func control(_ query: v4l2_query_ext_ctrl) -> CameraControl? {
        var query = query
        let unusable = UInt32(V4L2_CTRL_FLAG_DISABLED) | UInt32(V4L2_CTRL_FLAG_HAS_PAYLOAD)
        guard query.flags & unusable == 0, let kind = Self.kind(query.type) else { return nil }
        let name = withUnsafeBytes(of: &query.name) { CameraControl.name($0.prefix { $0 != 0 }) }
        guard !name.isEmpty else { return nil }
        var control = CameraControl(
            id: query.id, name: name, kind: kind, minimum: Int(query.minimum), maximum: Int(query.maximum),
            step: Int(clamping: max(1, query.step)), defaultValue: Int(query.default_value))
        control.isInactive = query.flags & UInt32(V4L2_CTRL_FLAG_INACTIVE) != 0
        control.isReadOnly = query.flags & UInt32(V4L2_CTRL_FLAG_READ_ONLY) != 0
        if kind != .button, query.flags & UInt32(V4L2_CTRL_FLAG_WRITE_ONLY) == 0 {
            control.value = value(of: query.id, kind)
        }
        if kind == .menu || kind == .integerMenu { control.entries = entries(of: control) }
        return control
    }

    private static func kind(_ type: UInt32) -> CameraControl.Kind? {
        switch type {
        case V4L2_CTRL_TYPE_INTEGER.rawValue: .integer
        case V4L2_CTRL_TYPE_BOOLEAN.rawValue: .boolean
        case V4L2_CTRL_TYPE_MENU.rawValue: .menu
        case V4L2_CTRL_TYPE_INTEGER_MENU.rawValue: .integerMenu
        case V4L2_CTRL_TYPE_BITMASK.rawValue: .bitmask
        case V4L2_CTRL_TYPE_BUTTON.rawValue: .button
        default: nil
        }
    }

    private func entries(of control: CameraControl) -> [CameraControl.Entry] {
        guard control.minimum >= 0, control.maximum >= control.minimum else { return [] }
        var found: [CameraControl.Entry] = []
        let span = min(control.maximum - control.minimum, Self.controlLimit)
        for value in control.minimum...(control.minimum + span) {
            var query = v4l2_querymenu()
            query.id = control.id
            query.index = UInt32(clamping: value)
            // Gaps in a menu are answered with EINVAL.
            do throws(SystemError) { try request("VIDIOC_QUERYMENU", CV4L2_QUERYMENU, &query) } catch { continue }
            let name =
                control.kind == .integerMenu
                ? "\(query.value)"
                : withUnsafeBytes(of: &query.name) {
                    DisplayName(String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)).text
                }
            found.append(CameraControl.Entry(value: value, name: name))
        }
        return found
    }

    /// Nil when it cannot be read.
    private func value(of id: UInt32, _ kind: CameraControl.Kind) -> Int? {
        var control = v4l2_control()
        control.id = id
        do throws(SystemError) { try request("VIDIOC_G_CTRL", CV4L2_G_CTRL, &control) } catch { return nil }
        // A bit mask uses all 32 bits.
        return kind == .bitmask ? Int(UInt32(bitPattern: control.value)) : Int(control.value)
    }

    func set(_ id: UInt32, to value: Int) throws(SystemError) {
        var control = v4l2_control()
        control.id = id
        control.value = Int32(truncatingIfNeeded: value)
        try request("VIDIOC_S_CTRL", CV4L2_S_CTRL, &control)
    }
}

extension V4L2Device {
    /// Whether the camera's encoder can be asked for a key frame.
    var hasKeyFrameControl: Bool { control(CV4L2_CID_MPEG_VIDEO_FORCE_KEY_FRAME) != nil }

    /// A wish: a camera that refuses gives one when it pleases.
    func requestKeyFrame() {
        do throws(SystemError) { try set(CV4L2_CID_MPEG_VIDEO_FORCE_KEY_FRAME, to: 1) } catch {}
    }
}
