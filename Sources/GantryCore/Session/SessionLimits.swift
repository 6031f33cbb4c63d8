/// Every time and rate of a session (`pairing/wire.md`, section "Session").
package enum SessionLimits {
    /// The first message must come within this.
    package static let hello = MediaDuration.seconds(5)
    /// The producer's owner (a person, perhaps) must have decided within this.
    package static let decision = MediaDuration.seconds(30)
    /// How long a studio waits for ACCEPT or REJECT: `decision`, and some for the way.
    package static let answer = MediaDuration.seconds(35)
    package static let pingInterval = MediaDuration.seconds(1)
    /// The first ones are closer together: one alone may have waited behind a key frame, and the clocks would seem apart by half of that
    /// for a second.
    package static let firstPings = 8
    package static let firstPingInterval = MediaDuration.milliseconds(40)
    /// A peer that has sent nothing for this long is gone.
    package static let silence = MediaDuration.seconds(2)
    /// A connection over which nothing has come for this long has ended, whatever comes beside it: goodbyes, formats and wishes need it.
    /// TCP gives up by then, too.
    package static let connectionSilence = MediaDuration.seconds(10)
    /// Key frames of a channel are at least this far apart.
    package static let keyFrameInterval = MediaDuration.milliseconds(250)
}
