import CLibAV
package import GantryCore
import GantryPlatform
import Glibc
import Synchronization

/// YUV4MPEG2 from a descriptor, usually standard input, taken as it comes: each picture is stamped (capture and
/// presentation) when its last byte is in. Pictures of 8 bits 4:2:0 are read straight into pooled memory; other layouts
/// and full range go through `FrameConverter`.
///
/// `run` blocks one thread of the owner's; `stop` wakes it. Pictures that find all pooled ones in use are read and
/// dropped.
package final class Y4MSource: MediaSource, @unchecked Sendable {  // All but the atomics belongs to the running thread.
    package let info: MediaSourceInfo
    package let header: Y4MHeader
    private let reader: Y4MReader
    private let isStopped = Atomic(false)
    private let dropped = Atomic(0)
    private let pictures: ReusePool<Picture>
    private let fitter = FrameFitter(rotation: 0)
    /// Where frames go that cannot be read straight into a picture.
    private let frame: UnsafeMutablePointer<AVFrame>
    private let isDirect: Bool

    /// Waits for the header.
    ///
    /// - Parameter descriptor: Stays the caller's; must be open until `run` has returned.
    /// - Throws: `sourceUnreadable`, `unsupportedCodec`.
    package init(descriptor: CInt) throws(GantryError) {
        reader = try Y4MReader(descriptor: descriptor)
        header = try Self.readHeader(reader)
        let (width, height) = FrameFitter.evenSize(width: header.width, height: header.height, rotation: 0)
        var color = ColorDescription.assumed(forHeight: header.height)
        isDirect =
            header.layout == .yuv420 && !header.isFullRange && width == header.width && height == header.height
        pictures = ReusePool(capacity: 6) { Picture(format: .i420, width: width, height: height) }
        frame = try Self.makeFrame(header, color)
        color.isFullRange = false
        info = MediaSourceInfo(
            video: .init(width: width, height: height, frameRate: header.frameRate, color: color, codec: "raw"),
            isLive: true)
    }

    deinit {
        var frame: UnsafeMutablePointer<AVFrame>? = frame
        av_frame_free(&frame)
    }

    package func stop() {
        isStopped.store(true, ordering: .relaxed)
        reader.wake()
    }

    /// Pictures that came while all pooled ones were in use.
    package var droppedCount: Int { dropped.load(ordering: .relaxed) }

    package func run(start: MediaTimestamp, sink: some MediaSink) -> MediaSourceEnd {
        var index = 0
        while !isStopped.load(ordering: .relaxed) {
            switch readFrameLine() {
            case .complete: break
            case .endOfFile(after: 0): return .finished
            case let other: return end(other, index)
            }
            let picture = pictures.take()
            let outcome =
                if isDirect, let picture { readPlanes(into: picture) } else { readFrame() }
            guard case .complete = outcome else { return end(outcome, index) }
            index += 1
            let arrival = MonotonicClock.now()
            guard let picture else {
                dropped.add(1, ordering: .relaxed)
                continue
            }
            if !isDirect {
                do throws(GantryError) { try fitter.fit(frame, into: picture) } catch { return .endedEarly(error) }
            }
            picture.captureTime = arrival
            picture.presentationTime = arrival
            sink.video(picture)
        }
        return .stopped
    }

    private static func readHeader(_ reader: Y4MReader) throws(GantryError) -> Y4MHeader {
        var parser = Y4MHeaderParser()
        var byte: UInt8 = 0
        var hasBegun = false
        while true {
            guard case .complete = reader.fill(&byte, count: 1) else {
                if hasBegun { throw Y4MHeader.malformed("it ended before the first line was over") }
                throw GantryError(
                    .sourceUnreadable, "Nothing came in. Look at what the program says that should write the pictures.")
            }
            hasBegun = true
            if let header = try parser.feed(byte) { return header }
        }
    }

    /// "FRAME", parameters that are skipped, line feed.
    private func readFrameLine() -> Y4MReader.Outcome {
        var bytes: (UInt8, UInt8, UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 0, 0, 0)
        let outcome = reader.fill(&bytes, count: Self.marker.count + 1)
        guard case .complete = outcome else { return outcome }
        let isMarker = withUnsafeBytes(of: bytes) { $0.starts(with: Self.marker) }
        var (last, length) = (bytes.5, Self.marker.count + 1)
        while isMarker, length < Y4MHeader.maximumLength {
            if last == UInt8(ascii: "\n") { return .complete }
            let outcome = reader.fill(&last, count: 1)
            if case .endOfFile = outcome { return .endOfFile(after: length) }
            guard case .complete = outcome else { return outcome }
            length += 1
        }
        return .failed(SystemError(errno: EILSEQ, during: "read FRAME"))
    }

    private static let marker = Array("FRAME".utf8)

    private func readPlanes(into picture: Picture) -> Y4MReader.Outcome {
        for plane in 0..<3 {
            let outcome = readPlane(
                picture.plane(plane), stride: picture.stride(plane), rowBytes: picture.rowBytes(plane),
                rows: picture.rows(plane))
            guard case .complete = outcome else { return outcome }
        }
        return .complete
    }

    private func readPlane(
        _ target: UnsafeMutablePointer<UInt8>, stride: Int, rowBytes: Int, rows: Int
    ) -> Y4MReader.Outcome {
        if stride == rowBytes { return reader.fill(target, count: rowBytes * rows) }
        for row in 0..<rows {
            let outcome = reader.fill(target + row * stride, count: rowBytes)
            guard case .complete = outcome else { return outcome }
        }
        return .complete
    }

    /// Into `frame`, whose rows have no padding: one read for all planes.
    private func readFrame() -> Y4MReader.Outcome {
        guard let base = frame.pointee.data.0 else { return .stopped }
        return reader.fill(base, count: header.frameBytes)
    }

    private func end(_ outcome: Y4MReader.Outcome, _ index: Int) -> MediaSourceEnd {
        switch outcome {
        case .complete: .finished
        case .stopped: .stopped
        case .endOfFile:
            .endedEarly(
                GantryError(
                    .sourceUnreadable,
                    "The input ended in the middle of picture \(index + 1). Look whether the program "
                        + "that writes it has failed."))
        case .failed(let error):
            .endedEarly(
                GantryError(
                    .sourceUnreadable,
                    "Picture \(index + 1) of the input is not YUV4MPEG2. Look whether something else "
                        + "writes to the same pipe.", cause: error.description))
        }
    }

    private static func makeFrame(
        _ header: Y4MHeader, _ color: ColorDescription
    ) throws(GantryError) -> UnsafeMutablePointer<AVFrame> {
        guard let frame = av_frame_alloc() else { throw GantryError(.general, "There is no memory left.") }
        frame.pointee.width = CInt(header.width)
        frame.pointee.height = CInt(header.height)
        frame.pointee.format = pixelFormat(header.layout).rawValue
        frame.pointee.color_range = header.isFullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
        frame.pointee.colorspace = AVColorSpace(UInt32(color.matrix))
        let format = pixelFormat(header.layout)
        // One buffer for all planes without padding, and 64 bytes to spare: SIMD code may read past the last row.
        guard let buffer = av_buffer_allocz(header.frameBytes + 64) else {
            var frame: UnsafeMutablePointer<AVFrame>? = frame
            av_frame_free(&frame)
            throw GantryError(.general, "There is no memory left.")
        }
        frame.pointee.buf.0 = buffer
        withUnsafeMutablePointer(to: &frame.pointee.data) { data in
            withUnsafeMutablePointer(to: &frame.pointee.linesize) { lines in
                data.withMemoryRebound(to: UnsafeMutablePointer<UInt8>?.self, capacity: 8) { data in
                    lines.withMemoryRebound(to: CInt.self, capacity: 8) { lines in
                        _ = av_image_fill_arrays(
                            data, lines, buffer.pointee.data, format, CInt(header.width), CInt(header.height), 1)
                    }
                }
            }
        }
        return frame
    }

    private static func pixelFormat(_ layout: Y4MHeader.Layout) -> AVPixelFormat {
        switch layout {
        case .yuv420: AV_PIX_FMT_YUV420P
        case .yuv422: AV_PIX_FMT_YUV422P
        case .yuv444: AV_PIX_FMT_YUV444P
        case .mono: AV_PIX_FMT_GRAY8
        case .yuv420p10: AV_PIX_FMT_YUV420P10LE
        case .yuv422p10: AV_PIX_FMT_YUV422P10LE
        case .yuv444p10: AV_PIX_FMT_YUV444P10LE
        case .mono10: AV_PIX_FMT_GRAY10LE
        }
    }
}
