import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import ProducerKit

/// Plays a source into a producer, as `gantry-producer run` does, and notes which frames it gave.
final class SourceRun: MediaSink, Sendable {
    struct State: Sendable {
        /// Frame numbers by the time code, where the pictures carry one.
        var numbers: [UInt32] = []
        var frames = 0
        var samples = 0
        /// Copies of the pictures with these numbers.
        var kept: [UInt32: Picture] = [:]
        var end: MediaSourceEnd?
    }

    let state = Watched(State())
    private let producer: ProducerController
    private let keep: Set<UInt32>

    init(_ producer: ProducerController, keep: Set<UInt32> = []) {
        self.producer = producer
        self.keep = keep
    }

    /// Blocks nobody: comes back at the end of the source, when the last picture is with the encoder.
    @discardableResult
    func play(_ source: any MediaSource) async throws -> MediaSourceEnd {
        try await onThread {
            let end = source.run(start: MonotonicClock.now(), sink: self)
            _ = self.producer.waitForVideoRoom(until: MonotonicClock.now() + .seconds(5))
            self.state.change { $0.end = end }
            return end
        }
    }

    func video(_ picture: Picture) {
        // Nothing is displaced on a machine that is busy with other tests.
        _ = producer.waitForVideoRoom(until: MonotonicClock.now() + .seconds(5))
        let number = TimeCode.read(from: picture)?.frameNumber
        let copy = number.flatMap { keep.contains($0) ? CollectingSink.copy(picture) : nil }
        state.change {
            $0.frames += 1
            if let number { $0.numbers.append(number) }
            if let number, let copy { $0.kept[number] = copy }
        }
        producer.enqueue(picture)
    }

    func audio(_ block: AudioBlock) {
        state.change { $0.samples += block.count }
        producer.enqueue(block)
    }

    func waitForRoom(until deadline: MediaTimestamp) -> Bool { producer.waitForVideoRoom(until: deadline) }
}

extension TestPatternSource {
    /// A small pattern of that length, in real time.
    static func small(
        seconds: Int64? = nil, width: Int = 320, height: Int = 180, audio: Bool = true, rate: FrameRate = .fps30
    ) throws -> TestPatternSource {
        try TestPatternSource(
            configuration: TestPatternConfiguration(
                width: width, height: height, frameRate: rate, audio: audio,
                duration: seconds.map { .seconds($0) }))
    }
}
