/// How the USB cable of a producer is.
public enum USBState: Sendable, Equatable {
    /// The gadget is on no device controller: no host can see it.
    case unbound
    /// No cable, or no host that has chosen us.
    case waiting
    /// A host has configured the gadget.
    case attached
    /// The host sleeps.
    case suspended
}
