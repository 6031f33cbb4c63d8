/// An advertisement that stands. Any thread.
package final class ServiceRegistration: Sendable {
    private let number: Int
    private let gate: CallbackGate
    private let loop: DiscoveryLoop

    init(number: Int, gate: CallbackGate, loop: DiscoveryLoop) {
        self.number = number
        self.gate = gate
        self.loop = loop
    }

    /// Publishes another TXT record under the same name.
    package func update(text: [String: String]) { loop.post(.update(number, text)) }

    /// A goodbye goes out. Any number of times.
    package func withdraw() {
        gate.close()
        loop.post(.withdraw(number))
    }
}
