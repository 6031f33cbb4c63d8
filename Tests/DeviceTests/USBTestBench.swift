import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import GantryTransport
import Glibc

/// A gadget made by hand in configfs, on a controller of dummy_hcd. What blocks is called on a thread of its own.
final class TestGadget: @unchecked Sendable {  // Set in `init`; the files are the kernel's.
    static let controllers = ["dummy_udc.0", "dummy_udc.1"]

    let serial: String
    let mount: String
    let controller: String
    private let folder: String

    /// Loads the drivers where they are missing, makes the gadget and mounts its FunctionFS.
    init(controller: String = controllers[0], ids: (String, String) = ("0x1209", "0x0001")) throws {
        self.controller = controller
        if !FileManager.default.fileExists(atPath: "/sys/class/udc/\(controller)") {
            try Self.shell("modprobe dummy_hcd num=2")
        }
        try Self.shell("modprobe libcomposite; modprobe usb_f_fs")
        let name = "t" + String(UUID().uuidString.prefix(8))
        serial = name
        folder = "/sys/kernel/config/usb_gadget/" + name
        mount = NSTemporaryDirectory() + "/ffs-" + name
        for path in [
            folder, folder + "/strings/0x409", folder + "/configs/c.1", folder + "/functions/ffs.\(name)", mount,
        ] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        try write(ids.0, "idVendor")
        try write(ids.1, "idProduct")
        try write(serial, "strings/0x409/serialnumber")
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/configs/c.1/ffs.\(name)", withDestinationPath: folder + "/functions/ffs.\(name)")
        try Self.shell("mount -t functionfs \(name) \(mount)")
    }

    func bind() throws { try write(controller, "UDC") }
    func unbind() throws { try write("\n", "UDC") }

    /// Away with it. The function has been stopped, or its process is dead.
    func remove() {
        try? unbind()
        _ = try? Self.shell(
            """
            umount -l \(mount); cd \(folder) || exit 0
            rm -f configs/c.1/ffs.\(serial); rmdir configs/c.1 functions/* strings/*; cd /; rmdir \(folder) \(mount)
            """)
    }

    private func write(_ text: String, _ name: String) throws {
        let path = folder + "/" + name
        let file = FileDescriptor(takingOwnership: try syscall("open \(path)") { open(path, O_WRONLY | O_CLOEXEC) })
        _ = try syscall("write \(path)") { Glibc.write(file.rawValue, text, text.utf8.count) }
    }

    @discardableResult
    static func shell(_ command: String) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", command]
        process.standardInput = FileHandle.nullDevice
        try process.runUnblocked()
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Waits until the host has enumerated it. Blocks.
    func found(notAt address: UInt8? = nil, within limit: MediaDuration = patience) throws -> USBDevice {
        let end = MonotonicClock.now() + limit
        while MonotonicClock.now() < end {
            if let device = USBScan.now().devices.first(where: { $0.serial == serial && $0.address != address }) {
                return device
            }
            usleep(5000)
        }
        throw GantryError(.usbNotFound, "\(serial) was not found")
    }

    /// A parameter of dummy_hcd.
    static func isSet(_ parameter: String) -> Bool {
        (try? String(contentsOfFile: "/sys/module/dummy_hcd/parameters/\(parameter)", encoding: .utf8))?.hasPrefix("Y")
            == true
    }
}

/// A producer of the tests: it sends back what comes.
final class EchoingProducer: Sendable {
    struct Seen: Sendable {
        var states: [FunctionFSFunction.State] = []
        var begun = 0
        var ended = 0
    }

    let seen: Watched<Seen>
    let function: FunctionFSFunction

    init(_ gadget: TestGadget) throws {
        let seen = Watched(Seen())
        self.seen = seen
        function = try FunctionFSFunction(
            mount: gadget.mount, onState: { state in seen.change { $0.states.append(state) } },
            onLink: { link in
                seen.change { $0.begun += 1 }
                Thread.detachNewThread {
                    Self.echo(link)
                    seen.change { $0.ended += 1 }
                }
            })
        try function.start()
    }

    private static func echo(_ link: BulkLink) {
        var buffer = [UInt8](repeating: 0, count: 16384)
        while true {
            switch buffer.withUnsafeMutableBytes({ try? link.read(into: $0) }) {
            case .bytes(let count): if !send(buffer[..<count], link) { return }
            case .wouldBlock: wait(link, POLLIN)
            case .endOfFile, nil: return
            }
        }
    }

    private static func send(_ bytes: ArraySlice<UInt8>, _ link: BulkLink) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            switch rest.withUnsafeBytes({ try? link.write($0) }) {
            case .bytes(let count): rest = rest.dropFirst(count)
            case .wouldBlock: wait(link, link.roomEvents)
            case .endOfFile, nil: return false
            }
        }
        return true
    }

    private static func wait(_ link: BulkLink, _ event: CInt) {
        var waiting = pollfd(fd: link.pollDescriptor, events: Int16(event), revents: 0)
        _ = poll(&waiting, 1, -1)
    }
}

/// What a process holds that could leak.
struct Holdings: CustomStringConvertible {
    let descriptors: Int
    let threads: Int
    /// Resident.
    let kibibytes: Int

    /// - Parameter process: its number, or "self".
    static func now(of process: String = "self") -> Holdings {
        func count(_ path: String) -> Int { (try? FileManager.default.contentsOfDirectory(atPath: path))?.count ?? 0 }
        let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let resident = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }?.split(separator: " ").dropFirst()
        return Holdings(
            descriptors: count("/proc/\(process)/fd"), threads: count("/proc/\(process)/task"),
            kibibytes: resident?.first.flatMap { Int($0) } ?? 0)
    }

    var description: String { "\(descriptors) descriptors, \(threads) threads, \(kibibytes) KiB" }
}
