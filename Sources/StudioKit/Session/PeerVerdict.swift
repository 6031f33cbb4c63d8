import GantryCore
import GantryPlatform
import GantryTransport
import GantryTrust

/// Decides during the TLS handshake whether the key that answered is one that we are paired with, and remembers what
/// is to be told otherwise.
final class PeerVerdict: @unchecked Sendable {  // `keyID`, `refusal` and `isStranger` are guarded by `lock`.
    private let store: DeviceStore
    /// The key that must answer; nil: any that is paired.
    private let expected: KeyID?
    /// Of the target, for people.
    private let name: String
    /// Trusted whatever the store says.
    private let trusts: KeyID?
    /// Takes a producer that is not paired.
    private let takesStrangers: Bool
    private let lock = Lock()
    private var keyID: KeyID?
    private var refusal: GantryError?
    private var isStranger = false

    init(
        store: DeviceStore, expected: KeyID?, name: String, trusts: KeyID? = nil, takesStrangers: Bool = false
    ) {
        self.trusts = trusts
        self.takesStrangers = takesStrangers
        self.name = name
        self.store = store
        self.expected = expected
    }

    func decide(_ keyID: KeyID) -> TrustDecision {
        var decision = keyID == trusts ? .trusted : store.trust(of: keyID)
        lock.withLock {
            self.keyID = keyID
            if takesStrangers, decision != .trusted {
                isStranger = true
                decision = .trusted
            }
            if let expected, expected != keyID {
                refusal = GantryError(
                    .wrongPeer,
                    "What answers as \(name) has another key than the device that was paired, and was told nothing. If that "
                        + "device was set up anew, pair again: `gantry-studio pair` here, `gantry-producer pair` there. If "
                        + "not, somebody in this network imitates it.")
            } else if decision != .trusted {
                refusal = GantryError(
                    .notPaired,
                    "The producer that answers there is not paired with this studio. Run `gantry-studio pair` here and "
                        + "`gantry-producer pair` there.")
            }
        }
        // One that was removed here is told so, in whatever way it was met.
        return decision == .revoked || lock.withLock { refusal } == nil ? decision : .unknown
    }

    /// Why a session ends whose producer was removed here meanwhile.
    var removed: GantryError {
        GantryError(.notPaired, "\(name) has been removed from the paired devices here: the session ended.")
    }

    /// Why we refused the peer; nil when we did not.
    var error: GantryError? { lock.withLock { refusal } }

    /// Pairs with a stranger that has let us in, and returns the name that it has in the store; nil for one that is paired.
    func pairStranger(_ publicKeyInfo: [UInt8], named name: DisplayName) throws(GantryError) -> String? {
        guard let keyID = lock.withLock({ isStranger ? keyID : nil }) else { return nil }
        let saved = try store.save(
            PairedDevice(
                keyID: keyID, publicKeyInfo: publicKeyInfo, kind: .producer, name: name.text, via: .usb,
                pairedAt: WallClock.now()))
        lock.withLock { isStranger = false }
        return saved.displayedName
    }

    /// Notes that the peer was met, and where it can be dialled if that is known, and returns its name in the store.
    func seen(at address: String?) -> String? {
        guard let keyID = lock.withLock({ keyID }) else { return nil }
        do throws(GantryError) {
            _ = try store.noteSeen(keyID: keyID, at: WallClock.now(), address: address)
            return try store.device(keyID: keyID)?.displayedName
        } catch {
            Log.warning("\(error)")
            return nil
        }
    }

    /// The key that TLS has proved; nil before, when we refused it, and for a stranger.
    var provenKeyID: KeyID? { lock.withLock { refusal == nil && !isStranger ? keyID : nil } }

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
