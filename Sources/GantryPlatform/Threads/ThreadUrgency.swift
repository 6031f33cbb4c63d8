/// What the work of a thread needs of the scheduler; `MediaPriority` gives it.
package enum ThreadUrgency: Sendable, CaseIterable {
    /// No picture and no sound waits for it.
    case normal
    /// Encodes or decodes pictures: computes for a good part of a picture's time, and without pause when the machine is too slow. It
    /// gets a larger share of the processor than others (nice), never all of it: they must go on.
    case computing
    /// Takes bytes from the network or gives them to it, and sleeps again.
    case network
    /// Takes pictures from a device or gives them to one, and sleeps again.
    case picture
    /// Takes, codes or plays sound: a few microseconds for each 10 ms, and what comes late is heard.
    case sound
    /// Sleeps until something goes wrong with one of those.
    case watching

    /// Of SCHED_RR, 1 to 99; nil where others must go on. As low as can be: whatever else of the machine has such a priority
    /// (PipeWire: 88, through RealtimeKit 20) goes first.
    package var realTime: Int32? {
        switch self {
        case .normal, .computing: nil
        case .network: 1
        case .picture: 2
        case .sound: 3
        case .watching: 4
        }
    }

    /// As in setpriority(2): each step is a quarter more of the processor.
    package var nice: Int32 {
        switch self {
        case .normal: 0
        case .computing: -10
        case .network, .picture: -12
        case .sound, .watching: -15
        }
    }
}
