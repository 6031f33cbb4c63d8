package import GantryCore

/// A picture in memory of the application, of which size, strides and byte counts fit each other. Borrowed: whoever made it
/// says how long the memory is good.
package struct RawFrame {
    /// How the bytes lie; the names are those of libyuv and V4L2.
    package enum Layout: String, Sendable, CaseIterable {
        /// 4 bytes a pixel: blue, green, red, one without meaning.
        case bgra
        /// 4 bytes a pixel: red, green, blue, one without meaning.
        case rgba
        /// 4 bytes for 2 pixels: Y, U, Y, V.
        case yuyv
        /// 4 bytes for 2 pixels: U, Y, V, Y.
        case uyvy
        /// Y, then U and V interleaved at half width and height (rounded up).
        case nv12
        /// Y, U, V; chroma at half width and height (rounded up).
        case i420

        package var planeCount: Int {
            switch self {
            case .bgra, .rgba, .yuyv, .uyvy: 1
            case .nv12: 2
            case .i420: 3
            }
        }

        /// Bytes in a row of `plane`, without padding.
        package func rowBytes(plane: Int, width: Int) -> Int {
            switch self {
            case .bgra, .rgba: width * 4
            case .yuyv, .uyvy: (width + 1) / 2 * 4
            case .nv12: plane == 0 ? width : (width + 1) / 2 * 2
            case .i420: plane == 0 ? width : (width + 1) / 2
            }
        }

        /// Rows of `plane`.
        package func rows(plane: Int, height: Int) -> Int { plane == 0 ? height : (height + 1) / 2 }

        /// What the encoder reads as it is.
        package var pixelFormat: PixelFormat? {
            switch self {
            case .i420: .i420
            case .nv12: .nv12
            default: nil
            }
        }

        var name: String { rawValue.uppercased() }
    }

    package struct Plane {
        package let bytes: UnsafeRawBufferPointer
        /// Bytes from one row to the next.
        package let stride: Int

        package init(_ bytes: UnsafeRawBufferPointer, stride: Int) {
            self.bytes = bytes
            self.stride = stride
        }

        /// Of a plane that has been looked at.
        var base: UnsafePointer<UInt8>? { bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) }
        var step: CInt { CInt(clamping: stride) }
    }

    package let layout: Layout
    package let width: Int
    package let height: Int
    /// Not looked at for BGRA and RGBA, which become BT.601.
    package let color: ColorDescription
    /// As many as the layout has; no array, which would be allocated for each picture.
    let planes: (Plane, Plane?, Plane?)

    /// The sides of a picture that can be encoded.
    package static let sides = 16...Picture.maximumSide

    /// - Parameter color: nil: what the height suggests.
    /// - Throws: `invalidArgument`, which says what was expected.
    package init(
        _ layout: Layout, width: Int, height: Int, color: ColorDescription? = nil, _ first: Plane,
        _ second: Plane? = nil, _ third: Plane? = nil
    ) throws(GantryError) {
        self.layout = layout
        self.width = width
        self.height = height
        self.color = color ?? .assumed(forHeight: height)
        planes = (first, second, third)
        try check()
    }

    func plane(_ index: Int) -> Plane? {
        switch index {
        case 0: planes.0
        case 1: planes.1
        default: planes.2
        }
    }

    private func check() throws(GantryError) {
        guard Self.sides ~= width, Self.sides ~= height else {
            throw GantryError(.invalidArgument, "A picture of \(width)x\(height) is outside 16x16…8192x8192.")
        }
        let given = planes.2 != nil ? 3 : planes.1 != nil ? 2 : 1
        guard given == layout.planeCount else {
            throw GantryError(
                .invalidArgument,
                "Pictures in \(layout.name) have \(layout.planeCount) planes, and \(given) were given.")
        }
        for index in 0..<layout.planeCount {
            if let plane = plane(index) { try check(plane, index) }
        }
    }

    private func check(_ plane: Plane, _ index: Int) throws(GantryError) {
        let row = layout.rowBytes(plane: index, width: width)
        let rows = layout.rows(plane: index, height: height)
        func fault(_ what: String) -> GantryError {
            GantryError(
                .invalidArgument,
                "Plane \(index) of a picture of \(width)x\(height) in \(layout.name) has \(rows) rows of \(row) bytes, "
                    + "and \(what).")
        }
        // libyuv takes strides as a C int, and doubles some.
        guard row...Int(CInt.max) / 4 ~= plane.stride else { throw fault("the stride is \(plane.stride)") }
        // The last row needs no padding behind it.
        let needed = plane.stride * (rows - 1) + row
        guard plane.bytes.count >= needed, plane.bytes.baseAddress != nil else {
            throw fault("\(plane.bytes.count) bytes came; with a stride of \(plane.stride) these are \(needed)")
        }
    }
}
