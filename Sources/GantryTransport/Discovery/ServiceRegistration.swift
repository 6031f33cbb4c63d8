/// An advertisement that stands. Any thread.
package final class ServiceRegistration: Sendable {
    /// Publishes another TXT record under the same name.
    package func update(text: [String: String]) {}
    /// A goodbye goes out. Any number of times.
    package func withdraw() {}
}
