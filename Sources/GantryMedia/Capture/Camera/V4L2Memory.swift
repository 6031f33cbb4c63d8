import GantryCore
import GantryPlatform
import Glibc

/// The buffers of a camera, mapped into our memory. Owned by one thread; unmapped and given back with its owner.
final class V4L2Memory {
    private let device: V4L2Device
    private var maps: [UnsafeMutableRawBufferPointer] = []

    /// One being filled, one filled, one being read, one to spare.
    private static let wanted = 4
    /// More than a driver needs; bounds what a faulty one could make us map.
    private static let most = 32

    var count: Int { maps.count }

    /// - Throws: EBUSY when another program streams; ENOMEM.
    init(_ device: V4L2Device) throws(SystemError) {
        self.device = device
        let count = try device.requestBuffers(Self.wanted)
        guard 1...Self.most ~= count else { throw SystemError(errno: ENOMEM, during: "VIDIOC_REQBUFS") }
        for index in 0..<count {
            let place = try device.buffer(index)
            let memory = mmap(nil, place.length, PROT_READ | PROT_WRITE, MAP_SHARED, device.rawValue, place.offset)
            guard place.length > 0, let memory, memory != MAP_FAILED else {
                throw SystemError(errno: errno, during: "mmap")
            }
            maps.append(UnsafeMutableRawBufferPointer(start: memory, count: place.length))
        }
    }

    func holds(_ index: Int) -> Bool { maps.indices ~= index }

    /// The bytes of a filled buffer; nil for an index that the driver invented.
    func bytes(_ filled: V4L2Device.Filled) -> UnsafeRawBufferPointer? {
        guard maps.indices ~= filled.index else { return nil }
        let map = maps[filled.index]
        // Drivers of raw formats may leave the count at 0: then all of it is meant.
        let count = filled.count > 0 ? min(filled.count, map.count) : map.count
        return UnsafeRawBufferPointer(start: map.baseAddress, count: count)
    }

    deinit {
        for map in maps { munmap(map.baseAddress, map.count) }
        do throws(SystemError) { _ = try device.requestBuffers(0) } catch {}
    }
}
