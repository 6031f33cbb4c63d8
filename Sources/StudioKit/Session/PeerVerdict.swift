import GantryCore
import GantryPlatform
import GantryTransport
import GantryTrust

/// Decides during the TLS handshake whether the key that answered is one that we are paired with, and remembers what
/// is to be told otherwise.
final class PeerVerdict: @unchecked Sendable {  // `keyID` and `refusal` are guarded by `lock`.
    private let store: DeviceStore
    /// The key that must answer; nil: any that is paired.
    private let expected: KeyID?
    /// Trusted whatever the store says.
    private let trusts: KeyID?
    private let lock = Lock()
    private var keyID: KeyID?
    private var refusal: GantryError?

    init(store: DeviceStore, expected: KeyID?, trusts: KeyID? = nil) {
        self.trusts = trusts
        self.store = store
        self.expected = expected
    }

    func decide(_ keyID: KeyID) -> TrustDecision {
        let decision = keyID == trusts ? .trusted : store.trust(of: keyID)
        lock.withLock {
            self.keyID = keyID
            // First: a stranger in the place of a paired producer is no reason to pair.
            if let expected, expected != keyID {
                refusal = GantryError(
                    .wrongPeer,
                    "Another device answers at that address than the one you named. Check the address with "
                        + "`gantry-studio devices list`, or give HOST:PORT.")
            } else if decision != .trusted {
                refusal = GantryError(
                    .notPaired,
                    "The producer that answers there is not paired with this studio. Run `gantry-studio pair` here and "
                        + "`gantry-producer pair` there.")
            }
        }
        return lock.withLock { refusal } == nil ? decision : .unknown
    }

    /// Why we refused the peer; nil when we did not.
    var error: GantryError? { lock.withLock { refusal } }

    /// Notes where the peer was met, and returns its name in the store.
    func seen(at address: String) -> String? {
        guard let keyID = lock.withLock({ keyID }) else { return nil }
        do throws(GantryError) {
            _ = try store.noteSeen(keyID: keyID, at: WallClock.now(), address: address)
            return try store.device(keyID: keyID)?.displayedName
        } catch {
            Log.warning("\(error)")
            return nil
        }
    }

    /// The key that TLS has proved; nil before, and when we refused it.
    var provenKeyID: KeyID? { lock.withLock { refusal == nil ? keyID : nil } }

    /// The producer says on the session that it removes this studio: we remove it too. False when it was not here any
    /// more.
    func forget() -> Bool {
        guard let keyID = provenKeyID else { return true }
        do throws(GantryError) {
            return try store.remove(keyID: keyID, now: WallClock.now())
        } catch {
            Log.warning("\(error)")
            return true
        }
    }

    /// The producer has removed this studio while we were away.
    func markRejected() {
        guard let keyID = lock.withLock({ keyID }) else { return }
        _ = try? store.markRejectedByPeer(keyID: keyID)
    }
}
