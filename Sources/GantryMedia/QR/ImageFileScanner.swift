import CLibAV
package import GantryCore
import GantryPlatform
import Glibc

/// Reads a Gantry code out of a picture file: PNG, JPEG, WebP, BMP. Any thread; takes up to a second for large photos.
package enum ImageFileScanner {
    /// A photo of 8192 × 8192 is smaller as JPEG, and usually as PNG.
    private static let maximumBytes = 64 * 1024 * 1024

    /// The text of the first code that `PairingCode.parse` accepts.
    ///
    /// - Throws: `sourceNotFound`, `sourceUnreadable` (not a picture, damaged, too large), `pairingCodeInvalid` (no QR code,
    ///   or only others; their text is not repeated, it is a stranger's), or what `PairingCode.parse` says about a code
    ///   of Gantry that cannot be used.
    package static func scan(path: String) throws(GantryError) -> String {
        let texts = try codes(path: path)
        if let code = QRScanner.validCode(among: texts) { return code }
        if let code = texts.first(where: QRScanner.isGantry) {
            // Throws what is wrong with it.
            _ = try PairingCode.parse(code)
        }
        if texts.isEmpty {
            throw GantryError(
                .pairingCodeInvalid,
                "No QR code was found in \(path). Take the picture again: the whole code with its white border, sharp and straight."
            )
        }
        throw GantryError(
            .pairingCodeInvalid,
            "\(path) holds a QR code, but not one of Gantry. Show the code with: gantry-studio pair")
    }

    /// The texts of all QR codes in the file.
    static func codes(path: String) throws(GantryError) -> [String] {
        let image = try gray(try decode(path: path), path: path)
        guard let luma = image.frame.pointee.data.0 else { return [] }
        return try QRScanner().scan(
            luma: luma, width: Int(image.frame.pointee.width), height: Int(image.frame.pointee.height),
            stride: Int(image.frame.pointee.linesize.0))
    }

    private static func decode(path: String) throws(GantryError) -> LibAVFrame {
        silenceLibAV()
        let bytes = try contents(of: path)
        guard let codec = codec(of: bytes) else {
            throw GantryError(
                .sourceUnreadable, "\(path) is not a picture that can be read. Save it as PNG or JPEG and try again.")
        }
        guard let decoder = avcodec_find_decoder(codec), let context = avcodec_alloc_context3(decoder),
            let packet = av_packet_alloc()
        else { throw GantryError(.unsupportedCodec, "The FFmpeg libraries here cannot read this kind of picture.") }
        var freedContext: UnsafeMutablePointer<AVCodecContext>? = context
        var freedPacket: UnsafeMutablePointer<AVPacket>? = packet
        defer {
            avcodec_free_context(&freedContext)
            av_packet_free(&freedPacket)
        }
        context.pointee.max_pixels = Int64(Picture.maximumSide * Picture.maximumSide)
        context.pointee.thread_count = 1
        let frame = try LibAVFrame()
        var status = av_new_packet(packet, CInt(clamping: bytes.count))
        if status >= 0, let data = packet.pointee.data {
            UnsafeMutableRawBufferPointer(start: data, count: bytes.count).copyBytes(from: bytes)
            status = avcodec_open2(context, decoder, nil)
        }
        if status >= 0 { status = avcodec_send_packet(context, packet) }
        if status >= 0 { status = avcodec_send_packet(context, nil) }
        if status >= 0 { status = avcodec_receive_frame(context, frame.frame) }
        guard status >= 0 else {
            throw GantryError(
                .sourceUnreadable,
                "The picture \(path) is damaged, or larger than \(Picture.maximumSide)x\(Picture.maximumSide). Take it again, or make it smaller.",
                cause: libAVText(status))
        }
        return frame
    }

    private static func gray(_ source: LibAVFrame, path: String) throws(GantryError) -> LibAVFrame {
        let (width, height) = (source.frame.pointee.width, source.frame.pointee.height)
        let sides = 1...CInt(Picture.maximumSide)
        guard sides ~= width, sides ~= height else {
            throw GantryError(
                .sourceUnreadable,
                "The picture \(path) is \(width)x\(height): at most \(Picture.maximumSide) pixels a side are read. Make it smaller."
            )
        }
        let format = AVPixelFormat(rawValue: source.frame.pointee.format)
        let isTransparent = (av_pix_fmt_desc_get(format)?.pointee.flags ?? 0) & UInt64(AV_PIX_FMT_FLAG_ALPHA) != 0
        let target = isTransparent ? AV_PIX_FMT_YA8 : AV_PIX_FMT_GRAY8
        let image = try LibAVFrame(width: Int(width), height: Int(height), format: target)
        guard let scaler = sws_getContext(width, height, format, width, height, target, SWS_BILINEAR, nil, nil, nil)
        else {
            throw GantryError(
                .sourceUnreadable, "The picture \(path) has colours that cannot be read. Save it as PNG.")
        }
        defer { sws_freeContext(scaler) }
        sws_scale_frame(scaler, image.frame, source.frame)
        if isTransparent { layOnWhite(image) }
        return image
    }

    /// Codes are often drawn on nothing: pairs of grey and alpha become grey on white, at the front of each row.
    private static func layOnWhite(_ image: LibAVFrame) {
        guard let base = image.frame.pointee.data.0 else { return }
        let stride = Int(image.frame.pointee.linesize.0)
        for y in 0..<Int(image.frame.pointee.height) {
            let row = base + y * stride
            for x in 0..<Int(image.frame.pointee.width) {
                let (gray, alpha) = (Int(row[2 * x]), Int(row[2 * x + 1]))
                row[x] = UInt8(clamping: (gray * alpha + 255 * (255 - alpha)) / 255)
            }
        }
    }

    private static func contents(of path: String) throws(GantryError) -> [UInt8] {
        do throws(SystemError) {
            let file = FileDescriptor(
                takingOwnership: try syscall("open") { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) })
            var bytes: [UInt8] = []
            let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)
            defer { chunk.deallocate() }
            while case .bytes(let count) = try file.read(into: chunk) {
                bytes += chunk[..<count]
                if bytes.count > maximumBytes { break }
            }
            if bytes.count <= maximumBytes { return bytes }
        } catch {
            switch error.errno {
            case ENOENT, ENOTDIR:
                throw GantryError(
                    .sourceNotFound, "There is no file \(path). Look at the folder with: ls", cause: error.description)
            case EISDIR:
                throw GantryError(.sourceUnreadable, "\(path) is a folder. Give the name of a picture file.")
            default:
                throw GantryError(
                    .sourceUnreadable, "\(path) cannot be read. Look at its permissions with: ls -l",
                    cause: error.description)
            }
        }
        throw GantryError(.sourceUnreadable, "\(path) is larger than 64 MB. Make the picture smaller and try again.")
    }

    /// By the first bytes, never by the name.
    private static func codec(of bytes: [UInt8]) -> AVCodecID? {
        if bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) { return AV_CODEC_ID_PNG }
        if bytes.starts(with: [0xff, 0xd8, 0xff]) { return AV_CODEC_ID_MJPEG }
        if bytes.starts(with: Array("BM".utf8)), bytes.count > 26 { return AV_CODEC_ID_BMP }
        if bytes.starts(with: Array("RIFF".utf8)), bytes.dropFirst(8).starts(with: Array("WEBP".utf8)) {
            return AV_CODEC_ID_WEBP
        }
        return nil
    }
}
