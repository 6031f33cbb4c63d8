import Foundation
import Glibc

extension Process {
    /// As `run`, with no signal blocked. A process inherits what its starter's thread blocks, and the threads of a pool block
    /// nearly everything: `timeout` would never end, and a shell not notice that its terminal is gone.
    package func runUnblocked() throws {
        var (none, former) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &former)
        defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
        try run()
    }
}
