import GantryCore
import GantryMedia
import GantryPlatform

/// What waits for the encoding thread: a picture, or what a device has coded itself.
enum VideoInput: Sendable {
    case picture(Picture)
    case coded(MediaPacket)

    var captureTime: MediaTimestamp {
        switch self {
        case .picture(let picture): picture.captureTime
        case .coded(let packet): packet.header.captureTime
        }
    }
}
