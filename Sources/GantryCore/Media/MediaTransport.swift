/// How media travels on a network. Control always goes over TLS on TCP.
public enum MediaTransport: String, Sendable, CaseIterable {
    /// UDP once TCP loses packets, where both ends and the path can; else TCP.
    case auto
    /// Over the same connection as control.
    case tcp
    /// UDP from the beginning, or nothing.
    case udp
}
