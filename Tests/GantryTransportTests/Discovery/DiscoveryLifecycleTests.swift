import GantryCore
import GantryTransport
import Testing

/// What needs no daemon: nothing here publishes or looks for anything on a network. See LabTests for the rest.
@Suite struct DiscoveryLifecycleTests {
    @Test func itStartsOnceAndStopsAnyNumberOfTimes() throws {
        let discovery = Discovery { _ in }
        try discovery.start()
        #expect(throws: GantryError.self) { try discovery.start() }
        discovery.stop()
        discovery.stop()
        #expect(throws: GantryError.self) { try discovery.start() }
    }

    @Test func whatWasNeverStartedStops() {
        let discovery = Discovery { _ in Issue.record("not started") }
        let registration = discovery.advertise(
            ServiceAdvertisement(type: .producer, name: "Camera", port: 1, text: [:])
        ) { _ in Issue.record("not started") }
        let browse = discovery.browse(.producer) { _ in Issue.record("not started") }
        registration.update(text: ["a": "1"])
        registration.withdraw()
        registration.withdraw()
        browse.stop()
        browse.stop()
        discovery.stop()
        registration.withdraw()
        browse.stop()
    }

    @Test func whatIsLetGoStops() throws {
        for _ in 0..<20 {
            let discovery = Discovery { _ in }
            try discovery.start()
        }
    }
}
