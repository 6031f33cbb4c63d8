import CommandLineKit
import GantryCore
import StudioKit

/// What stands in the upper right corner and in the window's title.
enum PreviewNotes {
    /// "Camera · 1280x720 30 fps · Gantry".
    static func title(_ content: PreviewState.Content) -> String {
        var parts = content.producer.isEmpty ? [] : [content.producer]
        if let format = content.format { parts.append("\(format.width)x\(format.height) \(format.frameRate) fps") }
        return (parts + ["Gantry"]).joined(separator: " · ")
    }

    /// What is not as usual; nothing, as a rule.
    static func lines(
        _ content: PreviewState.Content, _ session: StudioSession?, at now: MediaTimestamp
    ) -> [(text: String, color: Canvas.Color)] {
        var lines: [(text: String, color: Canvas.Color)] = []
        if let since = content.recordingSince {
            let seconds = Int(max(0, (now - since).seconds))
            lines.append(("REC \(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)", PanelStyle.bad))
        }
        if let behind = session?.replay.status.behind {
            lines.append(
                ("REPLAY -\(Figures.decimal(behind.seconds, places: 1)) s (l: live)", PanelStyle.fair))
        }
        let stopped = session?.stoppedMedia ?? []
        if stopped == .all {
            lines.append(("PAUSED (space: go on)", PanelStyle.fair))
        } else if stopped.contains(.video) {
            lines.append(("PICTURE PAUSED (space: go on)", PanelStyle.fair))
        }
        if content.isProducerPaused { lines.append(("\(content.producer) has paused", PanelStyle.fair)) }
        if content.isPictureOff { lines.append(("The picture is off: poor link", PanelStyle.fair)) }
        if content.isMuted { lines.append(("MUTED", PanelStyle.middle)) }
        return lines
    }
}
