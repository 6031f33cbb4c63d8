import CLibAV
import GantryCore

/// Owns one AVFrame with memory for a picture. One thread at a time uses it.
final class LibAVFrame {
    let frame: UnsafeMutablePointer<AVFrame>

    /// Without memory for a picture: for a decoder to fill.
    init() throws(GantryError) {
        guard let frame = av_frame_alloc() else {
            throw GantryError(.general, "There is not enough memory for a picture.")
        }
        self.frame = frame
    }

    /// - Throws: `general` when memory is out or a side is not possible.
    init(width: Int, height: Int, format: AVPixelFormat) throws(GantryError) {
        guard let frame = av_frame_alloc(), let width = CInt(exactly: width), let height = CInt(exactly: height) else {
            throw GantryError(.general, "There is not enough memory for a picture.")
        }
        self.frame = frame
        frame.pointee.width = width
        frame.pointee.height = height
        frame.pointee.format = format.rawValue
        let status = av_frame_get_buffer(frame, 0)
        guard status >= 0 else {
            throw GantryError(.general, "There is not enough memory for a picture.", cause: libAVText(status))
        }
    }

    deinit {
        var frame: UnsafeMutablePointer<AVFrame>? = frame
        av_frame_free(&frame)
    }
}
