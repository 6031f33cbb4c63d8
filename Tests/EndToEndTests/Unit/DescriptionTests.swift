import StudioKit
import Testing

@testable import GantryCore
@testable import ProducerKit

/// What a program prints of the kits' values.
@Suite struct DescriptionTests {
    @Test func statesAreShort() throws {
        let keyID = try #require(KeyID(bytes: Array(repeating: 7, count: 32)))
        let peer = ProducerPeer(keyID: keyID, name: "Studio A", address: "192.168.1.5:50124", transport: .network)
        #expect("\(peer)" == "Studio A (192.168.1.5:50124)")
        #expect("\(ProducerState.active([peer]))" == "active: Studio A (192.168.1.5:50124)")
        #expect("\(ProducerState.paused([]))" == "paused")
        #expect("\(ProducerState.notRunning)" == "not running")
        #expect("\(SessionState.failed(GantryError(.timeout, "Nobody answers.")))" == "failed: Nobody answers.")
        #expect("\(SessionState.reconnecting)" == "reconnecting")
        #expect("\(PlayerState([.open, .active, .playing]))" == "open, active, playing")
        #expect("\(PlayerState())" == "none")
    }
}
