import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import ProducerKit
import StudioKit
import Testing

extension EndToEnd {
    @Suite struct ReplayTests {
        /// A producer that plays the pattern, and a studio with an output that follows the replay and one that does not.
        private final class Setting: Sendable {
            let stage: Stage
            let source: TestPatternSource
            let play: SourceRun
            let collector = HeaderCollector()
            let shown = NumberLog()
            let live = NumberLog(followsReplay: false)
            let recording: MuxOutput
            let run: SessionRun

            init(_ settings: ReplaySettings?, reconnection: Reconnection = .never, port: UInt16 = 0) async throws {
                stage = try Stage(port: port)
                try await stage.pair()
                source = try TestPatternSource.small()
                play = SourceRun(stage.producer)
                recording = try MuxOutput.recording(path: stage.file("take.mp4"), overwrite: false) {
                    Issue.record("\($0)")
                }
                var configuration = StudioSessionConfiguration()
                configuration.packetOutputs = [collector, recording]
                configuration.videoOutputs = [shown, live]
                configuration.audioOutputs = [shown]
                configuration.reconnection = reconnection
                configuration.replay = settings
                let (play, source) = (play, source)
                Task.detached { _ = try await play.play(source) }
                run = try await stage.connect(configuration)
                #expect(try await shown.state.wait { $0.entries.count > 5 })
            }

            var replay: Replay { run.session.replay }

            func waitForMore(_ count: Int, in log: NumberLog) async throws {
                let before = log.state.value.entries.count
                #expect(try await log.state.wait { $0.entries.count >= before + count })
            }

            func finish() async throws {
                source.stop()
                #expect(try await play.state.wait { $0.end != nil })
                try await run.close()
                try await stage.stop()
            }
        }

        @Test("S5: what was is shown again, and then what is") func whatWasIsShownAgainAndThenWhatIs() async throws {
            let setting = try await Setting(ReplaySettings(duration: .seconds(20)))
            let (replay, shown, live) = (setting.replay, setting.shown, setting.live)
            try await setting.waitForMore(100, in: live)
            let held = replay.status
            #expect(held.isArmed && held.held >= .seconds(3) && held.bytes > 1000 && held.behind == nil)

            let newest = try #require(live.state.value.entries.last)
            let before = shown.state.value
            let behind = try #require(try replay.seek(to: .seconds(2)))
            #expect(abs(behind.seconds - 2) < 0.1)
            #expect(try await setting.run.state.wait { $0.replays.count == 1 })
            try await setting.waitForMore(45, in: shown)
            let middle = try #require(replay.status.behind)
            #expect(abs(middle.seconds - 2) < 0.3, "it goes on in real time")

            // What was shown live, until time jumps back.
            let all = shown.state.value.entries
            let jump = try #require(
                all.indices.dropFirst().first { all[$0].presentation < all[$0 - 1].presentation })
            #expect(jump >= before.entries.count - 1)
            let again = Array(all[jump...])
            let first = try #require(again.first)
            let back = (newest.presentation - first.presentation).seconds
            #expect(
                back > 1.5 && back < 2.2, "the picture of two seconds ago, and not the key frame before it: \(back)")
            let numbers = again.compactMap(\.number)
            #expect(numbers.count == again.count && numbers.areConsecutive)
            #expect(again.allSatisfy(\.isReplayed) && !all[..<jump].contains(where: \.isReplayed))
            // The same pictures as were shown then.
            #expect(Set(all[..<jump].compactMap(\.number)).isSuperset(of: numbers.prefix(30)))
            let took = (again[40].shown - first.shown).seconds
            let lasts = (again[40].presentation - first.presentation).seconds
            #expect(took > lasts - 0.2, "\(took) s for what lasts \(lasts) s")
            let sound = shown.state.value.sound
            #expect(zip(sound, sound.dropFirst()).contains { $1 < $0 }, "sound goes back as well")

