import Foundation
import GantryCore
import GantryPlatform
import GantryTransport
import Glibc

/// How fast a USB link is: what `Benchmarks/usb/floor.c` measures without us.
enum USBBench {
    /// As there.
    static let unitSize = 20_000
    private static let unitInterval = MediaDuration.milliseconds(20)

    /// The first byte of a session; nil when it ended before.
    static func first(_ link: any Link) -> UInt8? {
        var byte: [UInt8] = [0]
        while true {
            switch byte.withUnsafeMutableBytes({ try? link.read(into: $0) }) {
            case .bytes: return byte[0]
            case .wouldBlock: USBProbe.wait(link, POLLIN)
            case .endOfFile, nil: return nil
            }
        }
    }

    /// Writes all of it; false when the link has ended.
    static func write(_ bytes: [UInt8], _ link: any Link) -> Bool {
        var start = 0
        while start < bytes.count {
            switch bytes.withUnsafeBytes({ try? link.write(UnsafeRawBufferPointer(rebasing: $0[start...])) }) {
            case .bytes(let some): start += some
            case .wouldBlock: USBProbe.wait(link, link.roomEvents)
            case .endOfFile, nil: return false
            }
        }
        return true
    }

    static func flood(_ link: any Link) -> Int {
        let bytes = [UInt8](repeating: 0x5A, count: 65536)
        while write(bytes, link) {}
        return 0
    }

    /// Each begins with the time it was written at.
    static func accessUnits(_ link: any Link) -> Int {
        var unit = [UInt8](repeating: 0x5A, count: unitSize)
        var due = MonotonicClock.now()
        repeat {
            due = due + unitInterval
            MonotonicClock.sleep(until: due)
            withUnsafeBytes(of: MonotonicClock.now().microseconds.littleEndian) {
                unit.replaceSubrange(0..<8, with: $0)
            }
        } while write(unit, link)
        return 0
    }

    /// Prints megabytes per second each way, and milliseconds of an access unit.
    static func run(serial: String, seconds: Int64) -> Int32 {
        do throws(GantryError) {
            guard let device = USBScan.now().devices.first(where: { $0.serial == serial }) else {
                throw GantryError(.usbNotFound, "There is no USB producer \(serial).")
            }
            USBProbe.line("in \(try receive(device, seconds))")
            USBProbe.line("out \(try send(device, seconds))")
            let delays = try latency(device, count: Int(seconds) * 40)
            guard !delays.isEmpty else { throw GantryError(.general, "Nothing came.") }
            USBProbe.line("p50 \(delays[delays.count / 2])")
            USBProbe.line("p99 \(delays[delays.count * 99 / 100])")
            return 0
        } catch {
            StandardStreams.writeError("\(error)\n")
            return 1
        }
    }

    private static func receive(_ device: USBDevice, _ seconds: Int64) throws(GantryError) -> Double {
        let link = try USBHost.open(device)
        defer { link.close() }
        _ = write([UInt8(ascii: "T")], link)
        var buffer = [UInt8](repeating: 0, count: 65536)
        var total = 0
        let start = MonotonicClock.now()
        let end = start + .seconds(seconds)
        while MonotonicClock.now() < end {
            // As a carrier does it.
            USBProbe.wait(link, POLLIN)
            switch buffer.withUnsafeMutableBytes({ try? link.read(into: $0) }) {
            case .bytes(let count): total += count
            case .wouldBlock: break
            case .endOfFile, nil: throw GantryError(.peerLost, "The link has ended.")
            }
        }
        return Double(total) / Double((MonotonicClock.now() - start).microseconds)
    }

    private static func send(_ device: USBDevice, _ seconds: Int64) throws(GantryError) -> Double {
        let link = try USBHost.open(device)
        defer { link.close() }
        let bytes = [UInt8](repeating: 0x5A, count: 65536)
        _ = write([UInt8(ascii: "S")], link)
        var total = 0
        let start = MonotonicClock.now()
        let end = start + .seconds(seconds)
        while MonotonicClock.now() < end {
            guard write(bytes, link) else { throw GantryError(.peerLost, "The link has ended.") }
            total += bytes.count
        }
        return Double(total) / Double((MonotonicClock.now() - start).microseconds)
    }

    /// Milliseconds from before the write to the last byte, sorted.
    private static func latency(_ device: USBDevice, count: Int) throws(GantryError) -> [Double] {
        let link = try USBHost.open(device)
        defer { link.close() }
        _ = write([UInt8(ascii: "L")], link)
        var unit = [UInt8](repeating: 0, count: unitSize)
        var filled = 0
        var delays: [Double] = []
        while delays.count < count {
            let transfer = unit.withUnsafeMutableBytes { bytes in
                try? link.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[filled...]))
            }
            switch transfer {
            case .bytes(let some): filled += some
            case .wouldBlock: USBProbe.wait(link, POLLIN)
            case .endOfFile, nil: throw GantryError(.peerLost, "The link has ended.")
            }
            guard filled == unitSize else { continue }
            filled = 0
            let sent = unit.withUnsafeBytes { Int64(littleEndian: $0.loadUnaligned(as: Int64.self)) }
            delays.append(Double(MonotonicClock.now().microseconds - sent) / 1000)
        }
        return delays.sorted()
    }
}
