import GantryCore
import GantryMedia
import GantryPlatform
import StudioKit

/// Reads a virtual camera as any program does, and writes down the time codes in its pictures. One thread, "vcam-reader".
final class LoopbackReader: @unchecked Sendable {  // `lastError` is guarded by `lock`, `thread` is set once in `init`.
    let path: String
    let log: LatencyLog
    private let stopping: EventDescriptor
    private let lock = Lock()
    private var lastError: GantryError?
    private var thread: NamedThread?

    private static let pause = MediaDuration.milliseconds(100)

    /// - Parameter capacity: pictures that there is room for.
    init(_ path: String, capacity: Int) throws(GantryError) {
        self.path = path
        log = LatencyLog(capacity: capacity)
        stopping = try EventDescriptor()
        thread = try NamedThread("vcam-reader") { [weak self] in self?.run() }
    }

    /// Why it cannot be read now.
    var failure: GantryError? { lock.withLock { lastError } }

    /// Ends the thread.
    func stop() {
        stopping.signal()
        thread?.join()
    }

    /// The device is a camera only once something has been written to it; until then opening it fails.
    private func run() {
        repeat {
            do throws(GantryError) {
                let camera = try CameraCapture(device: path, stopper: stopping)
                lock.withLock { lastError = nil }
                try camera.run { (picture) throws(GantryError) in
                    log.note(picture)
                    return true
                }
            } catch {
                lock.withLock { lastError = error }
            }
        } while !stopping.wait(for: Self.pause)
    }
}
