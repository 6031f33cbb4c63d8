/// DATA_CREDIT (14): the sender of DATA may go on.
package struct DataCredit: Hashable, Sendable {
    /// Field 1, u64: what the receiver has taken of a connection's DATA so far, as `DataWindow` counts.
    package var taken: UInt64

    package init(taken: UInt64) { self.taken = taken }

    init(_ reader: inout TLVReader) throws(GantryError) { taken = try reader.required(1) }

    func encode() -> [UInt8] {
        var writer = TLVWriter()
        writer.number(1, taken)
        return writer.payload
    }
}
