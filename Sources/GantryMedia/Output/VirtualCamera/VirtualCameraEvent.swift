package import GantryCore
import GantryPlatform

/// What happens to a virtual camera while it runs.
package enum VirtualCameraEvent: Sendable {
    /// The device has failed; it is tried again until it is back.
    case lost(GantryError)
    /// It works again, at this path.
    case restored(String)

    package func log() {
        switch self {
        case .lost(let error): Log.warning("\(error)")
        case .restored(let path): Log.warning("The virtual camera \(path) is back.")
        }
    }
}
