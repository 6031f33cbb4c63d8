import GantryMedia
import ProducerKit

/// The test pattern, played into a producer until it is stopped.
final class LivePattern: Sendable {
    private let source: TestPatternSource
    private let playing: Task<Void, any Error>

    init(_ producer: ProducerController, audio: Bool = true) throws {
        let source = try TestPatternSource.small(audio: audio)
        self.source = source
        playing = Task { _ = try await SourceRun(producer).play(source) }
    }

    func stop() async throws {
        source.stop()
        try await playing.value
    }
}
