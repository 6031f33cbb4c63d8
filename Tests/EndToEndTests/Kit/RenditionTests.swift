import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import ProducerKit
import StudioKit
import Testing

extension EndToEnd {
    /// Studios that wish for another picture than the others.
    @Suite struct RenditionTests {
        private struct Setting {
            let stage: Stage
            let source: TestPatternSource
            let play: SourceRun

            init() async throws {
                stage = try Stage()
                try await stage.pair()
                source = try TestPatternSource.small()
                play = SourceRun(stage.producer)
                let (play, source) = (play, source)
                Task.detached { _ = try await play.play(source) }
            }

            /// The source goes on for so many pictures.
            func waitForPictures(_ count: Int) async throws {
                let now = play.state.value.frames
                #expect(try await play.state.wait { $0.frames >= now + count })
            }

            func finish(_ runs: [SessionRun]) async throws {
                source.stop()
                #expect(try await play.state.wait { $0.end != nil })
                for run in runs { try await run.close() }
                try await stage.stop()
            }

            /// Waits until the producer says that it encodes at this bitrate.
            func isTold(_ run: SessionRun, _ bitrate: Int) async throws -> Bool {
                try await run.state.wait { $0.rates.last?.bitrate == bitrate || $0.isEnded }
                    && !run.state.value.isEnded
            }

            /// Waits for a picture of this size that comes after what was decoded by now, and for some more.
            func shows(_ run: SessionRun, _ width: Int, _ height: Int) async throws -> Bool {
                let session = run.session
                return try await onThread {
                    var before: Int?
                    return waitUntil {
                        let now = session.statistics
                        guard now.width == width, now.height == height else { return false }
                        defer { before = before ?? now.framesDecoded }
                        return before.map { now.framesDecoded >= $0 + 5 } ?? false
                    }
                }
            }
        }

        private static func sizes(_ run: SessionRun) -> [String] {
            run.state.value.formats.compactMap {
                if case .video(let video) = $0 { "\(video.width)x\(video.height)@\(video.frameRate)" } else { nil }
            }
        }

        /// One gets what it wishes for, changes its mind twice, and nothing is lost; the other hears of nothing.
        @Test("O8: each gets its own picture") func eachGetsItsOwnPicture() async throws {
            let setting = try await Setting()
            let whole = try await setting.stage.connect()
            let own = try await setting.stage.connect()
            let video = setting.source.info.video
            let (width, height) = (video?.width ?? 0, video?.height ?? 0)
            #expect(try await setting.shows(whole, width, height))
            #expect(try await setting.shows(own, width, height))
            let before = Self.sizes(whole)

            try own.session.prefer(PreferredPicture(width: width / 2, height: height / 2))
            #expect(try await setting.shows(own, width / 2, height / 2))
            try own.session.prefer(PreferredPicture(width: width, height: height, frameRate: FrameRate(5)))
            #expect(try await setting.shows(own, width, height))
            #expect(Self.sizes(own).last?.hasSuffix("@5") == true, "\(Self.sizes(own))")
            try own.session.prefer(PreferredPicture(width: width, height: height, frameRate: FrameRate(240)))
            #expect(try await setting.shows(own, width, height))
            #expect(Self.sizes(own).last == before.last)

            #expect(Self.sizes(whole) == before && before.count == 1)
            for run in [whole, own] {
                let figures = run.session.statistics
                #expect(figures.framesLost == 0 && figures.framesDropped == 0, "\(figures)")
            }
            try await setting.finish([whole, own])
        }

        /// A wish before the beginning, and one that stays over a pause of the picture.
        @Test func aWishHoldsFromTheStartAndOverAPause() async throws {
            let setting = try await Setting()
            let video = setting.source.info.video
            let (width, height) = (video?.width ?? 0, video?.height ?? 0)
            let session = setting.stage.studio.makeSession(
                ProducerTarget(endpoint: setting.stage.endpoint, keyID: setting.stage.producer.keyID),
                configuration: StudioSessionConfiguration())
            try session.prefer(PreferredPicture(width: width / 2, height: height))
            let run = try SessionRun(session)
            #expect(try await setting.shows(run, width / 2, height / 2))
            session.pause(MediaSelection.video)
            #expect(try await run.state.wait { $0.stops.last == MediaSelection.video })
            session.resume(MediaSelection.video)
            #expect(try await setting.shows(run, width / 2, height / 2))
            #expect(session.statistics.framesLost == 0)
            try await setting.finish([run])
        }

