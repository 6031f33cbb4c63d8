import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import ProducerKit
import StudioKit
import Testing

extension EndToEnd {
    /// A studio that stops what comes to it.
    @Suite struct StudioPauseTests {
        /// A producer that plays the pattern, and a studio that receives it.
        private struct Setting {
            let stage: Stage
            let source: TestPatternSource
            let play: SourceRun
            let collector = HeaderCollector()
            let run: SessionRun

            init(
                port: UInt16 = 0, reconnection: Reconnection = .never, duration: MediaDuration? = nil,
                replay: ReplaySettings? = nil
            ) async throws {
                stage = try Stage(port: port)
                try await stage.pair()
                source = try TestPatternSource.small()
                play = SourceRun(stage.producer)
                let (play, source) = (play, source)
                Task.detached { _ = try await play.play(source) }
                var configuration = StudioSessionConfiguration()
                configuration.packetOutputs = [collector]
                configuration.reconnection = reconnection
                configuration.duration = duration
                configuration.replay = replay
                run = try await stage.connect(configuration)
                #expect(
                    try await collector.entries.wait { $0.count { $0.isVideo } > 5 && $0.count { !$0.isVideo } > 5 })
            }

            func count(_ isVideo: Bool) -> Int { collector.entries.value.count { $0.isVideo == isVideo } }

            /// So many more packets come.
            func waitForMore(_ count: Int, isVideo: Bool) async throws {
                let before = self.count(isVideo)
                #expect(try await collector.entries.wait { $0.count { $0.isVideo == isVideo } >= before + count })
            }

            func waitForPictures(_ count: Int) async throws {
                let now = play.state.value.frames
                #expect(try await play.state.wait { $0.frames >= now + count })
            }

            func finish() async throws {
                source.stop()
                #expect(try await play.state.wait { $0.end != nil })
                try await run.close()
                try await stage.stop()
            }
        }

        @Test func soundGoesOnWhileThePictureIsHidden() async throws {
            let setting = try await Setting()
            let (session, stage) = (setting.run.session, setting.stage)
            let second = HeaderCollector()
            var configuration = StudioSessionConfiguration()
            configuration.packetOutputs = [second]
            let other = try await stage.connect(configuration)
            #expect(try await second.entries.wait { $0.contains { $0.isVideo } })

            session.setVideoHidden(true)
            let hidden = setting.count(true)
            #expect(session.stoppedMedia == .video)
            try await setting.waitForMore(50, isVideo: false)
            #expect(setting.count(true) <= hidden + 1, "one may have been on its way to the outputs")
            // The other studio has its picture all the while, and hears of nothing.
            let seen = second.entries.value.count { $0.isVideo }
            #expect(try await second.entries.wait { $0.count { $0.isVideo } >= seen + 10 })
            #expect(other.state.value.pauses.isEmpty && setting.run.state.value.pauses.isEmpty)

            let last = setting.count(true)
            session.setVideoHidden(false)
            #expect(try await setting.run.state.wait { $0.stops == [.video, []] })
            try await setting.waitForMore(10, isVideo: true)
            let pictures = setting.collector.entries.value.filter(\.isVideo)
            #expect(pictures.dropFirst(last).first?.header.isKey == true)
            #expect(session.statistics.framesLost == 0 && session.statistics.audioPacketsLost == 0)
            try await other.close()
            try await setting.finish()
        }

        /// What nobody receives is not encoded.
        @Test func nothingIsEncodedWhileTheOnlyStudioPauses() async throws {
            let setting = try await Setting()
            let (session, producer) = (setting.run.session, setting.stage.producer)
            session.pause()
            #expect(session.stoppedMedia == .all)
            // Until the message has arrived.
            try await setting.waitForPictures(10)
            let sent = producer.statistics
            let entries = setting.collector.entries.value.count
            try await setting.waitForPictures(80)
            #expect(producer.statistics.framesSent == sent.framesSent)
            #expect(producer.statistics.audioPacketsSent == sent.audioPacketsSent)
            #expect(setting.collector.entries.value.count == entries)
            #expect(!setting.run.state.value.isEnded, "longer than the silence that ends a session")
            #expect(!producer.isPaused)

            session.resume(.audio)
            try await setting.waitForMore(20, isVideo: false)
            #expect(producer.statistics.framesSent == sent.framesSent)
            session.resume()
            try await setting.waitForMore(20, isVideo: true)
            #expect(setting.run.state.value.stops == [.all, .video, []])
            #expect(session.statistics.framesLost == 0 && session.statistics.audioPacketsLost == 0)
            try await setting.finish()
        }

