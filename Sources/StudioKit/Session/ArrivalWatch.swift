import GantryCore
import GantryPlatform
import GantryTransport

/// Tells when it is worth trying again at once: a USB producer was plugged in, or one that claims to be ours has appeared
/// on the network. What is there at the beginning is no news.
final class ArrivalWatch: @unchecked Sendable {  // `plugged` and `names` are guarded by `lock`.
    /// A search that begins takes this long to find what is there (Avahi 0.8: 0.2 s, with a lost packet 1.2 s).
    private static let settling = MediaDuration.milliseconds(1500)

    private let lock = Lock()
    private let arrived: @Sendable () -> Void
    private let began = MonotonicClock.now()
    private var plugged: Set<USBDevice>?
    private var names: Set<String> = []
    private var usb: USBWatch?
    private var discovery: Discovery?

    /// Begins to watch.
    ///
    /// - Parameter arrived: called on threads of the watch.
    /// - Throws: `general` when the system gives no thread.
    init(_ target: ProducerTarget, arrived: @escaping @Sendable () -> Void) throws(GantryError) {
        self.arrived = arrived
        guard target.endpoint == nil else { return }
        let usb = try USBWatch { [weak self] in self?.changed($0) }
        self.usb = usb
        try usb.start()
        guard target.usbSerial == nil else { return }
        let discovery = Discovery { _ in }
        do throws(GantryError) {
            try discovery.start()
        } catch {
            usb.stop()
            throw error
        }
        self.discovery = discovery
        let keyID = target.keyID
        _ = discovery.browse(.producer) { [weak self] services in
            self?.changed(Set(services.claimants(of: keyID).map(\.name)))
        }
    }

    /// Ends it; nothing is told afterwards.
    func stop() {
        usb?.stop()
        discovery?.stop()
    }

    private func changed(_ scan: USBScan) {
        let isNew = lock.withLock { () -> Bool in
            let devices = Set(scan.devices)
            defer { plugged = devices }
            return plugged.map { !devices.isSubset(of: $0) } ?? false
        }
        if isNew { arrived() }
    }

    private func changed(_ new: Set<String>) {
        let isNew = lock.withLock { () -> Bool in
            defer { names = new }
            return MonotonicClock.now() >= began + Self.settling && !new.isSubset(of: names)
        }
        if isNew { arrived() }
    }
}
