package import GantryCore
import GantryPlatform

/// Says that something takes its time, when it does.
package enum SlowNotice {
    private static let patience = MediaDuration.milliseconds(1500)

    /// Runs `body`; a line on standard error comes when it takes longer than a second and a half. Any thread; blocks as `body` does.
    ///
    /// - Parameter text: for people, without a newline.
    package static func around<Value>(
        _ text: String, _ body: () throws(GantryError) -> Value
    ) throws(GantryError) -> Value {
        // Without it, nothing is said: no reason to fail.
        guard let done = try? EventDescriptor(),
            let thread = try? NamedThread("notice", { if !done.wait(for: patience) { tell(text) } })
        else { return try body() }
        defer {
            done.signal()
            thread.join()
        }
        return try body()
    }

    private static func tell(_ text: String) { StandardStreams.writeError(text + "\n") }
}