        /// Neither of the time that was asked for, nor of what is held, whoever has paused.
        @Test func aPauseIsNoTime() async throws {
            let setting = try await Setting(duration: .seconds(8), replay: ReplaySettings())
            let (session, producer) = (setting.run.session, setting.stage.producer)
            session.pause()
            try await setting.waitForPictures(60)
            session.resume()
            try await setting.waitForMore(10, isVideo: true)
            producer.pause()
            #expect(try await setting.run.state.wait { $0.pauses == [true] })
            try await setting.waitForPictures(60)
            producer.resume()
            try await setting.waitForMore(10, isVideo: true)
            let (held, seconds) = (session.replay.status.held.seconds, session.statistics.mediaSeconds)
            #expect(abs(held - seconds) < 1, "\(held) s held of \(seconds) s")
            #expect(try await setting.run.end() == nil)
            // 8 seconds of 30 pictures, without the four seconds of pauses.
            #expect(215...245 ~= session.statistics.framesReceived, "\(session.statistics.framesReceived)")
            #expect(abs(session.statistics.mediaSeconds - 8) < 0.3, "\(session.statistics.mediaSeconds)")
            setting.source.stop()
            #expect(try await setting.play.state.wait { $0.end != nil })
            try await setting.stage.stop()
        }

        @Test func aHiddenPictureStaysHiddenAfterAPause() async throws {
            let setting = try await Setting()
            let session = setting.run.session
            session.setVideoHidden(true)
            session.pause()
            session.resume()
            #expect(session.stoppedMedia == .video)
            #expect(try await setting.run.state.wait { $0.stops == [.video, .all, .video] })
            try await setting.waitForMore(20, isVideo: false)
            let pictures = setting.count(true)
            try await setting.waitForMore(20, isVideo: false)
            #expect(setting.count(true) == pictures)
            try await setting.finish()
        }

        @Test func aPauseHoldsForTheNextConnection() async throws {
            let setting = try await Setting(port: try LoopbackSocket.freePort(), reconnection: .always)
            let (session, stage) = (setting.run.session, setting.stage)
            session.pause(.video)
            try await stage.stop()
            #expect(try await setting.run.state.wait { $0.losses.count == 1 })
            let pictures = setting.count(true)
            let play = SourceRun(stage.producer)
            try stage.producer.start()
            #expect(try await setting.run.state.wait { $0.connections == 2 })
            let source = try TestPatternSource.small()
            Task.detached { _ = try await play.play(source) }
            try await setting.waitForMore(50, isVideo: false)
            #expect(setting.count(true) == pictures)
            session.resume(.video)
            try await setting.waitForMore(10, isVideo: true)
            source.stop()
            #expect(try await play.state.wait { $0.end != nil })
            try await setting.finish()
        }

        /// The wish itself is for the producer's encoder; here it must only do no harm.
        @Test func aWishDoesNotDisturb() async throws {
            let setting = try await Setting()
            let session = setting.run.session
            try session.prefer(PreferredPicture(width: 160, height: 90, frameRate: FrameRate(15)))
            try session.prefer(PreferredPicture(maximumBitrate: 500_000))
            #expect(
                session.preferredPicture
                    == PreferredPicture(width: 160, height: 90, frameRate: FrameRate(15), maximumBitrate: 500_000))
            for wrong in [
                PreferredPicture(width: 160), PreferredPicture(width: 0, height: 90),
                PreferredPicture(width: 9000, height: 90), PreferredPicture(maximumBitrate: -1),
            ] {
                let error = #expect(throws: GantryError.self) { try session.prefer(wrong) }
                #expect(error?.code == .invalidArgument)
            }
            try await setting.waitForMore(20, isVideo: true)
            #expect(!setting.run.state.value.isEnded)
            try await setting.finish()
        }
    }
}
