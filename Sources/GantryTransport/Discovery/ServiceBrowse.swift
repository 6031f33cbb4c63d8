/// A search that goes on. Any thread.
package final class ServiceBrowse: Sendable {
    private let number: Int
    private let gate: CallbackGate
    private let loop: DiscoveryLoop

    init(number: Int, gate: CallbackGate, loop: DiscoveryLoop) {
        self.number = number
        self.gate = gate
        self.loop = loop
    }

    /// No callback begins after the return; one that has begun may still run.
    package func stop() {
        gate.close()
        loop.post(.endBrowse(number))
    }
}
