/// Whose control socket it is, in the words of errors.
package struct ControlRole: Sendable, Hashable {
    /// Begins the socket's name.
    let prefix: String
    let noun: String
    /// What starts it.
    let command: String

    package static let producer = ControlRole(prefix: "producer", noun: "producer", command: "gantry-producer run")
    package static let studio = ControlRole(prefix: "studio", noun: "studio", command: "gantry-studio receive")
}
