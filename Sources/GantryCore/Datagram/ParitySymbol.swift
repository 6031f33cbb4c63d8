/// What parity is computed over: the parts of a packet that its neighbours do not tell.
///
/// ```
///  0        2       3
/// +--------+-------+---------------------------------------+-----------+-------+
/// |  size  | first | unit header, 24, when `first` is 1    |  payload  | zeros |
/// +--------+-------+---------------------------------------+-----------+-------+
/// ```
/// `size` is that of the payload. All symbols of a block are as long as the longest.
enum ParitySymbol {
    static let extra = 3

    /// Writes the symbol of a packet; returns its length without zeros.
    static func write(
        _ packet: UnsafeRawBufferPointer, payload: Int, isFirst: Bool, to symbol: UnsafeMutableRawBufferPointer
    ) -> Int {
        symbol.storeBigEndian(UInt16(truncatingIfNeeded: payload), at: 0)
        symbol[2] = isFirst ? 1 : 0
        var used = extra
        if isFirst {
            symbol.part(used, UnitHeader.size).copyMemory(
                from: packet.part(MediaDatagram.plainPrefix + 2, UnitHeader.size))
            used += UnitHeader.size
        }
        symbol.part(used, payload).copyMemory(from: packet.part(MediaDatagram.prefix(isFirst: isFirst), payload))
        return used + payload
    }

    /// As above, from its parts; there is room for them.
    static func write(
        _ payload: UnsafeRawBufferPointer, header: UnsafeRawBufferPointer?, to symbol: UnsafeMutableRawBufferPointer
    ) -> Int {
        symbol.storeBigEndian(UInt16(truncatingIfNeeded: payload.count), at: 0)
        symbol[2] = header == nil ? 0 : 1
        var used = extra
        if let header {
            symbol.part(used, header.count).copyMemory(from: header)
            used += header.count
        }
        symbol.part(used, payload.count).copyMemory(from: payload)
        return used + payload.count
    }

    /// Fills with zeros up to `size`.
    static func pad(_ symbol: UnsafeMutableRawBufferPointer, to size: Int) {
        let end = length(UnsafeRawBufferPointer(symbol))
        guard end < size, size <= symbol.count else { return }
        UnsafeMutableRawBufferPointer(rebasing: symbol[end..<size]).initializeMemory(as: UInt8.self, repeating: 0)
    }

    /// Of a symbol, without zeros; a damaged one gives anything.
    private static func length(_ symbol: UnsafeRawBufferPointer) -> Int {
        extra + (symbol[2] == 1 ? UnitHeader.size : 0) + Int(symbol.bigEndian(at: 0, as: UInt16.self))
    }

    /// The unit header and payload that a recovered symbol holds; nil when it is damaged.
    static func read(
        _ symbol: UnsafeRawBufferPointer, size: Int
    ) -> (header: UnitHeader?, payload: UnsafeRawBufferPointer)? {
        guard size >= extra, size <= symbol.count, symbol[2] <= 1 else { return nil }
        let start = extra + (symbol[2] == 1 ? UnitHeader.size : 0)
        let end = length(symbol)
        guard start < end, end <= size else { return nil }
        let header = symbol[2] == 1 ? UnitHeader(symbol.part(extra, UnitHeader.size)) : nil
        return (header, symbol.part(start, end - start))
    }
}
