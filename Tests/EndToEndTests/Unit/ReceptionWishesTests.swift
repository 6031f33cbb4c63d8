import Testing

@testable import GantryCore
@testable import StudioKit

@Suite struct ReceptionWishesTests {
    private func messages(
        _ change: (inout ReceptionWishes) -> Void, after former: ReceptionWishes = ReceptionWishes()
    ) -> [ControlMessage] {
        var wishes = former
        change(&wishes)
        return wishes.messages(after: former, video: 1, audio: 2)
    }

    @Test func eachChannelIsToldByItself() {
        #expect(messages { $0.paused = .video } == [.pause(Pause(mask: 2, reason: .user))])
        #expect(messages { $0.paused = .audio } == [.pause(Pause(mask: 4, reason: .user))])
        #expect(
            messages { $0.paused = .all }
                == [.pause(Pause(mask: 2, reason: .user)), .pause(Pause(mask: 4, reason: .user))])
        #expect(messages { _ in }.isEmpty)
    }

    @Test func hiddenIsAReasonOfItsOwn() {
        var hidden = ReceptionWishes()
        hidden.isVideoHidden = true
        #expect(messages { $0.isVideoHidden = true } == [.pause(Pause(mask: 2, reason: .hidden))])
        #expect(messages({ $0.isVideoHidden = false }, after: hidden) == [.resume(Pause(mask: 2, reason: .hidden))])
        // It is stopped already, for another reason.
        #expect(messages({ $0.paused = .video }, after: hidden).isEmpty)
    }

    @Test func whatIsNotThereIsNotPaused() {
        var wishes = ReceptionWishes()
        wishes.paused = .all
        wishes.preferred.frameRate = .fps30
        #expect(
            wishes.messages(after: ReceptionWishes(), video: nil, audio: 2)
                == [.pause(Pause(mask: 4, reason: .user))])
    }

    @Test func aWishIsToldOnce() {
        var wishes = ReceptionWishes()
        wishes.preferred = PreferredPicture(width: 640, height: 480)
        let size = PictureSize(width: 640, height: 480)
        #expect(wishes.messages(after: ReceptionWishes(), video: 1, audio: nil) == [.prefer(Prefer(size: size))])
        #expect(wishes.messages(after: wishes, video: 1, audio: nil).isEmpty)
    }
}
