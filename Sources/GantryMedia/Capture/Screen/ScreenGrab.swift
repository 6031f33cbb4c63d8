import CLibAV
import GantryCore
import Glibc

/// An X screen, or a part of one, that is read picture by picture (x11grab of libavdevice). Owned by one thread at a
/// time.
final class ScreenGrab {
    let width: Int
    let height: Int
    private let place: ScreenPlace
    private let context: UnsafeMutablePointer<AVFormatContext>
    private let packet: UnsafeMutablePointer<AVPacket>

    /// x11grab paces its pictures by itself, cannot be woken, and makes up for a stall with a burst. Asked for a thousand
    /// a second it is never early: the pace is ours.
    private static let rate = "1000"

    /// - Throws: `sourceNotFound` (no such display, no library), `invalidArgument` (a part outside the screen),
    ///   `sourceUnreadable` (pixels that we do not know).
    init(_ place: ScreenPlace) throws(GantryError) {
        silenceLibAV()
        try DeviceLibrary.load()
        guard let format = av_find_input_format("x11grab") else {
            throw GantryError(
                .sourceNotFound,
                "This \(DeviceLibrary.fileName) cannot read screens: it was built without x11grab. Install the "
                    + "distribution's: sudo apt-get install --reinstall \(DeviceLibrary.packageName)")
        }
        var options: OpaquePointer?
        av_dict_set(&options, "framerate", Self.rate, 0)
        av_dict_set(&options, "draw_mouse", "1", 0)
        if let region = place.region {
            av_dict_set(&options, "video_size", "\(region.width)x\(region.height)", 0)
            av_dict_set(&options, "grab_x", "\(region.left)", 0)
            av_dict_set(&options, "grab_y", "\(region.top)", 0)
        }
        var opened: UnsafeMutablePointer<AVFormatContext>?
        let status = avformat_open_input(&opened, place.display, format, &options)
        av_dict_free(&options)
        guard status >= 0, let opened else { throw Self.openError(place, status) }
        let parameters = opened.pointee.nb_streams > 0 ? opened.pointee.streams?[0]?.pointee.codecpar?.pointee : nil
        guard let packet = av_packet_alloc(), let parameters, parameters.format == AV_PIX_FMT_BGR0.rawValue,
            16...CInt(Picture.maximumSide) ~= parameters.width, 16...CInt(Picture.maximumSide) ~= parameters.height
        else {
            var closing: UnsafeMutablePointer<AVFormatContext>? = opened
            avformat_close_input(&closing)
            throw GantryError(
                .sourceUnreadable,
                "The screen \(place.display) is of a kind that cannot be sent: it must have 24 bits of colour and a size "
                    + "from 16x16 to 8192x8192. Name a part of it, as in: gantry-producer run screen,1920x1080+0+0",
                cause: parameters.map { "\($0.width)x\($0.height), pixel format \($0.format)" })
        }
        self.place = place
        self.packet = packet
        context = opened
        (width, height) = (Int(parameters.width), Int(parameters.height))
    }

    deinit {
        var packet: UnsafeMutablePointer<AVPacket>? = packet
        av_packet_free(&packet)
        var closing: UnsafeMutablePointer<AVFormatContext>? = context
        avformat_close_input(&closing)
    }

    /// What the screen shows now: rows of `width` BGRX pixels, valid inside `body` only.
    ///
    /// - Throws: `sourceLost` when the X server has gone or the screen has changed its size.
    func read(_ body: (UnsafeRawBufferPointer) throws(GantryError) -> Void) throws(GantryError) {
        let status = av_read_frame(context, packet)
        guard status >= 0 else { throw lost(status) }
        defer { av_packet_unref(packet) }
        guard let data = packet.pointee.data, Int(packet.pointee.size) >= width * height * 4 else { throw lost(0) }
        try body(UnsafeRawBufferPointer(start: data, count: Int(packet.pointee.size)))
    }

    private func lost(_ status: CInt) -> GantryError {
        let cause = status < 0 ? libAVText(status) : nil
        do throws(GantryError) {
            _ = try ScreenGrab(ScreenPlace(display: place.display))
            return GantryError(
                .sourceLost,
                "The screen \(place.display) has another size now. Start again to send it so: gantry-producer run screen",
                cause: cause)
        } catch {
            return GantryError(
                .sourceLost,
                "The screen \(place.display) has gone: its X server has ended. Start again when it is back: "
                    + "gantry-producer run screen", cause: cause)
        }
    }

    private static func openError(_ place: ScreenPlace, _ status: CInt) -> GantryError {
        if place.region != nil, status == -EINVAL {
            return GantryError(
                .invalidArgument,
                "That part is not on the screen \(place.display). See the screen's size with: gantry-producer sources",
                cause: libAVText(status))
        }
        return GantryError(
            .sourceNotFound,
            "The screen \(place.display) cannot be opened. Check the display (echo $DISPLAY on that desktop), and that its "
                + "user lets you see it: xhost +si:localuser:$USER", cause: libAVText(status))
    }
}
