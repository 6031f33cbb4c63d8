import GantryCore
import GantryPlatform

/// Tells a producer that it has been removed here, so that it forgets us as well: over an authenticated session, with
/// BYE(unpaired). One that is away learns nothing; it cannot connect to us anyway.
struct Farewell {
    private static let limit = MediaDuration.seconds(2)

    private let session: BriefSession

    /// - Parameter device: as it was in the store.
    init(_ context: StudioSession.Context, _ device: PairedDevice) {
        var context = context
        context.trusts = device.keyID
        context.fieldOfUse = FieldOfUse()
        session = BriefSession(context, device: device, searches: false, limit: Self.limit)
    }

    /// Blocks for 2 seconds at most.
    func say() {
        do throws(GantryError) {
            try session.run(goodbye: .unpaired)
        } catch {
            Log.info("the producer was not told that it is removed: \(error)")
        }
    }
}
