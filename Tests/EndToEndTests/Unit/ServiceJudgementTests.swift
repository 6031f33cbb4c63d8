import GantryCore
import Testing

@testable import StudioKit

/// Row S7: what is judged from what is known.
@Suite struct ServiceJudgementTests {
    private final class Session {}

    private static func running(network: Bool = true) -> ServiceJudgement {
        var judgement = ServiceJudgement()
        judgement.isRunning = true
        judgement.isNetworkUp = network
        return judgement
    }

    private static func device() throws -> PairedDevice {
        PairedDevice(
            keyID: try #require(KeyID(bytes: [UInt8](repeating: 1, count: 32))), publicKeyInfo: [], kind: .producer,
            name: "Camera", via: .qr, pairedAt: 0)
    }

    private static func quality(_ state: VideoState.State, _ reason: VideoState.Reason = .quality) throws -> StudioEvent
    {
        .videoState(try #require(VideoStatus(VideoState(channel: 1, state: state, reason: reason))))
    }

    @Test("S7: down with every reason that holds, up when a paired producer is here")
    func reasons() throws {
        #expect(ServiceJudgement().status.state == .down(.notRunning))
        var judgement = Self.running(network: false)
        #expect(judgement.status.state == .down([.networkDown, .noProducers]))
        judgement.isNetworkUp = true
        #expect(judgement.status.state == .down(.noProducers))
        judgement.canSearch = false
        #expect(judgement.status.state == .down([.noProducers, .discoveryUnavailable]))
        judgement.producers = [try Self.device()]
        #expect(judgement.status.state == .up)
        #expect(judgement.status.isInVenue)
        // By a cable it is up without a network.
        judgement.isNetworkUp = false
        #expect(judgement.status.state == .up)
        judgement.isRunning = false
        #expect(judgement.status.state == .down(.notRunning))
        #expect(!judgement.status.isInVenue)
    }

    @Test("S7: poor quality comes and goes with the sessions' pictures")
    func quality() throws {
        let (one, two) = (Session(), Session())
        var judgement = Self.running()
        judgement.note(.connected(name: "", address: "", streams: []), of: ObjectIdentifier(one))
        // Nobody has found it, but it is there.
        #expect(judgement.status.state == .up)
        judgement.note(try Self.quality(.disabled, .publisher), of: ObjectIdentifier(one))
        #expect(judgement.status.state == .up)
        judgement.note(try Self.quality(.warning), of: ObjectIdentifier(one))
        judgement.note(try Self.quality(.disabled), of: ObjectIdentifier(two))
        #expect(judgement.status.state == .down(.poorQuality))
        judgement.note(try Self.quality(.warningLifted), of: ObjectIdentifier(one))
        #expect(judgement.status.state == .down(.poorQuality))
        judgement.note(.ended(nil), of: ObjectIdentifier(two))
        #expect(judgement.status.state == .up)
        judgement.note(.disconnected(nil), of: ObjectIdentifier(one))
        #expect(judgement.status.state == .down(.noProducers))
    }

    @Test func reasonsAreReadable() {
        #expect(ServiceDownReasons([.networkDown, .noProducers]).description == "networkDown, noProducers")
        #expect(ServiceState.up.reasons.isEmpty)
    }
}
