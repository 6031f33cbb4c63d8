import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport

/// A camera that stamps its pictures: small, so that this debug build draws it in time in an emulated machine.
final class StampingCamera: Sendable {
    private let isOver = Watched(false)

    init(_ camera: VirtualCamera, rate: Int64) {
        let isOver = isOver
        let (width, height) = (camera.layout.width, camera.layout.height)
        Thread.detachNewThread {
            let start = MonotonicClock.now()
            var number: Int64 = 0
            while !isOver.value {
                MonotonicClock.sleep(until: start + .microseconds(number * 1_000_000 / rate))
                guard let picture = Picture(format: .i420, width: width, height: height, color: .bt601) else {
                    return
                }
                for plane in 0..<3 {
                    memset(picture.plane(plane), plane == 0 ? 90 : 128, picture.stride(plane) * picture.rows(plane))
                }
                // Something that moves.
                let row = picture.plane(0) + (height / 2 + Int(number) % (height / 2)) * picture.stride(0)
                memset(row, 200, width)
                TimeCode.draw(
                    on: picture, frameNumber: UInt32(truncatingIfNeeded: number), capture: MonotonicClock.now())
                camera.show(picture)
                number += 1
            }
        }
    }

    deinit { stop() }
    func stop() { isOver.change { $0 = true } }
}
