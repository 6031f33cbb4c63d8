import GantryCore
import Testing

@testable import StudioKit

@Suite struct MediaLimitTests {
    private func admits(_ limit: inout MediaLimit, _ milliseconds: Int64, video: Bool) -> Bool {
        limit.admits(
            MediaHeader(presentationTime: MediaTimestamp(microseconds: 5_000_000 + milliseconds * 1000)),
            isVideo: video)
    }

    @Test func letsThroughExactlyTheFramesBeforeTheEnd() {
        var limit = MediaLimit(.seconds(1), video: true, audio: false)
        let admitted = (0..<40).filter { admits(&limit, Int64($0) * 40, video: true) }
        #expect(admitted == Array(0..<25))
        #expect(limit.isReached)
    }

    @Test func waitsForTheOtherStreamUntilItIsThereToo() {
        var limit = MediaLimit(.seconds(1), video: true, audio: true)
        #expect(admits(&limit, 0, video: true) == true)
        #expect(admits(&limit, 1000, video: true) == false)
        #expect(!limit.isReached)
        #expect(admits(&limit, 990, video: false) == true)
        #expect(admits(&limit, 1000, video: false) == false)
        #expect(limit.isReached)
    }

    @Test func doesNotWaitForAStreamThatHasStopped() {
        var limit = MediaLimit(.seconds(1), video: true, audio: true)
        #expect(admits(&limit, 0, video: true) == true)
        #expect(admits(&limit, 1299, video: true) == false)
        #expect(!limit.isReached)
        #expect(admits(&limit, 1300, video: true) == false)
        #expect(limit.isReached)
    }

    @Test func aPauseDoesNotCount() {
        var limit = MediaLimit(.seconds(1), video: true, audio: true)
        #expect(admits(&limit, 0, video: true) == true)
        #expect(admits(&limit, 500, video: true) == true)
        limit.paused()
        #expect(admits(&limit, 540, video: true) == true)
        #expect(admits(&limit, 90_000, video: true) == true)
        #expect(admits(&limit, 90_000 + 426, video: true) == true)
        #expect(admits(&limit, 90_000 + 427, video: true) == false)
        #expect(admits(&limit, 90_000 + 427, video: false) == false)
        #expect(limit.isReached)
    }

    /// A slide show: one picture in ten seconds.
    @Test func aLongWaitForTheNextPictureCounts() {
        var limit = MediaLimit(.seconds(30), video: true, audio: false)
        let admitted = (0..<5).filter { admits(&limit, Int64($0) * 10_000, video: true) }
        #expect(admitted == [0, 1, 2])
    }

    @Test func soundBeforeTheFirstPictureDoesNotCount() {
        var limit = MediaLimit(.seconds(1), video: true, audio: true)
        #expect(admits(&limit, -5000, video: false) == true)
        #expect(admits(&limit, 0, video: true) == true)
        #expect(admits(&limit, 999, video: true) == true)
        #expect(admits(&limit, 999, video: false) == true)
    }

    @Test func soundLeadsWithoutPicture() {
        var limit = MediaLimit(.milliseconds(20), video: false, audio: true)
        let admitted = (0..<5).filter { admits(&limit, Int64($0) * 10, video: false) }
        #expect(admitted == [0, 1])
        #expect(limit.isReached)
    }
}

@Suite struct ExpectedFormatsTests {
    private let video = VideoStreamFormat(
        codec: .h264, width: 16, height: 16, frameRate: .fps30, color: .bt709)
    private let audio = AudioStreamFormat(
        codec: .opus, sampleRate: 48000, channels: 2, samplesPerPacket: 480, head: [])

    @Test(arguments: [(true, true), (true, false), (false, true)])
    func isCompleteWhenAllThatWillComeIsKnown(_ wants: (video: Bool, audio: Bool)) {
        var formats = ExpectedFormats()
        #expect(!formats.areComplete)
        formats.expect(video: wants.video, audio: wants.audio)
        #expect(!formats.areComplete)
        if wants.video { formats.set(.video(video)) }
        #expect(formats.areComplete == !wants.audio)
        if wants.audio { formats.set(.audio(audio)) }
        #expect(formats.areComplete)
    }
}

@Suite struct MuxStateTests {
    @Test func leavesOutWhatIsOverTheLimitAndCountsIt() {
        let state = MuxState(byteLimit: 100)
        #expect(state.reserve(60))
        #expect(!state.reserve(41))
        #expect(state.reserve(40))
        state.release(60)
        #expect(state.reserve(60))
        state.refuse(60)
        #expect(state.droppedCount == 2)
        #expect(state.reserve(60))
    }
}
