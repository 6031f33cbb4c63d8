import CZBar
package import GantryCore

/// Finds QR codes in the luma of a picture. One thread at a time uses it; its memory is kept for the next picture.
package final class QRScanner {
    private let scanner: OpaquePointer
    private let image: OpaquePointer
    /// The picture without row padding, as zbar wants it.
    private var pixels: UnsafeMutableBufferPointer<UInt8>
    private var half: UnsafeMutableBufferPointer<UInt8>

    /// Codes of one picture that are looked at: more are not shown to a camera by accident.
    private static let maximumCodes = 16
    /// What every Gantry code begins with, in any case.
    package static let prefix = "GANTRY:"
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
        pixels = .allocate(capacity: 0)
        half = .allocate(capacity: 0)
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
        pixels.update(repeating: 0)
        half.update(repeating: 0)
        pixels.deallocate()
        half.deallocate()
    }

    /// The texts of all QR codes, each once, found at full size and, when no Gantry code is among them, at half size,
    /// where noise and moiré are weaker. Empty for none, and for sides outside 1…8192.
    ///
    /// - Parameters:
    ///   - luma: `height` rows of `width` bytes, `stride` bytes apart (not negative).
    package func scan(luma: UnsafePointer<UInt8>, width: Int, height: Int, stride: Int) -> [String] {
        guard 1...Self.maximumSide ~= width, 1...Self.maximumSide ~= height, stride >= width else { return [] }
        Self.resize(&pixels, to: width * height)
        for y in 0..<height {
            let source = UnsafeBufferPointer(start: luma + y * stride, count: width)
            let row = UnsafeMutableBufferPointer(rebasing: pixels[(y * width)..<((y + 1) * width)])
            _ = row.update(fromContentsOf: source)
        }
        var texts = scan(pixels, width: width, height: height)
        if texts.contains(where: Self.isGantry) || width < 2 || height < 2 { return texts }
        halve(width: width, height: height)
        for text in scan(half, width: width / 2, height: height / 2) where !texts.contains(text) { texts.append(text) }
        return texts
    }

    /// The luma of an I420 or NV12 picture.
    package func scan(_ picture: Picture) -> [String] {
        guard picture.format != .bgra else { return [] }
        return scan(
            luma: picture.plane(0), width: picture.width, height: picture.height, stride: picture.stride(0))
    }

    /// The first text that begins as a Gantry code does; whether it is valid is for the pairing code's own parser to say.
    package static func gantryCode(among texts: [String]) -> String? { texts.first(where: isGantry) }

    private static func isGantry(_ text: String) -> Bool {
        text.utf8.count <= 1024
            && text.utf8.prefix(prefix.utf8.count).elementsEqual(prefix.utf8) { byte, expected in
                // Upper case of an ASCII letter; ":" has no such bit to lose.
                (UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte ? byte - 32 : byte) == expected
            }
    }

    private func scan(_ pixels: UnsafeMutableBufferPointer<UInt8>, width: Int, height: Int) -> [String] {
        zbar_image_set_size(image, UInt32(width), UInt32(height))
        // No clean-up handler: the memory is ours.
        zbar_image_set_data(image, pixels.baseAddress, UInt(width * height), nil)
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

    private func halve(width: Int, height: Int) {
        let (halfWidth, halfHeight) = (width / 2, height / 2)
        Self.resize(&half, to: halfWidth * halfHeight)
        for y in 0..<halfHeight {
            for x in 0..<halfWidth {
                let at = 2 * y * width + 2 * x
                let sum =
                    UInt16(pixels[at]) + UInt16(pixels[at + 1]) + UInt16(pixels[at + width])
                    + UInt16(pixels[at + width + 1])
                half[y * halfWidth + x] = UInt8(truncatingIfNeeded: (sum + 2) / 4)
            }
        }
    }

    private static func resize(_ buffer: inout UnsafeMutableBufferPointer<UInt8>, to count: Int) {
        guard buffer.count != count else { return }
        buffer.deallocate()
        buffer = .allocate(capacity: count)
        buffer.initialize(repeating: 0)
    }
}
