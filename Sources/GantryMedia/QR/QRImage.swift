package import GantryCore

/// Writes a QR code as a picture file.
package enum QRImage {
    /// The standard's quiet zone, in modules.
    package static let quietZone = 4

    /// A grey PNG.
    ///
    /// - Parameters:
    ///   - moduleSize: pixels a side of a module, 1…64.
    ///   - overwrite: replaces a file that exists.
    /// - Throws: `outputNotWritable`, `outputFull`, `outputClosed`, `outputFailed`.
    package static func writePNG(_ code: QRCode, to path: String, moduleSize: Int = 8, overwrite: Bool = true)
        throws(GantryError)
    {
        let scale = min(max(moduleSize, 1), 64)
        let side = (code.size + 2 * quietZone) * scale
        var pixels = [UInt8](repeating: 255, count: side * side)
        for y in 0..<side {
            for x in 0..<side where code.isDark(x: x / scale - quietZone, y: y / scale - quietZone) {
                pixels[y * side + x] = 0
            }
        }
        try PNGSnapshot.write(gray: pixels, width: side, height: side, to: path, overwrite: overwrite)
    }

    /// An SVG file.
    ///
    /// - Throws: as `writePNG`.
    package static func writeSVG(_ code: QRCode, to path: String, overwrite: Bool = true) throws(GantryError) {
        let text = Array(svg(code).utf8)
        try text.withUnsafeBufferPointer { bytes throws(GantryError) in
            try AtomicFile.write(UnsafeRawBufferPointer(bytes), to: path, overwrite: overwrite)
        }
    }

    /// SVG 1.1: one unit a module, one path of horizontal runs, black on white.
    package static func svg(_ code: QRCode) -> String {
        let side = code.size + 2 * quietZone
        var path = ""
        for y in 0..<code.size {
            var x = 0
            while x < code.size {
                var run = 0
                while code.isDark(x: x + run, y: y) { run += 1 }
                if run > 0 { path += "M\(x + quietZone) \(y + quietZone)h\(run)v1h-\(run)z" }
                x += run + 1
            }
        }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <svg xmlns="http://www.w3.org/2000/svg" version="1.1" width="\(side * 8)" height="\(side * 8)" \
            viewBox="0 0 \(side) \(side)" shape-rendering="crispEdges">
            <rect width="\(side)" height="\(side)" fill="#fff"/>
            <path fill="#000" d="\(path)"/>
            </svg>

            """
    }
}
