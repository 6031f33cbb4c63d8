import GantryCore
import GantryPlatform
import Glibc

/// What a camera and we have agreed on.
struct CameraSetup {
    let name: String
    let mode: CameraMode
    let color: ColorDescription
    /// Bytes from one row of the first plane to the next; 0 for coded pictures.
    let stride: Int

    /// Looks at the device, chooses, and sets format and rate.
    ///
    /// - Throws: `sourceUnreadable` (not a camera), `unsupportedCodec`, `sourceBusy`, `sourceLost`, `sourceSilent` (a
    ///   virtual one that nobody writes into).
    init(_ device: V4L2Device, wish: CameraWish, options: CameraOptions) throws(GantryError) {
        name = try Self.checkedName(device)
        let formats = device.formats()
        let offers = Self.offers(device, formats)
        let ranked = CameraNegotiation.rank(offers.map(\.offer), wish: wish, options: options)
        guard let best = ranked.first, offers.indices ~= best.offer else {
            throw options.delivery.permits(.yuyv) || offers.contains { options.permits($0.offer.pixels) }
                ? CameraFailure.noUsableFormat(device.path, formats)
                : CameraFailure.noSuchDelivery(device.path, options.delivery, formats)
        }
        for line in CameraNegotiation.explanation(ranked, wish: wish) { Log.debug("camera \(device.path): \(line)") }
        let layout: V4L2Device.Layout
        let rate: FrameRate?
        do throws(SystemError) {
            layout = try device.setFormat(offers[best.offer].code, width: best.mode.width, height: best.mode.height)
            // Not faster than asked for, where the camera can.
            let highest = best.mode.frameRate ?? wish.frameRate
            rate = try device.setRate(
                highest.framesPerSecond < wish.frameRate.framesPerSecond ? highest : wish.frameRate)
        } catch {
            throw CameraFailure.during(device.path, error)
        }
        guard let pixels = CameraPixels(layout.code) else {
            throw CameraFailure.noUsableFormat(device.path, [layout.code])
        }
        guard options.permits(pixels) else {
            throw CameraFailure.noSuchDelivery(device.path, options.delivery, [layout.code])
        }
        mode = CameraMode(pixels: pixels, width: layout.width, height: layout.height, frameRate: rate)
        stride = layout.stride
        color = CameraNegotiation.color(
            pixels: pixels, colorspace: layout.colorspace, encoding: layout.encoding, quantization: layout.quantization)
    }

    /// - Throws: `sourceUnreadable`, `sourceSilent`, in words that say what the node is instead.
    static func checkedName(_ device: V4L2Device) throws(GantryError) -> String {
        let capabilities: V4L2Device.Capabilities
        do throws(SystemError) { capabilities = try device.capabilities() } catch {
            throw [ENODEV, ENXIO].contains(error.errno)
                ? CameraFailure.lost(device.path, error)
                : CameraFailure.notACamera(device.path, "it does not answer as one")
        }
        if let reason = capabilities.reasonAgainst {
            guard capabilities.driver != CameraNode.loopbackDriver else { throw CameraFailure.unwritten(device.path) }
            throw CameraFailure.notACamera(device.path, reason)
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
