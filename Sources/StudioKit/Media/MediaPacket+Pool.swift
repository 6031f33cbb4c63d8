import GantryPlatform

extension MediaPacket {
    /// Itself with the bytes; where that is out of the ordinary, another one in memory of its own, which goes with it: the pool
    /// would keep it in each of its packets, and there are hundreds.
    func appending(_ bytes: UnsafeRawBufferPointer) -> MediaPacket {
        guard count <= Self.keptCapacity, count + bytes.count > Self.keptCapacity else {
            append(bytes)
            return self
        }
        let large = MediaPacket(capacity: 2 * Self.keptCapacity)
        large.append(self.bytes)
        large.append(bytes)
        return large
    }
}
