import GantryCore
import GantryTransport
import Testing

@Suite struct AdmissionControlTests {
    private func at(_ milliseconds: Int64) -> MediaTimestamp { MediaTimestamp(microseconds: milliseconds * 1000) }

    @Test func theOldestOfAHostGivesWay() {
        var control = AdmissionControl(maximumUnproven: 4, maximumPerHost: 2, maximumPerSecond: 100)
        #expect(control.connected(1, from: "a", now: at(0)) == .admit(evicting: nil))
        #expect(control.connected(2, from: "a", now: at(1)) == .admit(evicting: nil))
        #expect(control.connected(3, from: "a", now: at(2)) == .admit(evicting: 1))
        #expect(control.connected(4, from: "a", now: at(3)) == .admit(evicting: 2))
    }

    @Test func theOldestOfAllGivesWay() {
        var control = AdmissionControl(maximumUnproven: 4, maximumPerHost: 2, maximumPerSecond: 100)
        for (id, host) in [(1, "a"), (2, "b"), (3, "c"), (4, "d")] as [(UInt64, String)] {
            #expect(control.connected(id, from: host, now: at(0)) == .admit(evicting: nil))
        }
        #expect(control.connected(5, from: "e", now: at(1)) == .admit(evicting: 1))
        // The limit of its host comes first: no other loses its place.
        #expect(control.connected(6, from: "e", now: at(1)) == .admit(evicting: 2))
        #expect(control.connected(7, from: "e", now: at(1)) == .admit(evicting: 5))
    }

    @Test func whoHasProvedItselfNoLongerCounts() {
        var control = AdmissionControl(maximumUnproven: 2, maximumPerHost: 2, maximumPerSecond: 100)
        for id in 1...20 as ClosedRange<UInt64> {
            #expect(control.connected(id, from: "a", now: at(0)) == .admit(evicting: nil))
            control.settled(id)
        }
        // Twice, or for one that was never there: nothing.
        control.settled(7)
        control.settled(99)
        #expect(control.connected(21, from: "a", now: at(0)) == .admit(evicting: nil))
    }

    @Test func noMoreThanSoManyInASecond() {
        var control = AdmissionControl(maximumUnproven: 100, maximumPerHost: 100, maximumPerSecond: 10)
        for id in 0..<10 as Range<UInt64> {
            #expect(control.connected(id, from: "a", now: at(Int64(id) * 10)) == .admit(evicting: nil))
        }
        #expect(control.connected(10, from: "a", now: at(500)) == .refuse)
        #expect(control.connected(11, from: "a", now: at(999)) == .refuse)
        // A host that floods does not lock out another.
        #expect(control.connected(15, from: "b", now: at(999)) == .admit(evicting: nil))
        // The first of them is a second old.
        #expect(control.connected(12, from: "a", now: at(1000)) == .admit(evicting: nil))
        #expect(control.connected(13, from: "a", now: at(1001)) == .refuse)
        #expect(control.connected(14, from: "a", now: at(2500)) == .admit(evicting: nil))
    }

    @Test func whatIsRememberedOfASecondIsBounded() {
        var control = AdmissionControl(maximumUnproven: 4, maximumPerHost: 2, maximumPerSecond: 10)
        let decisions = (0..<1000 as Range<UInt64>).map { control.connected($0, from: "host \($0)", now: at(0)) }
        #expect(decisions.count { $0 != .refuse } == 256)
    }

    @Test func aNewcomerIsAlwaysLetInWhereTheRateAllows() {
        var control = AdmissionControl()
        var time: Int64 = 0
        for id in 0..<1000 as Range<UInt64> {
            time += 101
            let decision = control.connected(id, from: "host \(id % 3)", now: at(time))
            #expect(decision != .refuse)
        }
    }
}
