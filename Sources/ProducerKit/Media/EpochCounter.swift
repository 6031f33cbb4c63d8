import Synchronization

/// The numbers of the picture's formats, from 1 on; they wrap. Any thread.
final class EpochCounter: Sendable {
    private let last = Atomic<UInt16>(0)

    func next() -> UInt16 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
