import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Testing

@testable import GantryMedia

/// The camera's thread with a device in memory.
@Suite struct VirtualCameraTests {
    /// A stand-in: remembers what was written, and fails on command.
    private final class Desk: @unchecked Sendable {  // `opens` and `refusal` are in `Watched`.
        struct Log: Sendable {
            /// A luma of every picture written.
            var middles: [Int] = []
            var opened = 0
            var failing = false
            var gone = false
            var width = 64
        }
        let log = Watched(Log())

        func open() throws(GantryError) -> any VirtualCameraDevice {
            if log.value.gone { throw GantryError(.outputNotFound, "gone") }
            guard let layout = VirtualCameraLayout(width: log.value.width, height: 48) else {
                throw GantryError(.general, "no layout")
            }
            log.change { $0.opened += 1 }
            return Device(desk: self, layout: layout)
        }
    }

    private final class Device: VirtualCameraDevice {
        let path = "/dev/video99"
        let layout: VirtualCameraLayout
        private let desk: Desk
        init(desk: Desk, layout: VirtualCameraLayout) { (self.desk, self.layout) = (desk, layout) }

        func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
            if desk.log.value.failing { throw SystemError(errno: ENODEV, during: "write") }
            #expect(bytes.count == layout.byteCount)
            // In the middle of the last row: the ground of the card, or the picture.
            desk.log.change { $0.middles.append(Int(bytes[layout.byteCount - layout.width])) }
        }
    }

    private static let card = 30

    private static func picture(_ luma: UInt8) throws -> Picture {
        let picture = try PixelConverterTests.picture(.i420, 64, 48) { plane, _, _ in plane == 0 ? luma : 128 }
        picture.color = .bt601
        return picture
    }

    private func camera(_ desk: Desk, events: Watched<[VirtualCameraEvent]> = Watched([])) throws -> VirtualCamera {
        try VirtualCamera(
            report: { event in events.change { $0.append(event) } }, open: { () throws(GantryError) in try desk.open() }
        )
    }

    @Test func theCardIsThereAtOnceAndRepeated() async throws {
        let desk = Desk()
        let start = MonotonicClock.now()
        let camera = try camera(desk)
        #expect(desk.log.value.middles == [Self.card])
        #expect(try await desk.log.wait { $0.middles.count >= 4 })
        #expect(MonotonicClock.now() - start >= .milliseconds(500))
        #expect(desk.log.value.middles.allSatisfy { $0 == Self.card })
        camera.close()
        #expect(camera.statistics.written == 0)
    }

    @Test func picturesThenCardWhenTheStreamStalls() async throws {
        let desk = Desk()
        let camera = try camera(desk)
        camera.show(try Self.picture(200))
        #expect(try await desk.log.wait { $0.middles.contains(200) })
        // Repeated while it may be a hiccup, then the card.
        #expect(try await desk.log.wait { $0.middles.contains(200) && $0.middles.last == Self.card })
        #expect(desk.log.value.middles.count(where: { $0 == 200 }) >= 3)
        camera.show(try Self.picture(100))
        #expect(try await desk.log.wait { $0.middles.last == 100 })
        camera.showCard()
        #expect(try await desk.log.wait { $0.middles.last == Self.card })
        camera.close()
        #expect(camera.statistics.written == 2)
    }

    @Test func theLastWordIsTheCard() async throws {
        let desk = Desk()
        let camera = try camera(desk)
        camera.show(try Self.picture(200))
        #expect(try await desk.log.wait { $0.middles.last == 200 })
        camera.close()
        #expect(desk.log.value.middles.last == Self.card)
        let count = desk.log.value.middles.count
        camera.show(try Self.picture(100))
        camera.close()
        #expect(desk.log.value.middles.count == count)
    }

    @Test func aLostDeviceIsToldOnceAndTakenAgain() async throws {
        let desk = Desk()
        let events = Watched<[VirtualCameraEvent]>([])
        let camera = try camera(desk, events: events)
        desk.log.change { ($0.failing, $0.gone) = (true, true) }
        #expect(try await events.wait { !$0.isEmpty })
        for luma in 100..<110 {
            camera.show(try Self.picture(UInt8(luma)))
            try await Task.sleep(for: .milliseconds(30))
        }
        #expect(events.value.count == 1)
        desk.log.change { ($0.failing, $0.gone) = (false, false) }
        let start = MonotonicClock.now()
        #expect(try await events.wait { $0.count == 2 })
        #expect(MonotonicClock.now() - start < .seconds(10))
        guard case .lost(let error) = events.value[0], case .restored(let path) = events.value[1] else {
            Issue.record("\(events.value)")
            return
        }
        #expect(error.code == .outputLost && path == "/dev/video99")
        camera.show(try Self.picture(150))
        #expect(try await desk.log.wait { $0.middles.last == 150 })
        camera.close()
        #expect(desk.log.value.opened == 2)
        #expect(camera.statistics.losses == 1 && camera.statistics.dropped >= 1)
    }

    @Test func aDeviceThatComesBackWithAnotherSize() async throws {
        let desk = Desk()
        let events = Watched<[VirtualCameraEvent]>([])
        let camera = try camera(desk, events: events)
        desk.log.change { ($0.failing, $0.width) = (true, 128) }
        #expect(try await events.wait { $0.count == 1 })
        // It can be opened, and still fails: nothing more is said.
        #expect(try await desk.log.wait { $0.opened >= 3 })
        #expect(events.value.count == 1)
        desk.log.change { $0.failing = false }
        #expect(try await events.wait { $0.count == 2 })
        camera.show(try Self.picture(150))
        #expect(try await desk.log.wait { $0.middles.last == 150 })
        #expect(camera.layout.width == 128)
        #expect(camera.statistics.losses == 1)
        camera.close()
    }

    @Test func showingNeverWaitsAndTheNewestWins() async throws {
        let desk = Desk()
        let camera = try camera(desk)
        let start = MonotonicClock.now()
        for luma in 40..<240 { camera.show(try Self.picture(UInt8(luma))) }
        #expect(MonotonicClock.now() - start < .seconds(20))
        #expect(try await desk.log.wait { $0.middles.contains(239) })
        camera.close()
        let result = camera.statistics
        #expect(result.written + result.dropped == 200)
    }

    @Test func aFailingStartIsSaid() throws {
        let desk = Desk()
        desk.log.change { $0.gone = true }
        #expect(throws: GantryError.self) { _ = try camera(desk) }
    }

    @Test func aCameraThatIsLetGoEnds() async throws {
        let desk = Desk()
        do { _ = try camera(desk) }
        // Its thread writes the card a last time, then lets go of everything.
        #expect(try await desk.log.wait { $0.middles.count >= 2 })
    }

    // MARK: Rules of time

    private static func at(_ milliseconds: Int64) -> MediaTimestamp {
        .init(microseconds: 1_000_000_000 + milliseconds * 1000)
    }

    @Test func aStreamThatStallsGivesWayAfterASecond() {
        var timing = VirtualCameraTiming(now: Self.at(0))
        #expect(timing.due == Self.at(200))
        for step in 0..<30 {
            timing.pictureCame(Self.at(33 * Int64(step)))
            timing.wrote(Self.at(33 * Int64(step)))
        }
        let last = Int64(33 * 29)
        #expect(timing.due == Self.at(last + 200))
        timing.wrote(Self.at(last + 900))
        #expect(timing.due == Self.at(last + 1000))
        timing.timePassed(Self.at(last + 999))
        #expect(timing.shown == .picture)
        timing.timePassed(Self.at(last + 1000))
        #expect(timing.shown == .card)
    }

    @Test func aSlowStreamIsNoStall() {
        var timing = VirtualCameraTiming(now: Self.at(0))
        timing.pictureCame(Self.at(0))
        timing.pictureCame(Self.at(2000))
        timing.timePassed(Self.at(7900))
        #expect(timing.shown == .picture)
        timing.timePassed(Self.at(8000))
        #expect(timing.shown == .card)
        // A long gap is an interruption, not a rate.
        timing.pictureCame(Self.at(60_000))
        timing.timePassed(Self.at(61_000))
        #expect(timing.shown == .card)
    }
}
