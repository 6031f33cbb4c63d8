/// A camera that pans over a detailed scene, drawn beforehand: BGRA pictures that give the encoder real work.
///
/// The scene holds shapes with hard edges, soft shading and texture of several sizes. It is drawn four times with
/// different noise of ±2 levels, as a sensor adds it, so that no two pictures are alike even where they overlap.
final class MovingPicture {
    let width = 1280
    let height = 720
    private static let sceneWidth = 1280 + 512
    private static let sceneHeight = 720 + 288
    private let scenes: [UnsafeMutableRawBufferPointer]

    var stride: Int { Self.sceneWidth * 4 }

    init() {
        let base = Self.drawScene()
        defer { base.deallocate() }
        var seed: UInt32 = 7
        scenes = (0..<4).map { _ in
            let scene = UnsafeMutableRawBufferPointer.allocate(byteCount: base.count, alignment: 64)
            for index in 0..<base.count {
                seed = seed &* 1_664_525 &+ 1_013_904_223
                scene[index] = UInt8(clamping: Int(base[index]) + Int(seed >> 24) % 5 - 2)
            }
            return scene
        }
    }

    deinit { for scene in scenes { scene.deallocate() } }

    /// Picture `index`: `height` rows of `stride` bytes, of which `width` × 4 count.
    func pixels(_ index: Int) -> UnsafeRawBufferPointer {
        let x = Self.swing(index * 6, Self.sceneWidth - width)
        let y = Self.swing(index * 2, Self.sceneHeight - height)
        let offset = (y * Self.sceneWidth + x) * 4
        let size = stride * (height - 1) + width * 4
        return UnsafeRawBufferPointer(rebasing: scenes[index % scenes.count][offset..<offset + size])
    }

    /// Back and forth between 0 and `limit`, even numbers only, since colour has half the resolution.
    private static func swing(_ position: Int, _ limit: Int) -> Int {
        let phase = position % (2 * limit)
        return (phase < limit ? phase : 2 * limit - phase) & ~1
    }

    private static func drawScene() -> UnsafeMutableRawBufferPointer {
        let scene = UnsafeMutableRawBufferPointer.allocate(byteCount: sceneWidth * sceneHeight * 4, alignment: 64)
        for y in 0..<sceneHeight {
            for x in 0..<sceneWidth {
                let level = texture(x, y)
                let block = hash(x / 96, y / 72)
                let edge = Int(block % 3) == 0 && (x % 96) < 60 && (y % 72) < 48 ? Int(block >> 8 & 127) - 64 : 0
                let at = (y * sceneWidth + x) * 4
                scene[at] = UInt8(clamping: level + edge + x * 40 / sceneWidth)
                scene[at + 1] = UInt8(clamping: level + edge / 2)
                scene[at + 2] = UInt8(clamping: level - edge / 3 + y * 40 / sceneHeight)
                scene[at + 3] = 255
            }
        }
        return scene
    }

    /// Value noise in octaves of 128, 32, 8 and 4 pixels.
    private static func texture(_ x: Int, _ y: Int) -> Int {
        100 + noise(x, y, 128) * 70 / 256 + noise(x, y, 32) * 40 / 256 + noise(x, y, 8) * 24 / 256
            + noise(x, y, 4) * 14 / 256
    }

    /// −128…127, interpolated between points that are `cell` apart.
    private static func noise(_ x: Int, _ y: Int, _ cell: Int) -> Int {
        let (cx, cy, fx, fy) = (x / cell, y / cell, x % cell, y % cell)
        func corner(_ dx: Int, _ dy: Int) -> Int { Int(hash(cx + dx + cell * 131, cy + dy) & 255) - 128 }
        let top = corner(0, 0) * (cell - fx) + corner(1, 0) * fx
        let bottom = corner(0, 1) * (cell - fx) + corner(1, 1) * fx
        return (top * (cell - fy) + bottom * fy) / (cell * cell)
    }

    private static func hash(_ x: Int, _ y: Int) -> UInt32 {
        var h = UInt32(truncatingIfNeeded: x) &* 374_761_393 &+ UInt32(truncatingIfNeeded: y) &* 668_265_263
        h = (h ^ h >> 13) &* 1_274_126_177
        return h ^ h >> 16
    }
}
