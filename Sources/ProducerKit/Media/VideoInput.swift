import GantryCore
import GantryMedia
import GantryPlatform

/// What waits for the encoding thread: a picture, or what a device has coded itself.
enum VideoInput: Sendable {
    case picture(Picture)
    case coded(MediaPacket)

    /// In pixels; of what a device has coded, nobody asks.
    var size: (width: Int, height: Int) {
        switch self {
        case .picture(let picture): (picture.width, picture.height)
        case .coded: (0, 0)
        }
    }

    var captureTime: MediaTimestamp {
        switch self {
        case .picture(let picture): picture.captureTime
        case .coded(let packet): packet.header.captureTime
        }
    }
}
