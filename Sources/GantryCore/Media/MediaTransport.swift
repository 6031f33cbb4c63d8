/// How media travels on a network. Control always goes over TLS on TCP.
public enum MediaTransport: String, Sendable, CaseIterable {
    /// UDP where both ends and the path can, else TCP.
    case auto
    /// Over the same connection as control.
    case tcp
    /// UDP or nothing.
    case udp
}
