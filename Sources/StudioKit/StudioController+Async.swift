public import GantryCore
import GantryPlatform

/// The calls that block, for code on the cooperative pool: each runs on a thread of its own meanwhile.
extension StudioController {
    /// Pairs with the device that shows it knows the code, within the window's time. Cancelling the task ends the pairing.
    ///
    /// - Parameters:
    ///   - pairing: from `beginPairing`; show its `code`, as `StudioPairing.events` says.
    /// - Throws: as `StudioPairing.run`.
    public func pair(_ pairing: StudioPairing) async throws(GantryError) -> PairedDevice {
        let result = await withTaskCancellationHandler {
            await BlockingCall.result { () throws(GantryError) in try pairing.run() }
        } onCancel: {
            pairing.cancel()
        }
        return try result.get()
    }

    /// As the other of that name; does not block.
    public func removePairedDevice(_ keyID: KeyID) async throws(GantryError) {
        try await BlockingCall.result { () throws(GantryError) in try self.removePairedDevice(keyID) }.get()
    }

    /// As the other of that name; does not block.
    public func checkConnection(to device: PairedDevice, searches: Bool = true) async throws(GantryError) {
        try await BlockingCall.result { () throws(GantryError) in
            try self.checkConnection(to: device, searches: searches)
        }.get()
    }
}

extension StudioSession {
    /// Says goodbye, and waits until all outputs are finished; at once where it was never started. Not from an output.
    public func end() async {
        close()
        _ = await BlockingCall.result { () throws(GantryError) in self.waitUntilEnded() }
    }
}

extension Replay {
    /// As `save(to:overwrite:)`; does not block.
    public func save(to path: String, overwrite: Bool = false) async throws(GantryError) -> SavedMedia {
        try await BlockingCall.result { () throws(GantryError) in try self.save(to: path, overwrite: overwrite) }.get()
    }
}
