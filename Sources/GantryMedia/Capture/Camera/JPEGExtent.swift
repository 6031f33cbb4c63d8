/// Where the JPEG picture in a camera's buffer ends (ITU-T T.81, B.1.1.3: FF D8 begins a picture, FF D9 ends it).
struct JPEGExtent: Equatable {
    /// Without the zeros with which drivers fill up.
    let count: Int
    /// False when a camera has left out the mark of the end and the driver has filled up, which decoders can bear.
    let hasEnd: Bool

    /// Nil for what does not begin as a picture, or breaks off in the middle.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 4, bytes[0] == 0xff, bytes[1] == 0xd8 else { return nil }
        var end = bytes.count
        while end > 2, bytes[end - 1] == 0 { end -= 1 }
        hasEnd = end >= 4 && bytes[end - 2] == 0xff && bytes[end - 1] == 0xd9
        guard hasEnd || end > 2 && bytes.count - end >= 2 else { return nil }
        count = end
    }
}
