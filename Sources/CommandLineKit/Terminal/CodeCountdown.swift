package import GantryCore

/// How long a code and its window last, in words. Pure.
package enum CodeCountdown {
    /// As in "New code in 87 s · window closes in 4:12". Times that have passed count as 0.
    package static func text(code: MediaDuration, window: MediaDuration) -> String {
        let closes = "window closes in \(clock(window))"
        // The last code ends with the window.
        return code < window
            ? "New code in \(seconds(code)) s · \(closes)" : closes.prefix(1).uppercased() + closes.dropFirst()
    }

    /// As in "4:12".
    package static func clock(_ duration: MediaDuration) -> String {
        let all = seconds(duration)
        let rest = all % 60
        return "\(all / 60):\(rest < 10 ? "0" : "")\(rest)"
    }

    /// Begun seconds count: a countdown ends with 1, not with 0.
    private static func seconds(_ duration: MediaDuration) -> Int64 {
        max(0, duration.microseconds) / 1_000_000 + (max(0, duration.microseconds) % 1_000_000 > 0 ? 1 : 0)
    }
}
