/// How much video may be handed to the link now, so that sound does not stand behind it on a link that has become slow.
///
/// A picture that finds the link empty goes out at once. One that finds bytes of an earlier one still under way (beyond those
/// that are under way without any queue) goes in small pieces, so many as make up a short queue: sound overtakes it
/// here, where it still can. A plain value; the carrier guards it with its lock.
struct PathBudget {
    /// Bytes that are under way although there is no queue.
    var bytesUnderWay = 0
    private var isCareful = false
    private var wasWaiting = false

    /// More than that has not drained since the picture before.
    private static let rest = 2000
    /// The queue that video may make beyond the link while sound may need it.
    private static let queue = 4 * 1024
    private static let piece = 4 * 1024

    /// Bytes of video that may go now.
    ///
    /// - Parameters:
    ///   - unconfirmed: of the link.
    ///   - isWaiting: whether there is video at all.
    mutating func video(unconfirmed: Int, isWaiting: Bool) -> Int {
        defer { wasWaiting = isWaiting }
        guard isWaiting else { return .max }
        let beyond = unconfirmed - max(bytesUnderWay, 0)
        // Decided when a picture begins; what is still under way then is of an earlier one.
        if !wasWaiting { isCareful = beyond > Self.rest }
        guard isCareful else { return .max }
        return beyond < Self.queue ? Self.piece : 0
    }
}