            // Further back, by steps; and no further than there is.
            let further = try #require(try replay.seek(by: .seconds(-1)))
            #expect(abs(further.seconds - 3) < 0.4)
            let oldest = try #require(try replay.seek(by: .seconds(-500)))
            #expect(oldest <= replay.status.held)
            #expect(try replay.seek(by: .seconds(500)) == nil)
            #expect(try await setting.run.state.wait { $0.replays.last == .some(nil) })
            #expect(replay.status.behind == nil)
            let end = try #require(live.state.value.entries.last?.number)
            #expect(try await shown.state.wait { ($0.numbers.last ?? 0) > end })
            replay.goLive()

            #expect(shown.state.value.entries.last?.isReplayed == false)
            // What does not follow has seen nothing of all this.
            #expect(live.state.value.numbers.areConsecutive)
            try await setting.finish()
            let recorded = try await Judge.pictures(setting.stage.file("take.mp4"), width: 320, height: 180)
            let recordedNumbers = Judge.frameNumbers(recorded).compactMap(\.self)
            #expect(recordedNumbers.count == recorded.count && recordedNumbers.areConsecutive)
            #expect(try replayFails(replay) == .invalidState, "it ends with the session")
        }

        private func replayFails(_ replay: Replay) throws -> GantryError.Code? {
            #expect(throws: GantryError.self) { try replay.seek(to: .seconds(1)) }?.code
        }

        @Test func whatIsHeldCanBeSaved() async throws {
            let setting = try await Setting(ReplaySettings(duration: .seconds(2)))
            let (replay, stage) = (setting.replay, setting.stage)
            // More than is held.
            try await setting.waitForMore(200, in: setting.live)
            // While it is shown, too.
            try replay.seek(to: .seconds(1))
            let last = try #require(setting.live.state.value.numbers.last)
            let path = stage.file("replay.mp4")
            let saved = try await onThread { try replay.save(to: path) }
            #expect(saved.paths == [path])
            let facts = try await Judge.probe(path)
            #expect(facts.video["codec_name"] == "h264" && facts.audio["codec_name"] == "opus")
            #expect(facts.frames == saved.frames)
            // Two seconds, the margin, and what the key frame before that brings.
            #expect(facts.duration >= 2 && facts.duration <= 6, "\(facts.duration)")
            #expect(abs(facts.duration - saved.duration.seconds) < 0.1)
            try await Judge.expectSound(path)
            let numbers = Judge.frameNumbers(try await Judge.pictures(path, width: 320, height: 180)).compactMap(\.self)
            #expect(numbers.count == facts.frames && numbers.areConsecutive)
            #expect((numbers.last ?? 0) + 2 >= last && (numbers.first ?? 0) > 30)

            for (wrong, code) in [
                (path, GantryError.Code.outputNotWritable), (stage.file("x.avi"), .invalidArgument),
                (stage.file("no/such/folder.mp4"), .outputNotWritable),
            ] {
                let error = await #expect(throws: GantryError.self) {
                    try await onThread { try replay.save(to: wrong) }
                }
                #expect(error?.code == code, "\(wrong): \(String(describing: error))")
            }
            let again = stage.file("replay.mkv")
            for overwrite in [false, true] {
                _ = try await onThread { try replay.save(to: again, overwrite: overwrite) }
                try await Judge.expectSound(again)
            }
            try await setting.finish()
        }

        /// What is heard goes into a pipe: all of it, one after the other, without the silence of the jumps.
        @Test func aPipeGetsTheSoundThatIsShown() async throws {
            let stage = try Stage()
            try await stage.pair()
            let source = try TestPatternSource.small()
            let play = SourceRun(stage.producer)
            Task.detached { _ = try await play.play(source) }
            let path = stage.file("sound.pipe")
            #expect(mkfifo(path, 0o600) == 0)
            let reader = try ToolRun([
                "ffmpeg", "-v", "error", "-y", "-i", path, "-f", "s16le", stage.file("sound.raw"),
            ])
            var configuration = StudioSessionConfiguration()
            let shown = NumberLog()
            configuration.audioOutputs = [
                try WAVOutput(path: path, overwrite: false) { Issue.record("\($0)") }, shown,
            ]
            configuration.replay = ReplaySettings()
            let run = try await stage.connect(configuration)
            #expect(try await shown.state.wait { $0.sound.count >= 400 })
            try run.session.replay.seek(to: .seconds(3))
            #expect(try await run.state.wait { $0.replays.count >= 1 })
            let jumped = shown.state.value.sound.count
            #expect(try await shown.state.wait { $0.sound.count >= jumped + 100 })
            run.session.replay.goLive()
            #expect(try await run.state.wait { $0.replays.last == .some(nil) })
            let back = shown.state.value.sound.count
            #expect(try await shown.state.wait { $0.sound.count >= back + 100 })
            source.stop()
            #expect(try await play.state.wait { $0.end != nil })
            try await run.close()
            #expect(try await reader.end().status == 0)
            let bytes = try #require(
                try FileManager.default.attributesOfItem(atPath: stage.file("sound.raw"))[.size] as? Int)
            // 480 samples of 4 bytes each; a jump that is not told of is three seconds of silence, or as much that is cut.
            let blocks = shown.state.value.sound.count
            #expect(abs(bytes / 1920 - blocks) < 100, "\(bytes / 1920) of \(blocks)")
            try await stage.stop()
        }

        /// An output that changes the replay from within.
        private final class Meddler: VideoOutput, @unchecked Sendable {  // `replay` is set before anything is shown.
            weak var replay: Replay?
            let error = Watched<GantryError.Code?>(nil)
            let hasMeddled = Watched(false)
            let returnsAtOnce = true

            func receive(_ frame: VideoFrame) {
                guard let replay, replay.status.behind != nil, !hasMeddled.value else { return }
                do throws(GantryError) {
                    try replay.arm(ReplaySettings(duration: .seconds(7)))
                } catch {
                    let code = error.code
                    self.error.change { $0 = code }
                }
                replay.disarm()
                hasMeddled.change { $0 = true }
            }

            func videoEnded() {}
        }

        @Test func anOutputCannotBlockTheReplay() async throws {
            let stage = try Stage()
            try await stage.pair()
            let source = try TestPatternSource.small()
            let play = SourceRun(stage.producer)
            Task.detached { _ = try await play.play(source) }
            let (meddler, follower) = (Meddler(), NumberLog())
            // It gets what is live, and meddles while the replay's thread waits to show something.
            let live = LiveOutput(meddler)
            var configuration = StudioSessionConfiguration()
            configuration.videoOutputs = [live, follower]
            configuration.replay = ReplaySettings()
            let run = try await stage.connect(configuration)
            let replay = run.session.replay
            #expect(try await follower.state.wait { $0.entries.count >= 90 })
            meddler.replay = replay
            try replay.seek(to: .seconds(2))
            #expect(try await meddler.hasMeddled.wait { $0 })
            #expect(meddler.error.value == .invalidState)
            #expect(!replay.isArmed)
            let count = follower.state.value.entries.count
            #expect(try await follower.state.wait { $0.entries.count >= count + 30 })
            try await onThread { try replay.arm() }
            source.stop()
            #expect(try await play.state.wait { $0.end != nil })
            try await run.close()
            try await stage.stop()
        }

        /// Hands on what is live.
        private final class LiveOutput: VideoOutput {
            private let output: any VideoOutput
            let followsReplay = false
            let returnsAtOnce = true

            init(_ output: any VideoOutput) { self.output = output }

            func receive(_ frame: VideoFrame) { output.receive(frame) }
            func videoEnded() { output.videoEnded() }
        }

        @Test func keyFramesComeWhileItIsArmed() async throws {
            let setting = try await Setting(nil)
            let replay = setting.replay
            // A recording wants them as well: a session of its own for this.
            let collector = HeaderCollector()
            var configuration = StudioSessionConfiguration()
            configuration.packetOutputs = [collector]
            try await setting.run.close()
            #expect(try replayFails(replay) == .invalidState)
            let run = try await setting.stage.connect(configuration)
            func keys(_ entries: [HeaderCollector.Entry]) -> Int { entries.count { $0.isVideo && $0.header.isKey } }
            func waitForPictures(_ count: Int) async throws {
                let before = collector.entries.value.count { $0.isVideo }
                #expect(try await collector.entries.wait { $0.count { $0.isVideo } >= before + count })
            }
            try await waitForPictures(100)
            #expect(keys(collector.entries.value) == 1)
            #expect(try replayFails(run.session.replay) == .invalidState)

            try run.session.replay.arm()
            try await waitForPictures(10)
            #expect(keys(collector.entries.value) == 2, "at once")
            try await waitForPictures(130)
            let armed = collector.entries.value.filter { $0.isVideo && $0.header.isKey }.dropFirst()
            let times = armed.map { $0.header.captureTime }
            let steps = zip(times, times.dropFirst()).map { ($1 - $0).seconds }
            #expect(steps.count >= 2 && steps.allSatisfy { $0 > 1.7 && $0 < 2.7 }, "and every two seconds: \(steps)")
            #expect(run.session.replay.status.held > .seconds(4))
            #expect(try run.session.replay.seek(to: .seconds(1)) != nil)
            #expect(try await run.state.wait { $0.replays.count == 1 })

            run.session.replay.disarm()
            #expect(try await run.state.wait { $0.replays.last == .some(nil) })
            #expect(run.session.replay.status == ReplayStatus())
            // One may have been asked for already.
            try await waitForPictures(10)
            let before = keys(collector.entries.value)
            try await waitForPictures(90)
            #expect(keys(collector.entries.value) == before)
            #expect(throws: GantryError.self) {
                try run.session.replay.arm(ReplaySettings(duration: .milliseconds(10)))
            }
            try await run.close()
            #expect(throws: GantryError.self) { try run.session.replay.arm() }
            setting.source.stop()
            #expect(try await setting.play.state.wait { $0.end != nil })
            try await setting.stage.stop()
        }

        /// What is held outlives the connection; what came before the loss and after it follow each other.
        @Test func theLossOfTheConnectionIsNotSeen() async throws {
            let setting = try await Setting(
                ReplaySettings(duration: .seconds(20)), reconnection: .always, port: try LoopbackSocket.freePort())
            let (replay, shown, stage) = (setting.replay, setting.shown, setting.stage)
            try await setting.waitForMore(60, in: setting.live)
            try await stage.stop()
            #expect(try await setting.run.state.wait { $0.losses.count == 1 })
            #expect(try await shown.state.wait { $0.interruptions == 1 })
            let held = replay.status.held
            #expect(held > .seconds(1))
            // Shown while nobody is there: until all has been shown.
            #expect(try replay.seek(to: .seconds(1)) != nil)
            let count = shown.state.value.entries.count
            #expect(try await setting.run.state.wait { $0.replays.last == .some(nil) })
            #expect(shown.state.value.entries.count >= count + 25)
            #expect(shown.state.value.interruptions == 2, "told again: there is nothing more to show")

            // The source has gone on all the while.
            try stage.producer.start()
            #expect(try await setting.run.state.wait { $0.connections == 2 })
            try await setting.waitForMore(45, in: setting.live)
            let now = replay.status.held
            #expect(now > held + .seconds(1) && now < held + .seconds(10))
            let path = stage.file("both.mp4")
            let saved = try await onThread { try replay.save(to: path) }
            try await Judge.expectSound(path)
            #expect(saved.paths.count == 1 && saved.frames >= 90)
            // Across the seam.
            let start = shown.state.value.entries.count
            #expect(try replay.seek(to: now) != nil)
            #expect(try await setting.run.state.wait { $0.replays.count == 3 })
            #expect(try await shown.state.wait { $0.entries.count >= start + 120 })
            replay.goLive()
            #expect(try await setting.run.state.wait { $0.replays.count == 4 })
            let all = shown.state.value.entries
            let back = try #require(
                all.indices.dropFirst(start).first { all[$0].presentation < all[$0 - 1].presentation })
            let numbers = all[back..<start + 115].compactMap(\.number)
            let seam = try #require(numbers.indices.dropFirst().first { numbers[$0] > numbers[$0 - 1] + 1 })
            #expect(Array(numbers[..<seam]).areConsecutive && Array(numbers[seam...]).areConsecutive)
            let step = all[back + seam].shown - all[back + seam - 1].shown
            #expect(step < .milliseconds(500), "the hole is not waited for")
            try await setting.finish()
        }
    }
}
