import Synchronization

/// The bitrate that the user wants for the whole picture, in bits a second; it may change while pictures are encoded. Any thread.
final class WantedBitrate: Sendable {
    /// 0: by size and rate.
    private let stored: Atomic<Int>

    init(_ value: Int?) { stored = Atomic(value ?? 0) }

    var value: Int? {
        get {
            let value = stored.load(ordering: .relaxed)
            return value > 0 ? value : nil
        }
        set { stored.store(newValue ?? 0, ordering: .relaxed) }
    }
}
