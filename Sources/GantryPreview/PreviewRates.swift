import GantryCore
import StudioKit

/// Makes what the lines of the statistics say out of what a session counts. Owned by one thread.
struct PreviewRates {
    private static let span = MediaDuration.milliseconds(500)

    private(set) var figures = StatisticsPanel.Figures()
    private var former: (time: MediaTimestamp, frames: Int, bytes: Int)?

    /// Twice a second, however often it is called.
    mutating func sample(_ session: StudioSession?, at now: MediaTimestamp, producer: String, notShown: Int) {
        figures.producer = producer
        figures.notShown = notShown
        guard let session, now - (former?.time ?? MediaTimestamp(microseconds: 0)) >= Self.span else { return }
        let statistics = session.statistics
        if let former {
            let seconds = (now - former.time).seconds
            figures.framesPerSecond = Double(max(0, statistics.framesReceived - former.frames)) / seconds
            figures.bitrate = Double(max(0, statistics.videoBytes - former.bytes)) * 8 / seconds
        }
        former = (now, statistics.framesReceived, statistics.videoBytes)
        figures.now = statistics
        figures.isCaptureKnown = statistics.framesDecoded == 0 || statistics.latency.count > 0
    }
}
