import GantryCore
import GantryPlatform

/// What a camera and we have agreed on.
struct CameraSetup {
    let name: String
    let mode: CameraMode
    let color: ColorDescription
    /// Bytes from one row of the first plane to the next; 0 for JPEG.
    let stride: Int

    /// Looks at the device, chooses, and sets format and rate.
    ///
    /// - Throws: `sourceUnreadable` (not a camera), `unsupportedCodec`, `sourceBusy`, `sourceLost`.
    init(_ device: V4L2Device, wish: CameraWish) throws(GantryError) {
        name = try Self.checkedName(device)
        let formats = device.formats()
        let offers = Self.offers(device, formats)
        guard let chosen = CameraNegotiation.choose(offers.map(\.offer), wish: wish),
            let code = offers.first(where: { $0.offer.pixels == chosen.pixels })?.code
        else { throw CameraFailure.noUsableFormat(device.path, formats) }
        let layout: V4L2Device.Layout
        let rate: FrameRate?
        do throws(SystemError) {
            layout = try device.setFormat(code, width: chosen.width, height: chosen.height)
            // Not faster than asked for, where the camera can.
            let best = chosen.frameRate ?? wish.frameRate
            rate = try device.setRate(
                best.framesPerSecond < wish.frameRate.framesPerSecond ? best : wish.frameRate)
        } catch {
            throw CameraFailure.during(device.path, error)
        }
        guard let pixels = CameraPixels(layout.code) else {
            throw CameraFailure.noUsableFormat(device.path, [layout.code])
        }
        mode = CameraMode(pixels: pixels, width: layout.width, height: layout.height, frameRate: rate)
        stride = layout.stride
        color = CameraNegotiation.color(
            pixels: pixels, colorspace: layout.colorspace, encoding: layout.encoding, quantization: layout.quantization)
    }

    private static func checkedName(_ device: V4L2Device) throws(GantryError) -> String {
        let capabilities: V4L2Device.Capabilities
        do throws(SystemError) { capabilities = try device.capabilities() } catch {
            throw CameraFailure.notACamera(device.path, "it does not answer as one")
        }
        guard capabilities.isCapture else {
            throw CameraFailure.notACamera(device.path, "it delivers no pictures (a part of a camera, or an output)")
        }
        guard capabilities.canStream else {
            throw CameraFailure.notACamera(device.path, "its driver cannot stream")
        }
        return DisplayName(capabilities.name).text
    }

    static func offers(_ device: V4L2Device, _ formats: [FourCC]) -> [(code: FourCC, offer: CameraOffer)] {
        var found: [(code: FourCC, offer: CameraOffer)] = []
        for code in formats {
            guard let pixels = CameraPixels(code) else { continue }
            found += device.offers(code, pixels).map { (code, $0) }
        }
        if !found.isEmpty { return found }
        // Drivers that list nothing have a format all the same.
        do throws(SystemError) {
            let now = try device.currentFormat()
            guard let pixels = CameraPixels(now.code) else { return [] }
            return [
                (now.code, CameraOffer(pixels: pixels, width: now.width...now.width, height: now.height...now.height))
            ]
        } catch { return [] }
    }
}
