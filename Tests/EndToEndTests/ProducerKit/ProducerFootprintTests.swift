import Foundation
import GantryPlatform
import GantryTestSupport
import Glibc
import ProducerKit
import Testing

extension EndToEnd {
    /// In processes of their own, where nothing else runs.
    @Suite struct ProducerFootprintTests {
        @Test("C1: before start() no thread runs and less than 1 MB is held; C10: no device is opened, ever")
        func beforeStart() async throws {
            await #expect(processExitsWith: .success) {
                Isolation.apply()
                let folder = try TestFolder()
                /// Resident memory that is its own: statm's resident minus shared pages (proc(5)).
                func ownMemory() -> Int {
                    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
                    let pages = text.split(separator: " ").compactMap { Int($0) }
                    return pages.count > 2 ? (pages[1] - pages[2]) * Int(sysconf(CInt(_SC_PAGESIZE))) : -1
                }
                func controller(_ name: String) throws -> ProducerController {
                    try ProducerController(
                        configuration: ProducerConfiguration(name: name, port: 0, stateDirectory: folder.file(name)))
                }
                // The libraries' own beginning (OpenSSL, SQLite) is there once for all.
                _ = try controller("first")
                let process = ProcessView(getpid())
                let (threads, memory) = (process.threadCount, ownMemory())
                let second = try controller("second")
                #expect(process.threadCount == threads)
                #expect(memory > 0 && ownMemory() - memory < 1 << 20, "\(ownMemory() - memory) bytes")
                #expect(process.listeningPorts.isEmpty)
                try second.start()
                #expect(waitUntil { !process.listeningPorts.isEmpty } && process.threadCount > threads)
                let devices = process.openFiles.filter { file in
                    ["/dev/video", "/dev/snd", "/dev/media", "/dev/bus/usb"].contains { file.hasPrefix($0) }
                }
                #expect(devices.isEmpty)
                second.stop()
                #expect(waitUntil { process.threadCount <= threads + 2 }, "\(process.threadCount) after \(threads)")
            }
        }
    }
}
