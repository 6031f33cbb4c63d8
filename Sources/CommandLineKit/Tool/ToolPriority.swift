package import GantryCore
import GantryPlatform

/// `--priority`, as both tools take it.
package enum ToolPriority {
    private enum Wish: String, CaseIterable {
        case auto, realtime, normal
    }

    package static let option = Option(
        "priority", value: "WHICH",
        help:
            "Of the threads that picture and sound go through, over other programs. auto: the best that this system permits. "
            + "realtime: real-time priority, or end. normal: as the tool was started. Default: auto.",
        allowed: Wish.allCases.map(\.rawValue))

    /// Once, before what streams is made: threads that are there already stay as they are.
    ///
    /// - Throws: `general` when real-time priority is wished for and not permitted, or no thread is to be had.
    package static func begin(_ arguments: ParsedArguments) throws(GantryError) {
        let wish = arguments.string(option.name).flatMap(Wish.init(rawValue:)) ?? .auto
        guard wish != .normal else { return }
        let permitted = MediaPriority.permitted
        if wish == .realtime, permitted != .realtime {
            throw GantryError(
                .general,
                "Real-time priority is not permitted here. `doctor` says what permits it; --priority auto does without."
            )
        }
        MediaPriority.use(permitted)
        if permitted == .realtime { try RealTimeGuard.start() }
        Log.info("Priority of the threads of picture and sound: \(permitted.rawValue).")
    }
}