        /// One encode for all, and each has everything; who comes last has a picture of its own key frame.
        @Test func tenStudiosAtOnce() async throws {
            let setting = try await Setting()
            var runs: [SessionRun] = []
            for _ in 0..<10 { runs.append(try await setting.stage.connect()) }
            for run in runs { #expect(try await run.state.wait { $0.hasFrame }) }
            let before = runs.map { $0.session.statistics.framesReceived }
            let sent = setting.stage.producer.statistics.framesSent
            try await setting.waitForPictures(60)
            let encoded = setting.stage.producer.statistics.framesSent - sent
            #expect(encoded < 120, "one encode for all: \(encoded)")
            for (run, count) in zip(runs, before) {
                let session = run.session
                #expect(try await onThread { waitUntil { session.statistics.framesReceived >= count + 50 } })
                #expect(session.statistics.framesLost == 0 && session.statistics.framesDropped == 0)
            }
            let newcomer = try await setting.stage.connect()
            #expect(try await newcomer.state.wait { $0.hasFrame })
            try await setting.finish(runs + [newcomer])
        }

        /// From one host: most are turned away at first, and come again by themselves.
        @Test func tenStudiosInTheSameInstant() async throws {
            let setting = try await Setting()
            let target = ProducerTarget(endpoint: setting.stage.endpoint, keyID: setting.stage.producer.keyID)
            // On a machine that is busy some may have no luck in all tries that a session makes by itself.
            var configuration = StudioSessionConfiguration()
            configuration.reconnection = .always
            let runs = try (0..<10).map { _ in
                try SessionRun(setting.stage.studio.makeSession(target, configuration: configuration))
            }
            for run in runs {
                #expect(try await run.state.wait { $0.hasFrame || $0.isEnded })
                #expect(run.state.value.hasFrame, "\(String(describing: run.state.value.error))")
                #expect(run.state.value.connections == 1)
            }
            try await setting.finish(runs)
        }

        /// More wishes than encodes: all get a picture.
        @Test func whoComesTooLateGetsTheWholePicture() async throws {
            let setting = try await Setting()
            let video = setting.source.info.video
            let (width, height) = (video?.width ?? 0, video?.height ?? 0)
            var runs: [SessionRun] = []
            for (wished, made) in zip([304, 288, 272, 256], [(304, 172), (288, 162), (272, 154), (width, height)]) {
                let run = try await setting.stage.connect()
                try run.session.prefer(PreferredPicture(width: wished, height: height))
                let isShown = try await setting.shows(run, made.0, made.1)
                #expect(isShown, "\(wished): \(run.session.statistics.width)x\(run.session.statistics.height)")
                runs.append(run)
            }
            // One goes: its encode is free for another wish.
            try await runs[0].close()
            try runs[3].session.prefer(PreferredPicture(width: width / 2, height: height / 2))
            #expect(try await setting.shows(runs[3], width / 2, height / 2))
            try await setting.finish(Array(runs.dropFirst()))
        }

        @Test("S9: another bitrate is applied while pictures are sent")
        func configuredBitrate() async throws {
            let setting = try await Setting()
            let run = try await setting.stage.connect()
            #expect(try await run.state.wait { $0.hasFrame })
            let producer = setting.stage.producer
            #expect(try producer.configure(["bitrate": "450k"]).isEmpty)
            #expect(try await setting.isTold(run, 450_000))
            #expect(try producer.configure(["bitrate": "1M"]).isEmpty)
            #expect(try await setting.isTold(run, 1_000_000))
            try await setting.waitForPictures(10)
            #expect(run.state.value.pictureStates.isEmpty)
            try await setting.finish([run])
        }
    }
}
