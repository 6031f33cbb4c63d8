import CZBar
package import GantryCore

/// Finds QR codes in the luma of a picture. One thread at a time uses it; its memory is kept for the next picture.
package final class QRScanner {
    private let scanner: OpaquePointer
    private let image: OpaquePointer
    /// The picture without row padding, as zbar wants it.
    private let full = GrayPlane()
    /// Others made of it.
    private let other = GrayPlane()
    private let work = (result: GrayPlane(), cell: GrayPlane(), mean: GrayPlane())

    /// Codes of one picture that are looked at: more are not shown to a camera by accident.
    private static let maximumCodes = 16
    package static let maximumSide = Picture.maximumSide

    /// - Throws: `general` when memory is out.
    package init() throws(GantryError) {
        guard let scanner = zbar_image_scanner_create() else {
            throw GantryError(.general, "There is not enough memory to scan codes.")
        }
        guard let image = zbar_image_create() else {
            zbar_image_scanner_destroy(scanner)
            throw GantryError(.general, "There is not enough memory to scan codes.")
        }
        self.scanner = scanner
        self.image = image
        // The code holds a secret: zbar must not announce it on the message bus.
        zbar_image_scanner_request_dbus(scanner, 0)
        zbar_image_scanner_set_config(scanner, ZBAR_NONE, ZBAR_CFG_ENABLE, 0)
        zbar_image_scanner_set_config(scanner, ZBAR_QRCODE, ZBAR_CFG_ENABLE, 1)
        // Dark terminals show codes inverted.
        zbar_image_scanner_set_config(scanner, ZBAR_NONE, ZBAR_CFG_TEST_INVERTED, 1)
        // "Y800": 8 bits of luma, as a four-character code.
        zbar_image_set_format(image, 0x3030_3859)
    }

    deinit {
        zbar_image_destroy(image)
        zbar_image_scanner_destroy(scanner)
    }

    /// How hard to look.
    package enum Effort: Sendable {
        /// The look of that number at what will be seen again in a moment: at full and half size, and in one of the
        /// other ways in turn.
        case glance(Int)
        /// In every way that has been seen to help: at what there is one picture of.
        case thorough
    }

    /// The texts of all QR codes, each once. Empty for none, and for sides outside 1…8192.
    ///
    /// zbar by itself reads every angle, both polarities and much noise. Where it finds no valid Gantry code, it looks
    /// again: at half size, where noise and moiré are weaker; at the picture in black and white by the mean around each
    /// pixel, against shadows and reflections, in several sizes, which also closes the hairlines that terminals leave
    /// between half blocks (xterm with an outline font: no other pass reads its screen); and small pictures at double
    /// size, for codes of two pixels a module. Turning and blurring found nothing that these did not.
    ///
    /// - Parameters:
    ///   - luma: `height` rows of `width` bytes, `stride` bytes apart (not negative).
    package func scan(
        luma: UnsafePointer<UInt8>, width: Int, height: Int, stride: Int, effort: Effort = .thorough
    ) -> [String] {
        guard 1...Self.maximumSide ~= width, 1...Self.maximumSide ~= height, stride >= width else { return [] }
        full.load(luma, width: width, height: height, stride: stride)
        var texts: [String] = []
        for pass in Self.passes(effort) {
            guard let plane = plane(for: pass) else { continue }
            for text in scan(plane) where !texts.contains(text) { texts.append(text) }
            if Self.validCode(among: texts) != nil { break }
        }
        return texts
    }

    /// The luma of an I420 or NV12 picture.
    package func scan(_ picture: Picture, effort: Effort = .thorough) -> [String] {
        guard picture.format != .bgra else { return [] }
        return scan(
            luma: picture.plane(0), width: picture.width, height: picture.height, stride: picture.stride(0),
            effort: effort)
    }

    /// The first text that is a valid pairing code.
    package static func validCode(among texts: [String]) -> String? {
        texts.first { (try? PairingCode.parse($0)) != nil }
    }

    /// Texts that begin as a Gantry code does, in any case.
    static func isGantry(_ text: String) -> Bool { text.prefix(8).uppercased().hasPrefix(PairingCode.prefix) }

    private static let quickPasses: [Pass] = [.plain(1), .plain(2)]
    private static let morePasses: [Pass] = [.local(2), .local(3), .local(4), .local(6), .local(1), .double, .whole]

    private static func passes(_ effort: Effort) -> [Pass] {
        switch effort {
        case .glance(let number): quickPasses + [morePasses[Int(number.magnitude % UInt(morePasses.count))]]
        case .thorough: quickPasses + morePasses
        }
    }

    private enum Pass {
        /// As it is, shrunk by this.
        case plain(Int)
        /// In black and white by the mean around each pixel, shrunk by this.
        case local(Int)
        case double
        /// A large picture in all its pixels.
        case whole
    }

    /// Larger pictures are shrunk to less than this first: a photograph has pixels enough, and half a second does.
    private static let workingArea = 4 << 20
    /// Photographs of up to 16 megapixels are looked at whole when nothing else helped.
    private static let wholeArea = 16 << 20
    /// Pictures with a longer side than this are not doubled.
    private static let doubleSide = 1200
    /// Along the longer side: a module of a code that fills the picture is smaller than a cell, a shadow larger.
    private static let cells = 24

    /// Nil when the pass is of no use for this picture.
    private func plane(for pass: Pass) -> GrayPlane? {
        var base = 1
        while full.area / (base * base) > Self.workingArea { base += 1 }
        switch pass {
        case .plain(let divisor): return shrunk(by: base * divisor)
        case .local(let divisor):
            guard let source = shrunk(by: base * divisor) else { return nil }
            work.result.threshold(source, cells: Self.cells, work.cell, work.mean)
            return work.result
        case .double:
            guard max(full.width, full.height) <= Self.doubleSide else { return nil }
            other.scale(full, toWidth: 2 * full.width, height: 2 * full.height)
            return other
        case .whole: return base > 1 && full.area <= Self.wholeArea ? full : nil
        }
    }

    private func shrunk(by divisor: Int) -> GrayPlane? {
        if divisor == 1 { return full }
        guard min(full.width, full.height) >= 16 * divisor else { return nil }
        other.scale(full, toWidth: full.width / divisor, height: full.height / divisor)
        return other
    }

    private func scan(_ plane: GrayPlane) -> [String] {
        zbar_image_set_size(image, UInt32(clamping: plane.width), UInt32(clamping: plane.height))
        // No clean-up handler: the memory is ours.
        zbar_image_set_data(image, plane.pixels.baseAddress, UInt(plane.area), nil)
        defer {
            zbar_image_scanner_recycle_image(scanner, image)
            zbar_image_set_data(image, nil, 0, nil)
        }
        guard zbar_scan_image(scanner, image) > 0 else { return [] }
        var texts: [String] = []
        var symbol = zbar_image_first_symbol(image)
        while let current = symbol, texts.count < Self.maximumCodes {
            if zbar_symbol_get_type(current) == ZBAR_QRCODE, let data = zbar_symbol_get_data(current) {
                let count = Int(zbar_symbol_get_data_length(current))
                let text = data.withMemoryRebound(to: UInt8.self, capacity: count) {
                    String(decoding: UnsafeBufferPointer(start: $0, count: count), as: UTF8.self)
                }
                if !texts.contains(text) { texts.append(text) }
            }
            symbol = zbar_symbol_next(current)
        }
        return texts
    }
}
