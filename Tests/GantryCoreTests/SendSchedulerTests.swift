import GantryCore
import GantryTestSupport
import Testing

@Suite struct SendSchedulerTests {
    @Test(arguments: [0, 1, 16_375, 16_376, 16_377, 100_000])
    func fragmentsCoverTheMessage(count: Int) {
        var writer = FragmentWriter(type: .video, flags: [.key, .more], channel: 3, count: count)
        var covered = 0
        var fragments: [FragmentWriter.Fragment] = []
        while let fragment = writer.next() {
            #expect(fragment.range.lowerBound == covered)
            covered = fragment.range.upperBound
            #expect(fragment.header.length == UInt32(fragment.range.count))
            #expect(fragment.range.count + FrameHeader.size <= 16384)
            #expect(fragment.header.flags.contains(.key))
            fragments.append(fragment)
        }
        #expect(covered == count)
        #expect(fragments.count == max(1, (count + 16_375) / 16_376))
        for (index, fragment) in fragments.enumerated() {
            #expect(fragment.header.flags.contains(.more) == (index < fragments.count - 1))
        }
        #expect(writer.isFinished)
    }

    @Test func classesInOrder() {
        var scheduler = SendScheduler()
        scheduler.add(channel: 1, .video)
        scheduler.add(channel: 2, .audio)
        scheduler.add(channel: 3, .data)
        for channel: UInt16 in 0...3 { scheduler.setReady(true, channel: channel) }
        var order: [UInt16] = []
        while let channel = scheduler.next() {
            order.append(channel)
            scheduler.setReady(false, channel: channel)
        }
        #expect(order == [0, 2, 3, 1])
        #expect(scheduler.next() == nil)
    }

    @Test func roundRobinWithinAClass() {
        var scheduler = SendScheduler()
        for channel: UInt16 in [1, 4, 8] {
            scheduler.add(channel: channel, .video)
            scheduler.setReady(true, channel: channel)
        }
        #expect((0..<7).map { _ in scheduler.next() } == [1, 4, 8, 1, 4, 8, 1])
        scheduler.setReady(false, channel: 4)
        #expect((0..<3).map { _ in scheduler.next() } == [8, 1, 8])
        scheduler.remove(channel: 8)
        #expect(scheduler.next() == 1)
        scheduler.setReady(true, channel: 8)
        #expect((0..<3).map { _ in scheduler.next() } == [1, 1, 1])
    }

    @Test func impossibleChannelsAreIgnored() {
        var scheduler = SendScheduler()
        scheduler.add(channel: 9, .audio)
        scheduler.add(channel: 0, .audio)
        scheduler.setReady(true, channel: 9)
        scheduler.setReady(true, channel: .max)
        scheduler.remove(channel: 0)
        #expect(scheduler.next() == nil)
        scheduler.setReady(true, channel: 0)
        #expect(scheduler.next() == 0)
    }

    /// A large picture delays a sound by one fragment at most.
    @Test func audioWaitsForOneFragment() {
        var scheduler = SendScheduler()
        scheduler.add(channel: 1, .video)
        scheduler.add(channel: 2, .audio)
        scheduler.setReady(true, channel: 1)
        var video = FragmentWriter(type: .video, channel: 1, count: 1_000_000)
        for _ in 0..<10 {
            #expect(scheduler.next() == 1)
            _ = video.next()
        }
        scheduler.setReady(true, channel: 2)
        #expect(scheduler.next() == 2)
    }
}
