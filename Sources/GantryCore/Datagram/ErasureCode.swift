/// A systematic Reed–Solomon code over blocks of symbols of one size: any `data` of the `data + parity` symbols give the data back.
///
/// Used by one thread. Symbols lie `stride` bytes apart, data first, then parity.
package protocol ErasureCode: AnyObject {
    /// Computes the parity symbols from the data. False when the numbers are over the limits of `DatagramLimits`.
    func encode(_ symbols: UnsafeMutableRawBufferPointer, stride: Int, size: Int, data: Int, parity: Int) -> Bool

    /// Computes the missing data symbols in place. `present` has an entry for each symbol. False when too many are missing.
    func recover(
        _ symbols: UnsafeMutableRawBufferPointer, stride: Int, size: Int, data: Int, parity: Int, present: [Bool]
    ) -> Bool
}

/// Encryption of outgoing packets, in place. Used by one thread.
package protocol PacketProtection: AnyObject {
    /// Protects the first `count` bytes and returns how many there are then; nil when it fails. Behind them is room for
    /// `DatagramLimits.controlProtection` more.
    func protect(_ packet: UnsafeMutableRawBufferPointer, count: Int) -> Int?
}
