/// Notices that what is sent does not arrive any more, in whichever direction the path has failed: nothing comes to be known as
/// arrived. Silence is asked for before it counts, since the last packet before a pause may have been lost alone. Pure.
package struct PathWatch: Sendable {
    private static let questionInterval = MediaDuration.milliseconds(100)
    /// No path that takes longer is opened (`PathProbe`).
    private static let longestAnswer = DatagramLimits.probeLimit

    /// Since when something has been sent, and nothing of it, or after it, is known to have arrived.
    private var waitingSince: MediaTimestamp?
    private var nextQuestion = MediaTimestamp(microseconds: 0)
    /// From sending to knowing: at once when it becomes more, slowly when less.
    private var answer: MediaDuration

    /// - Parameter answer: how long the path has taken for an answer until now.
    package init(answer: MediaDuration) { self.answer = min(answer, Self.longestAnswer) }

    /// Something was sent that the other end will tell of.
    package mutating func sent(now: MediaTimestamp) {
        guard waitingSince == nil else { return }
        waitingSince = now
        nextQuestion = now + answer + Self.questionInterval
    }

    /// The other end has told of something that was not known to have arrived.
    package mutating func arrived(now: MediaTimestamp) {
        guard let since = waitingSince else { return }
        waitingSince = nil
        let time = min(max(now - since, .zero), Self.longestAnswer)
        answer = max(time, answer + MediaDuration(microseconds: (time - answer).microseconds / 8))
    }

    /// True: now is the time for a probe, which the other end answers at once.
    package mutating func isQuestionDue(now: MediaTimestamp) -> Bool {
        guard waitingSince != nil, now >= nextQuestion else { return false }
        nextQuestion = now + Self.questionInterval
        return true
    }

    package func isDead(now: MediaTimestamp) -> Bool { limit.map { now >= $0 } ?? false }

    private var limit: MediaTimestamp? { waitingSince.map { $0 + answer + DatagramLimits.reportSilence } }

    /// When to look again; nil: nothing is expected.
    package var deadline: MediaTimestamp? { limit.map { min($0, nextQuestion) } }
}
