/// A search that goes on. Any thread.
package final class ServiceBrowse: Sendable {
    /// No callback begins after the return, except on the discovery thread itself.
    package func stop() {}
}
