import CommandLineKit
import GantryCore
import GantryPlatform
import ProducerKit

/// A pairing that a client of the control socket has begun, on a thread of its own.
final class ControlPairing: @unchecked Sendable {  // `lock` guards isCancelled.
    private let call: ControlCall
    private let controller: ProducerController
    private let lock = Lock()
    private var isCancelled = false

    init(_ call: ControlCall, _ controller: ProducerController) {
        self.call = call
        self.controller = controller
    }

    var connection: UInt64 { call.connection }

    /// - Parameters:
    ///   - code: wiped at the end.
    ///   - ended: called before the client is answered, so that it may begin another one at once; with the device
    ///     after a success.
    func start(
        code: String, confirms: Bool, ended: @escaping @Sendable (PairedDevice?) -> Void
    ) throws(GantryError) {
        _ = try NamedThread("control-pair") { [self] in
            let result = CoreDumpGuard.during { pair(code: code, confirms: confirms) }
            ended(try? result.get())
            call.finish(
                result.map { ["name": .string($0.displayedName), "key": .string($0.keyID.description)] })
        }
    }

    private func pair(code: String, confirms: Bool) -> Result<PairedDevice, GantryError> {
        var code = code
        defer { SecretText.wipe(&code) }
        do throws(GantryError) {
            return .success(
                try controller.pairStudio(withQRCodeData: code, asksForConfirmation: confirms) { self.report($0) })
        } catch {
            return .failure(error)
        }
    }

    func confirm(_ isSame: Bool) { controller.confirmPairing(isSame) }

    func cancel() {
        lock.withLock { isCancelled = true }
        controller.cancelPairing()
    }

    private func report(_ event: ProducerPairingEvent) {
        // Cancelled, or the client gone, before the controller had something to cancel: that is made up for here.
        if lock.withLock({ isCancelled }) || !call.isOpen { controller.cancelPairing() }
        switch event {
        case .searching(let seconds): call.event("searching", [.init("seconds", .integer(Int64(seconds)))])
        case .studioAnswered: call.event("studioAnswered")
        case .comparison(let number, let needsAnswer):
            call.event("comparison", [.init("number", .string(number)), .init("needsAnswer", .bool(needsAnswer))])
        case .discoveryUnavailable(let error):
            call.event("discoveryUnavailable", [.init("message", .string(error.description))])
        }
    }
}
