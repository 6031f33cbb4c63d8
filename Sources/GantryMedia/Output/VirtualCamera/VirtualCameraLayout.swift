package import GantryCore
package import GantryPlatform

/// How pictures lie in the memory of a virtual camera: one after the other, without padding.
package struct VirtualCameraLayout: Hashable, Sendable {
    package enum Pixels: Sendable, CaseIterable {
        /// 4:2:2, Y U Y V. What nearly every real webcam offers, so that nearly every program takes it.
        case yuyv
        /// 4:2:0, planes Y, U, V.
        case yu12
        /// 4:2:0, planes Y and UV.
        case nv12

        var code: FourCC {
            switch self {
            case .yuyv: FourCC("YUYV")
            case .yu12: FourCC("YU12")
            case .nv12: FourCC("NV12")
            }
        }

        init?(_ code: FourCC) {
            guard let found = Self.allCases.first(where: { $0.code == code }) else { return nil }
            self = found
        }
    }

    package let pixels: Pixels
    package let width: Int
    package let height: Int

    /// What v4l2loopback takes at least (V4L2LOOPBACK_SIZE_MIN_…), and our pictures at most.
    package static let sides = 48...Picture.maximumSide

    /// Nil unless both sides are even and within `sides`.
    package init?(pixels: Pixels = .yuyv, width: Int, height: Int) {
        guard Self.sides ~= width, 32...Picture.maximumSide ~= height, width % 2 == 0, height % 2 == 0 else {
            return nil
        }
        self.pixels = pixels
        self.width = width
        self.height = height
    }

    /// Of a row of the first plane.
    var rowBytes: Int { pixels == .yuyv ? width * 2 : width }

    package var byteCount: Int { pixels == .yuyv ? width * height * 2 : width * height * 3 / 2 }
}

/// What a virtual camera shall be.
package struct VirtualCameraWish: Sendable {
    /// A path such as `/dev/video10`; nil takes the first free v4l2loopback device, see `LoopbackSearch`.
    package var device: String?
    package var layout: VirtualCameraLayout
    /// What readers are told; the pictures come as they come.
    package var frameRate: FrameRate

    package init(device: String? = nil, layout: VirtualCameraLayout, frameRate: FrameRate = .fps30) {
        self.device = device
        self.layout = layout
        self.frameRate = frameRate
    }
}

/// Where the pictures of a virtual camera go. Owned by the camera's thread.
package protocol VirtualCameraDevice: AnyObject {
    var path: String { get }
    /// What was agreed on: while a reader holds the device, its old format stays.
    var layout: VirtualCameraLayout { get }
    /// Takes one picture of `layout.byteCount` bytes; does not wait for readers.
    func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError)
}
