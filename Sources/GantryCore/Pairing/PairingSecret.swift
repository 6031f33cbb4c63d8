/// The 16 random bytes of a pairing code. Zeroed when the last reference goes; never printed.
package final class PairingSecret: Sendable, CustomStringConvertible, CustomReflectable {
    // Written in `init` and `deinit` only.
    private nonisolated(unsafe) let memory: UnsafeMutableRawBufferPointer

    /// Nil unless exactly 16 bytes. The caller's own copy stays the caller's to zero.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == PairingLimits.secretSize else { return nil }
        memory = .allocate(byteCount: PairingLimits.secretSize, alignment: 8)
        memory.copyBytes(from: bytes)
    }

    deinit {
        Self.zero(memory)
        memory.deallocate()
    }

    /// Lends a copy that is zeroed afterwards; `body` must not keep it.
    package func withBytes<R>(_ body: ([UInt8]) throws(GantryError) -> R) throws(GantryError) -> R {
        var copy = Array(memory)
        defer { copy.withUnsafeMutableBytes { Self.zero($0) } }
        return try body(copy)
    }

    package var description: String { "PairingSecret" }
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// Not inlined and not optimised: else the compiler may leave out writes to memory that nobody reads again.
    @inline(never) @_optimize(none)
    package static func zero(_ memory: UnsafeMutableRawBufferPointer) {
        for index in memory.indices { memory[index] = 0 }
    }
}
