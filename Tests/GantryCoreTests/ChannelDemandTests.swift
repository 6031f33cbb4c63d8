import Testing

@testable import GantryCore

@Suite struct ChannelDemandTests {
    @Test func nothingIsReceivedBeforeStart() {
        var demand = ChannelDemand()
        #expect(demand.received == 0)
        #expect(demand.paused(0xffff) == 0)
        #expect(demand.resumed(0xffff) == 0)
    }

    @Test func eachChangeCountsOnce() {
        var demand = ChannelDemand()
        demand.started([1, 2])
        #expect(demand.received == 0b110)
        // Channels that were not asked for are no part of it.
        #expect(demand.paused(0b1010) == 0b10)
        #expect(demand.paused(0b10) == 0)
        #expect(demand.received == 0b100)
        #expect(demand.resumed(0b110) == 0b10)
        #expect(demand.resumed(0b110) == 0)
    }

    @Test func startEndsEveryPause() {
        var demand = ChannelDemand()
        demand.started([1, 2])
        #expect(demand.paused(0b110) == 0b110)
        demand.started([2])
        #expect(demand.received == 0b100)
    }

    @Test func channelsThatCannotBeAreLeftOut() {
        var demand = ChannelDemand()
        demand.started([0, 1, 8, 9, 16, 65535])
        #expect(demand.received == 1 << 1 | 1 << 8)
    }
}
