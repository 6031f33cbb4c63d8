package import GantryCore
import GantryPlatform
import Glibc

/// Takes the live view of a status line off the terminal while the process is stopped (Ctrl-Z), and lets it be drawn anew
/// when the process goes on.
///
/// A thread of its own ("job-control") waits for the signals. A `KeyReader` that is made later takes SIGTSTP over, and calls
/// `StatusLine.aside` itself.
package final class JobControl: Sendable {
    private let stopping: EventDescriptor
    private let thread: NamedThread

    /// Nil where the line shows no live view.
    package init?(_ status: StatusLine) throws(GantryError) {
        guard status.isLive else { return nil }
        let stopping = try EventDescriptor()
        let signals = try SignalPipe([SIGTSTP, SIGCONT])
        self.stopping = stopping
        thread = try NamedThread("job-control") {
            signals.forEach(until: stopping) { signal in
                switch signal {
                case SIGTSTP: status.aside { signals.performDefault(signal) }
                // Stopped without a chance to clean up (SIGSTOP): the shell has written below.
                default: status.forget()
                }
                return true
            }
        }
    }

    /// Ends the thread.
    package func stop() {
        stopping.signal()
        thread.join()
    }
}
