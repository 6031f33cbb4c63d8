public import GantryCore
package import GantryMedia
package import GantryPlatform
import GantryTransport
import GantryTrust

/// The sending side: takes pictures and sound from the application, encodes them, and serves every paired studio that
/// connects.
///
/// It opens no device by itself and does nothing before `start()`. Every method may be called from any thread; only
/// `pairStudio` and `stop` block.
public final class ProducerController: @unchecked Sendable {  // What varies is guarded by `lock`.
    /// Newest 64 are kept for a reader that is slow.
    public let events: AsyncStream<ProducerEvent>

    private let continuation: AsyncStream<ProducerEvent>.Continuation
    private let identity: Identity
    private let store: DeviceStore
    let configured: SettingStore<ProducerConfiguration>
    private let lock = Lock()
    private var server: ProducerServer?
    private var pairing: ProducerPairing?
    private var lastStatistics = ProducerStatistics()
    private let bgraInput = BGRAInput()
    private let dataObservers = DataObservers<ProducerPeer>()

    /// Opens (or makes) identity and store of paired devices.
    ///
    /// - Throws: `stateFolder`, `identity`, `store`, each with what mends it.
    public init(configuration: ProducerConfiguration = ProducerConfiguration()) throws(GantryError) {
        let folder = try StateFolder.open(configuration.stateDirectory)
        identity = try Identity.loadOrCreate(in: folder)
        store = try DeviceStore.open(in: folder)
        configured = SettingStore(configuration, ProducerSettings.table) { $0.logLevel }
        (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
    }

    deinit {
        server?.stop()
        continuation.finish()
    }

    /// Who this installation is.
    public var keyID: KeyID { identity.keyID }

    // MARK: Running

    /// Begins to listen. Returns at once; studios connect from now on.
    ///
    /// With `ProducerConfiguration.usb` it blocks while the gadget is made: some tenths of a second.
    ///
    /// - Throws: `invalidState` when running already, `portInUse`, and for USB `usbFunction`, `usbNoController`,
    ///   `usbControllerTaken`, `usbNotPermitted`, `usbGadget`, `usbGadgetInUse`.
    public func start() throws(GantryError) {
        let continuation = continuation
        let server = try ProducerServer(
            configuration: configuration, identity: identity, store: store, name: name, dataObservers: dataObservers,
            events: { continuation.yield($0) })
        let isFirst = lock.withLock {
            if self.server != nil { return false }
            self.server = server
            return true
        }
        guard isFirst else { throw GantryError(.invalidState, "The producer is running already.") }
        do throws(GantryError) {
            try server.start()
        } catch {
            lock.withLock { self.server = nil }
            // What had begun by then.
            server.stop()
            throw error
        }
        continuation.yield(.started(port: server.port))
    }

    /// Says goodbye to all studios after what was enqueued has been sent, and ends all threads. Does nothing when not
    /// running.
    public func stop() {
        let running = lock.withLock {
            defer { server = nil }
            return server
        }
        guard let running else { return }
        running.stop()
        let final = running.statistics
        lock.withLock { lastStatistics = final }
        continuation.yield(.stopped)
    }

    public var state: ProducerState {
        guard let server = lock.withLock({ server }) else { return .notRunning }
        let peers = server.activePeers
        if server.isPaused { return .paused(peers) }
        return peers.isEmpty ? .notConnected : .active(peers)
    }

    /// After `configure`.
    func applyConfiguration() { lock.withLock { server }?.apply(configuration) }

    /// The name that studios show.
    public var displayedName: String { name.text }

    private var name: DisplayName { DisplayName(configuration.name ?? HostName.current) }

    // MARK: Pausing

    /// Sends neither pictures nor sound until `resume()`. Studios stay connected and are told, also those that connect
    /// meanwhile. Does nothing when not running or paused already.
    ///
    /// On return nothing is encoded or handed to a connection any more, and what waited to be sent is thrown away; a
    /// packet that was half sent is completed. Nothing that was captured before `resume()` is sent afterwards.
    public func pause() { lock.withLock { server }?.setPaused(true) }

    /// Goes on after `pause()`; the first picture is a key frame.
    public func resume() { lock.withLock { server }?.setPaused(false) }

    /// False when not running: every `start()` begins without a pause.
    public var isPaused: Bool { lock.withLock { server }?.isPaused ?? false }

    /// The TCP port, once running.
    public var port: UInt16? { lock.withLock { server }?.port }

    /// Since `start`; after `stop`, of the run that has ended.
    public var statistics: ProducerStatistics {
        let (server, last) = lock.withLock { (self.server, lastStatistics) }
        return server?.statistics ?? last
    }

    // MARK: Strangers on the cable

    /// Decides about `ProducerEvent.studioAsks`. Does nothing when that is over.
    public func answer(_ request: StudioRequest, _ answer: StudioRequest.Answer) {
        lock.withLock { server }?.answer(request, answer)
    }

    /// The studio that waits for an answer; at most one at a time.
    public var studioRequest: StudioRequest? { lock.withLock { server }?.studioRequest }

    // MARK: Data

    /// Sends bytes to a studio, or to all that receive. Does not block.
    ///
    /// - Parameter peer: the studio's key; nil: all.
    /// - Returns: how many it is on the way to. A studio that is left out is not connected, takes no data, or has not yet
    ///   taken 256 KiB that were sent before: try again then.
    @discardableResult
    public func sendData(_ data: LabeledData, to peer: KeyID? = nil) -> Int {
        lock.withLock { server }?.sendData(data, to: peer) ?? 0
    }

    /// Calls `observer` with what studios send, one message after the other for each studio, on a thread of its connection.
    /// While it does not return, that studio can send 256 KiB, and no more; media go on.
    ///
    /// - Parameter label: only what has this label; nil: all.
    @discardableResult
    public func observeData(
        _ label: String? = nil, _ observer: @escaping @Sendable (LabeledData, ProducerPeer) -> Void
    ) -> DataObservation {
        dataObservers.add(label, observer)
    }

    // MARK: Media

    /// Hands in one picture. Newest wins: what the encoder has not taken yet is replaced. Returns after the conversion
    /// (0.1 ms for 1280x720 BGRA); the memory is the caller's again.
    ///
    /// - Parameters:
    ///   - pixels: `height` rows of `stride` bytes (the last may be shorter); BGRA: 4 bytes a pixel.
    ///   - stride: bytes from one row to the next.
    ///   - captureTime: on `CLOCK_MONOTONIC`, in microseconds; nil: now. A time before the last `resume()` is too late.
    /// - Returns: false when not running, paused, or when every buffer is in use: the picture was let go.
    /// - Throws: `invalidArgument` when size, stride and byte count do not fit each other.
    @discardableResult
    public func enqueueVideo(
        bgra pixels: UnsafeRawBufferPointer, width: Int, height: Int, stride: Int, captureTime: MediaTimestamp? = nil
    ) throws(GantryError) -> Bool {
        guard let server = lock.withLock({ server }), !server.isPaused else { return false }
        guard let picture = try bgraInput.picture(from: pixels, width: width, height: height, stride: stride) else {
            return false
        }
        let time = captureTime ?? MonotonicClock.now()
        picture.captureTime = time
        picture.presentationTime = time
        return server.enqueue(.picture(picture))
    }

    /// As `enqueueVideo(bgra:…)` for a picture in memory of ours, without a copy.
    @discardableResult
    package func enqueue(_ picture: Picture) -> Bool {
        lock.withLock { server }?.enqueue(.picture(picture)) ?? false
    }

    /// Hands on what a device has coded, as `VideoSettings.coded` says. The packet is the producer's from now on.
    ///
    /// - Returns: true when the device shall make a key frame soon.
    package func enqueue(coded packet: MediaPacket) -> Bool {
        guard let server = lock.withLock({ server }) else { return false }
        _ = server.enqueue(.coded(packet))
        return server.takesKeyFrameRequest
    }

    /// Sound of any length; becomes packets of 10 ms.
    package func enqueue(_ block: AudioBlock) { lock.withLock { server }?.enqueue(block) }

    /// Waits until the encoder has taken the last picture: for sources that can wait. False after `deadline`.
    package func waitForVideoRoom(until deadline: MediaTimestamp) -> Bool {
        lock.withLock { server }?.waitForVideoRoom(until: deadline) ?? false
    }

    /// Whether a studio receives pictures, or sound. Whoever feeds the producer from a device may close that meanwhile.
    public func isReceived(_ kind: MediaKind) -> Bool { lock.withLock { server }?.isReceived(kind) ?? false }

    // MARK: Pairing

    /// Pairs with the studio whose QR code says `text`. Blocks for 30 seconds at most: not on the cooperative pool.
    ///
    /// - Parameters:
    ///   - asksForConfirmation: waits for `confirmPairing` before anything is stored.
    ///   - report: called on a thread of the pairing, must be quick.
    /// - Throws: `pairingCodeInvalid`, `pairingCodeVersion`, `pairingCodeOwn`, `noStudioAnswered`, `pairingProof`,
    ///   `pairingTimeout`, `pairingCancelled`, `pairingDeclined`, `store`, and `busy` while another attempt runs.
    public func pairStudio(
        withQRCodeData text: String, asksForConfirmation: Bool = false,
        report: @escaping @Sendable (ProducerPairingEvent) -> Void = { _ in }
    ) throws(GantryError) -> PairedDevice {
        let code = try PairingCode.parse(text)
        let attempt = try ProducerPairing(
            code: code, identity: identity, store: store, name: name, streamPort: port ?? configuration.port,
            asksForConfirmation: asksForConfirmation, report: report)
        let isFirst = lock.withLock {
            if pairing != nil { return false }
            pairing = attempt
            return true
        }
        guard isFirst else { throw GantryError(.busy, "A pairing is running already. Wait for it, or cancel it.") }
        defer { lock.withLock { pairing = nil } }
        return try attempt.run()
    }

    /// The answer to `ProducerPairingEvent.comparison`: whether the studio shows the same digits.
    public func confirmPairing(_ isSame: Bool) { lock.withLock { pairing }?.confirm(isSame) }

    /// Ends a `pairStudio` that is running; it throws `pairingCancelled`.
    public func cancelPairing() { lock.withLock { pairing }?.cancel() }

    /// All paired devices, studios and producers.
    public var pairedDevices: [PairedDevice] {
        get throws(GantryError) { try store.devices() }
    }

    /// The one device whose name, or beginning of key, this is.
    public func pairedDevice(named name: String) throws(GantryError) -> PairedDevice { try store.find(name) }

    /// Forgets a device: it can no longer connect, and a connection that stands is ended.
    public func removePairedDevice(_ keyID: KeyID) throws(GantryError) {
        _ = try store.remove(keyID: keyID, now: WallClock.now())
        lock.withLock { server }?.disconnect(keyID)
    }

    public func renamePairedDevice(_ keyID: KeyID, to alias: String) throws(GantryError) {
        _ = try store.rename(keyID: keyID, to: alias)
    }
}
