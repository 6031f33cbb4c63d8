import CISAL
import GantryCore

/// Reed–Solomon over GF(256) with a Cauchy matrix, by ISA-L (SIMD). The matrix is that of `gf_gen_cauchy1_matrix`: the element of parity
/// row p and data column j is the inverse of (data + p) XOR j, in the field of polynomial 0x11D.
package final class ISALErasureCode: ErasureCode {
    private static let most = DatagramLimits.blockData + DatagramLimits.blockParity

    private let matrix: UnsafeMutablePointer<UInt8>
    private let chosen: UnsafeMutablePointer<UInt8>
    private let inverse: UnsafeMutablePointer<UInt8>
    /// 32 bytes for each element of the rows that are computed.
    private let tables: UnsafeMutablePointer<UInt8>
    private let sources: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>
    private let results: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>

    package init() {
        let most = Self.most
        matrix = .allocate(capacity: most * most)
        chosen = .allocate(capacity: most * most)
        inverse = .allocate(capacity: most * most)
        tables = .allocate(capacity: 32 * most * most)
        sources = .allocate(capacity: most)
        results = .allocate(capacity: most)
        sources.initialize(repeating: nil, count: most)
        results.initialize(repeating: nil, count: most)
    }

    deinit {
        matrix.deallocate()
        chosen.deallocate()
        inverse.deallocate()
        tables.deallocate()
        sources.deallocate()
        results.deallocate()
    }

    private func fits(
        _ symbols: UnsafeMutableRawBufferPointer, _ stride: Int, _ size: Int, _ data: Int, _ parity: Int
    ) -> UnsafeMutablePointer<UInt8>? {
        guard 1...DatagramLimits.blockData ~= data, 1...DatagramLimits.blockParity ~= parity, size > 0, size <= stride,
            symbols.count >= (data + parity) * stride
        else { return nil }
        return symbols.baseAddress?.assumingMemoryBound(to: UInt8.self)
    }

    package func encode(
        _ symbols: UnsafeMutableRawBufferPointer, stride: Int, size: Int, data: Int, parity: Int
    ) -> Bool {
        guard let base = fits(symbols, stride, size, data, parity) else { return false }
        gf_gen_cauchy1_matrix(matrix, Int32(data + parity), Int32(data))
        ec_init_tables(Int32(data), Int32(parity), matrix + data * data, tables)
        for index in 0..<data { sources[index] = base + index * stride }
        for index in 0..<parity { results[index] = base + (data + index) * stride }
        ec_encode_data(Int32(size), Int32(data), Int32(parity), tables, sources, results)
        return true
    }

    package func recover(
        _ symbols: UnsafeMutableRawBufferPointer, stride: Int, size: Int, data: Int, parity: Int, present: [Bool]
    ) -> Bool {
        guard let base = fits(symbols, stride, size, data, parity), present.count >= data + parity else { return false }
        gf_gen_cauchy1_matrix(matrix, Int32(data + parity), Int32(data))
        // The rows of the first symbols that are there, as many as there are data symbols.
        var rows = 0
        for index in 0..<data + parity where present[index] && rows < data {
            (chosen + rows * data).update(from: matrix + index * data, count: data)
            sources[rows] = base + index * stride
            rows += 1
        }
        guard rows == data, gf_invert_matrix(chosen, inverse, Int32(data)) == 0 else { return false }
        var missing = 0
        for index in 0..<data where !present[index] {
            // `matrix` is done with: it takes the rows that give the missing symbols.
            (matrix + missing * data).update(from: inverse + index * data, count: data)
            results[missing] = base + index * stride
            missing += 1
        }
        guard missing > 0 else { return true }
        ec_init_tables(Int32(data), Int32(missing), matrix, tables)
        ec_encode_data(Int32(size), Int32(data), Int32(missing), tables, sources, results)
        return true
    }
}
