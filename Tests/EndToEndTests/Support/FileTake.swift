import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import ProducerKit
import StudioKit
import Testing

/// A file played by a producer and recorded at a studio.
struct FileTake {
    let facts: Judge.Facts
    let error: GantryError?
    let sourceEnd: MediaSourceEnd
    let studio: StudioStatistics
    let producer: ProducerStatistics

    /// The producer of `stage` must offer what the file has.
    static func record(_ path: String, on stage: Stage, as name: String) async throws -> FileTake {
        let source = try await onThread { try MediaFileSource(url: path) }
        let recording = try MuxOutput.recording(path: stage.file(name), overwrite: false) { Issue.record("\($0)") }
        var configuration = StudioSessionConfiguration()
        configuration.packetOutputs = [recording]
        let run = try await stage.connect(configuration)
        #expect(try await stage.waitForReceivers(1))
        let end = try await SourceRun(stage.producer).play(source)
        let producer = stage.producer.statistics
        try await stage.stop()
        let error = try await run.end()
        return FileTake(
            facts: try await Judge.probe(stage.file(name)), error: error, sourceEnd: end,
            studio: run.session.statistics, producer: producer)
    }

    /// A stage whose producer offers what is in the file, at its rate; paired.
    static func stage(for path: String) async throws -> Stage {
        let info = try await onThread { try MediaFileSource(url: path).info }
        let stage = try Stage(
            video: info.video.map { .init(frameRate: $0.frameRate, sourceType: .file) },
            audio: info.audio == nil ? nil : .init())
        try await stage.pair()
        return stage
    }
}
