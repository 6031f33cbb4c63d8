/// In what form a camera's pictures come out.
package enum CameraDelivery: String, Sendable, Hashable, CaseIterable {
    /// The mode is chosen as if pictures were wanted; H.264 is passed on as it is where that mode has it.
    case auto
    /// Always pictures: what is coded gets decoded.
    case pictures = "off"
    /// Only modes with JPEG, passed on.
    case mjpeg
    /// Only modes with H.264, passed on.
    case h264

    func permits(_ pixels: CameraPixels) -> Bool {
        switch self {
        case .auto, .pictures: true
        case .mjpeg: pixels == .mjpeg
        case .h264: pixels == .h264
        }
    }

    func passesOn(_ pixels: CameraPixels) -> Bool {
        switch self {
        case .auto: pixels == .h264
        case .pictures: false
        case .mjpeg, .h264: permits(pixels)
        }
    }
}

/// How a camera is used, besides size and rate.
package struct CameraOptions: Sendable, Hashable {
    package var delivery: CameraDelivery
    /// Set in this order, at every opening.
    package var controls: [CameraControlSetting]
    /// Only modes with these; nil takes the best.
    package var pixels: CameraPixels?

    package init(
        delivery: CameraDelivery = .pictures, controls: [CameraControlSetting] = [], pixels: CameraPixels? = nil
    ) {
        self.delivery = delivery
        self.controls = controls
        self.pixels = pixels
    }

    func permits(_ pixels: CameraPixels) -> Bool {
        delivery.permits(pixels) && (self.pixels.map { $0 == pixels } ?? true)
    }
}
