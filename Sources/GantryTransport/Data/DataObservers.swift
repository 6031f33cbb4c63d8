package import GantryCore
import GantryPlatform

/// Who wants to know of data, by label. Any thread.
package final class DataObservers<Source: Sendable>: @unchecked Sendable {  // All state is guarded by `lock`.
    package typealias Observer = @Sendable (LabeledData, Source) -> Void

    private struct Entry {
        let id: UInt64
        let label: String?
        let observer: Observer
    }

    private let lock = Lock()
    private var entries: [Entry] = []
    private var nextID: UInt64 = 0

    package init() {}

    /// - Parameter label: nil: all.
    package func add(_ label: String?, _ observer: @escaping Observer) -> DataObservation {
        let id = lock.withLock {
            nextID &+= 1
            entries.append(Entry(id: nextID, label: label, observer: observer))
            return nextID
        }
        return DataObservation { [weak self] in
            self?.lock.withLock { self?.entries.removeAll { $0.id == id } }
        }
    }

    /// In the order in which they were added.
    package func deliver(_ data: LabeledData, from source: Source) {
        for entry in lock.withLock({ entries }) where entry.label == nil || entry.label == data.label {
            entry.observer(data, source)
        }
    }
}
