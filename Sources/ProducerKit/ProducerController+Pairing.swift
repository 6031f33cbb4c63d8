public import GantryCore
import GantryPlatform
import GantryTrust

extension ProducerController {
    // MARK: Pairing

    /// Pairs with the studio whose QR code says `text`: finds it, proves the secret, stores its key. The studio may connect from
    /// then on, and does so by itself. Works whether the producer runs or not. Cancelling the task cancels the pairing.
    ///
    /// - Parameters:
    ///   - text: of the code.
    ///   - asksForConfirmation: waits for `confirmPairing` before anything is stored.
    ///   - report: called on a thread of the pairing, must be quick.
    /// - Returns: the studio.
    /// - Throws: `pairingCodeInvalid`, `pairingCodeVersion`, `pairingCodeOwn`, `pairingCodeExpired`, `noStudioAnswered` when
    ///   none came within 30 seconds, `pairingTimeout` when one came and did not finish in them, `pairingProof`,
    ///   `pairingCancelled`, `pairingDeclined`, `store`, and `busy` while another attempt runs.
    public func pairStudio(
        withQRCodeData text: String, asksForConfirmation: Bool = false,
        report: @escaping @Sendable (ProducerPairingEvent) -> Void = { _ in }
    ) async throws(GantryError) -> PairedDevice {
        let attempt = try beginPairing(text, asksForConfirmation: asksForConfirmation, report: report)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                run(attempt) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            attempt.cancel()
        }
        return try result.get()
    }

    /// As `pairStudio(withQRCodeData:asksForConfirmation:report:)`, for callers that are not asynchronous. Returns at once.
    ///
    /// - Parameters:
    ///   - text: of the code.
    ///   - asksForConfirmation: as there.
    ///   - report: as there.
    ///   - completion: called once, on a thread of the pairing, which it may block; the errors are the same.
    public func pairStudio(
        withQRCodeData text: String, asksForConfirmation: Bool = false,
        report: @escaping @Sendable (ProducerPairingEvent) -> Void = { _ in },
        completion: @escaping @Sendable (Result<PairedDevice, GantryError>) -> Void
    ) {
        do throws(GantryError) {
            run(
                try beginPairing(text, asksForConfirmation: asksForConfirmation, report: report), completion: completion
            )
        } catch {
            // Not on the caller's thread, which may hold a lock that `completion` takes.
            let error = error
            if (try? NamedThread("producer-pair", { completion(.failure(error)) })) == nil {
                completion(.failure(error))
            }
        }
    }

    /// The same on the thread of the caller, which blocks for 30 seconds at most: not on the cooperative pool.
    package func pairStudio(
        withQRCodeData text: String, asksForConfirmation: Bool = false,
        report: @escaping @Sendable (ProducerPairingEvent) -> Void = { _ in }
    ) throws(GantryError) -> PairedDevice {
        let attempt = try beginPairing(text, asksForConfirmation: asksForConfirmation, report: report)
        return try finish(attempt).get()
    }

    /// The answer to `ProducerPairingEvent.comparison`: whether the studio shows the same digits. Does nothing when no pairing
    /// waits for it.
    public func confirmPairing(_ isSame: Bool) { lock.withLock { pairing }?.confirm(isSame) }

    /// Ends a `pairStudio` that is running; it throws `pairingCancelled`. Does nothing when none is.
    public func cancelPairing() { lock.withLock { pairing }?.cancel() }

    private func beginPairing(
        _ text: String, asksForConfirmation: Bool, report: @escaping @Sendable (ProducerPairingEvent) -> Void
    ) throws(GantryError) -> ProducerPairing {
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
        return attempt
    }

    /// Blocks. On return another one may begin.
    private func finish(_ attempt: ProducerPairing) -> Result<PairedDevice, GantryError> {
        defer { lock.withLock { pairing = nil } }
        do throws(GantryError) { return .success(try attempt.run()) } catch { return .failure(error) }
    }

    private func run(
        _ attempt: ProducerPairing, completion: @escaping @Sendable (Result<PairedDevice, GantryError>) -> Void
    ) {
        do throws(GantryError) {
            _ = try NamedThread("producer-pair") { [self] in completion(finish(attempt)) }
        } catch {
            lock.withLock { pairing = nil }
            completion(.failure(error))
        }
    }

    // MARK: Paired devices

    /// All paired devices, studios and producers.
    ///
    /// - Throws: `store`.
    public var pairedDevices: [PairedDevice] {
        get throws(GantryError) { try store.devices() }
    }

    /// The one device whose name, or beginning of key, this is.
    ///
    /// - Throws: `unknownDevice` for none or several, `store`.
    public func pairedDevice(named name: String) throws(GantryError) -> PairedDevice { try store.find(name) }

    /// Forgets a device: it can no longer connect, and a connection that stands is ended; it is told why.
    ///
    /// - Throws: `store`.
    public func removePairedDevice(_ keyID: KeyID) throws(GantryError) {
        _ = try store.remove(keyID: keyID, now: WallClock.now())
        running?.disconnect(keyID)
    }

    /// Gives a device another name, here alone.
    ///
    /// - Throws: `unknownDevice`, `invalidArgument` for a name that cannot be shown, `store`.
    public func renamePairedDevice(_ keyID: KeyID, to alias: String) throws(GantryError) {
        _ = try store.rename(keyID: keyID, to: alias)
    }
}
