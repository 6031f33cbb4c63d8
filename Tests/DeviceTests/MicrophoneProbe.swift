import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import Testing

/// Runs in a process of its own, started by the tests above, and says what comes.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["GANTRY_PROBE"] != nil, "a part of MicrophoneTests"))
struct MicrophoneProbe {
    @Test func records() async throws {
        let name = ProcessInfo.processInfo.environment["GANTRY_PROBE"] ?? ""
        for microphone in MicrophoneList.all() {
            say("listed \(microphone.name) \(microphone.problem?.code.rawValue ?? 0)")
        }
        do {
            let source = try MicrophoneSource(name: name)
            let sink = SayingSink { say($0) }
            _ = try await onThread { source.run(start: MonotonicClock.now(), sink: sink) }
        } catch let error as GantryError {
            say("error \(error.code.rawValue) \(error)")
        }
    }

    private func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}

/// Says each second of sound, and each gap in the stamps in microseconds.
private final class SayingSink: MediaSink, @unchecked Sendable {  // Used by the one thread of the source.
    private let say: (String) -> Void
    private var next: MediaTimestamp?
    private var samples = 0

    init(_ say: @escaping (String) -> Void) { self.say = say }

    func video(_ picture: Picture) {}
    func waitForRoom(until deadline: MediaTimestamp) -> Bool { true }

    func audio(_ block: AudioBlock) {
        if let next, (block.presentationTime - next).microseconds.magnitude > 5000 {
            say("gap \((block.presentationTime - next).microseconds)")
        }
        next = block.presentationTime + .microseconds(Int64(block.count) * 1_000_000 / 48_000)
        let seconds = samples / 48_000
        samples += block.count
        if samples / 48_000 > seconds { say("second \(samples / 48_000)") }
    }
}
