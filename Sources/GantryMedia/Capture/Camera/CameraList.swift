package import GantryCore
import GantryPlatform
import Glibc

/// The cameras of this machine. Looking does not disturb a program that uses one of them.
package enum CameraList {
    /// All cameras, in the order of their numbers; nodes for metadata and output are left out. Blocks for some
    /// milliseconds a camera.
    package static func all() -> [CameraInfo] {
        var found: [CameraInfo] = []
        for path in CameraFailure.devices() {
            if case .camera(let info) = CameraNode(path: path) { found.append(info) }
        }
        return found
    }

    /// The camera that is taken when none is named: the first real one that can be used now. A virtual one is never
    /// taken by itself: what it shows may be what our own studio has received.
    ///
    /// - Throws: the problem of the first real camera when all have one; `sourceNotFound` when there is none.
    package static func best(_ cameras: [CameraInfo]) throws(GantryError) -> CameraInfo {
        let real = cameras.filter { !$0.isVirtual }
        if let best = real.first(where: { $0.problem == nil }) { return best }
        if let problem = real.lazy.compactMap(\.problem).first { throw problem }
        throw noRealCamera(virtual: cameras.map(\.path) + idleVirtual(besides: cameras))
    }

    package static func best() throws(GantryError) -> CameraInfo { try best(all()) }

    /// With v4l2loopback's `exclusive_caps` a node is no camera until somebody writes into it.
    private static func idleVirtual(besides cameras: [CameraInfo]) -> [String] {
        CameraFailure.devices().filter { path in
            !cameras.contains { $0.path == path } && CameraNode.isVirtual(path: path)
        }
    }

    static func noRealCamera(virtual: [String]) -> GantryError {
        guard let first = virtual.first else {
            return GantryError(
                .sourceNotFound,
                "This machine has no camera (no /dev/video*). Plug one in, or send something else: gantry-producer run test"
            )
        }
        return GantryError(
            .sourceNotFound,
            "This machine has no real camera, only virtual ones (\(virtual.prefix(8).joined(separator: ", "))), which are "
                + "never taken unasked. Plug a camera in, or name one: gantry-producer run \(first)")
    }
}
