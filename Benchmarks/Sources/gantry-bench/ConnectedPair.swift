import Foundation
import ProducerKit
import StudioKit
import Synchronization

/// A producer and a studio in this process, paired by the code in memory and connected over TLS on loopback.
final class ConnectedPair {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let producer: ProducerController
    let studio: StudioController
    let session: StudioSession
    let output = MeasuringOutput()
    private let folder: URL

    /// - Parameter overUDP: media from the beginning.
    init(overUDP: Bool = false) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "gantry-bench-\(getpid())-\(overUDP)")
        producer = try ProducerController(
            configuration: ProducerConfiguration(
                name: "bench", port: 0, stateDirectory: folder.appendingPathComponent("producer").path,
                video: .init(bitrate: Floor.bitrate, sourceName: "bench"), audio: nil))
        studio = try StudioController(
            configuration: StudioConfiguration(
                name: "bench", stateDirectory: folder.appendingPathComponent("studio").path))
        try Self.pair(producer, studio)
        try producer.start()
        guard let port = producer.port else { throw Failure(description: "the producer has no port") }
        var configuration = StudioSessionConfiguration()
        configuration.videoOutputs = [output]
        configuration.transport = overUDP ? .udp : .auto
        session = studio.makeSession(try studio.target("127.0.0.1:\(port)"), configuration: configuration)
        try session.start()
        let deadline = Clock.now() + 10_000_000
        while producer.statistics.connections == 0 {
            guard Clock.now() < deadline else { throw Failure(description: "the studio did not connect") }
            Clock.sleep(until: Clock.now() + 10_000)
        }
    }

    func close() {
        session.close()
        session.waitUntilEnded()
        producer.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    private static func pair(_ producer: ProducerController, _ studio: StudioController) throws {
        let window = try studio.beginPairing(address: "127.0.0.1")
        let code = window.code
        let thread = Thread { _ = try? window.run() }
        thread.start()
        let paired = DispatchSemaphore(value: 0)
        // Told before the semaphore is signalled.
        nonisolated(unsafe) var result: Result<PairedDevice, GantryError>?
        producer.pairStudio(
            withQRCodeData: code,
            completion: { end in
                result = end
                paired.signal()
            })
        paired.wait()
        _ = try result?.get()
        window.cancel()
    }

    /// Hands in one picture; false when the producer had no room.
    func send(_ picture: MovingPicture, _ index: Int) throws -> Bool {
        try producer.enqueueVideo(
            bgra: picture.pixels(index), width: picture.width, height: picture.height, stride: picture.stride,
            captureTime: .init(microseconds: Clock.now()))
    }

    /// The same for I420 without padding, of the size of `picture`.
    func send(i420: UnsafeRawBufferPointer, of picture: MovingPicture) throws -> Bool {
        var frame = CapturedFrame(.i420, width: picture.width, height: picture.height, bytes: i420)
        frame.captureTime = .init(microseconds: Clock.now())
        return try producer.enqueueVideo(frame)
    }
}

/// Notes when decoded frames come. Nothing is allocated for a frame.
final class MeasuringOutput: VideoOutput, @unchecked Sendable {  // Written by the decoding thread, before `counter`.
    private static let capacity = 1 << 16
    private let total = UnsafeMutablePointer<Int64>.allocate(capacity: capacity)
    private let decode = UnsafeMutablePointer<Int64>.allocate(capacity: capacity)
    private let counter = Atomic(0)

    deinit {
        total.deallocate()
        decode.deallocate()
    }

    var returnsAtOnce: Bool { true }
    func receive(_ frame: VideoFrame) {
        let now = Clock.now()
        let index = counter.load(ordering: .relaxed)
        guard index < Self.capacity else { return }
        total[index] = now - frame.captureTime.microseconds
        decode[index] = now - frame.arrivalTime.microseconds
        counter.store(index + 1, ordering: .releasing)
    }

    func videoEnded() {}

    var count: Int { counter.load(ordering: .acquiring) }

    /// Capture to here, and arrival of the last byte to here, from frame `start` on.
    func samples(from start: Int) -> (total: Samples, decode: Samples) {
        var result = (total: Samples(), decode: Samples())
        for index in start..<max(start, count) {
            result.total.add(total[index])
            result.decode.add(decode[index])
        }
        return result
    }
}
