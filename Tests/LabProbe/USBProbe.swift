import Foundation
import GantryCore
import GantryPlatform
import GantryTransport
import Glibc

/// One end of a USB cable as a process of its own, which a test can kill.
enum USBProbe {
    /// Nil when it is no command of USB.
    static func run(_ arguments: [String]) -> Int32? {
        switch (arguments.first, arguments.count) {
        case ("usb-device", 2): device(mount: arguments[1])
        case ("usb-host", 2): host(serial: arguments[1])
        case ("usb-bench", 3): USBBench.run(serial: arguments[1], seconds: Int64(arguments[2]) ?? 3)
        default: nil
        }
    }

    /// Answers on a FunctionFS mount until it is killed. The first byte of a session says what it does.
    static func device(mount: String) -> Int32 {
        do throws(GantryError) {
            let function = try FunctionFSFunction(
                mount: mount, onState: { state in line("state \(state)") },
                onLink: { link in
                    line("link")
                    Thread.detachNewThread { line("ended \(serve(link))") }
                })
            try function.start()
            line("ready")
            while true { pause() }
        } catch {
            StandardStreams.writeError("\(error)\n")
            return 1
        }
    }

    /// Opens the producer with that serial number, and streams to it without end.
    static func host(serial: String) -> Int32 {
        do throws(GantryError) {
            guard let device = USBScan.now().devices.first(where: { $0.serial == serial }) else {
                throw GantryError(.usbNotFound, "There is no USB producer \(serial).")
            }
            let link = try USBHost.open(device)
            line("open")
            let bytes = [UInt8](repeating: 0x55, count: 20_000)
            var buffer = [UInt8](repeating: 0, count: 65536)
            while true {
                switch bytes.withUnsafeBytes({ try? link.write($0) }) {
                case .bytes: continue
                case .wouldBlock: wait(link, link.roomEvents)
                case .endOfFile, nil: throw GantryError(.peerLost, "The link has ended.")
                }
                _ = buffer.withUnsafeMutableBytes { try? link.read(into: $0) }
            }
        } catch {
            StandardStreams.writeError("\(error)\n")
            return 1
        }
    }

    /// "T": sends without end. "L": sends access units at a steady rate. Another: sends back what comes. Returns how
    /// many bytes came.
    private static func serve(_ link: any Link) -> Int {
        guard let first = USBBench.first(link) else { return 0 }
        switch first {
        case UInt8(ascii: "T"): return USBBench.flood(link)
        case UInt8(ascii: "L"): return USBBench.accessUnits(link)
        case UInt8(ascii: "S"): return drain(link)
        default: return USBBench.write([first], link) ? 1 + echo(link) : 1
        }
    }

    /// Sends back what comes. Returns how many bytes came.
    static func echo(_ link: any Link) -> Int {
        var total = 0
        var buffer = [UInt8](repeating: 0, count: 16384)
        while true {
            switch buffer.withUnsafeMutableBytes({ try? link.read(into: $0) }) {
            case .bytes(let count):
                total += count
                var start = 0
                while start < count {
                    let piece = buffer.withUnsafeBytes {
                        try? link.write(UnsafeRawBufferPointer(rebasing: $0[start..<count]))
                    }
                    switch piece {
                    case .bytes(let some): start += some
                    case .wouldBlock: wait(link, link.roomEvents)
                    case .endOfFile, nil: return total
                    }
                }
            case .wouldBlock: wait(link, POLLIN)
            case .endOfFile, nil: return total
            }
        }
    }

    static func drain(_ link: any Link) -> Int {
        var total = 0
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            wait(link, POLLIN)
            switch buffer.withUnsafeMutableBytes({ try? link.read(into: $0) }) {
            case .bytes(let count): total += count
            case .wouldBlock: break
            case .endOfFile, nil: return total
            }
        }
    }

    static func wait(_ link: any Link, _ event: CInt) {
        var waiting = pollfd(fd: link.pollDescriptor, events: Int16(event), revents: 0)
        _ = poll(&waiting, 1, -1)
    }

    static func line(_ text: String) { StandardStreams.writeOutput("\(text)\n") }
}
