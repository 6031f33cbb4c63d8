import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import ProducerKit
import StudioKit
import Testing

extension EndToEnd {
    @Suite struct ProducerVideoTests {
        private struct Setting {
            let stage: Stage
            let log = PictureLog()
            let run: SessionRun

            init(_ settings: ProducerConfiguration.VideoSettings = .init()) async throws {
                stage = try Stage(video: settings, audio: nil)
                try await stage.pair()
                var configuration = StudioSessionConfiguration()
                configuration.videoOutputs = [log]
                run = try await stage.connect(configuration)
                #expect(try await stage.waitForReceivers(1))
            }

            func finish() async throws {
                try await run.close()
                try await stage.stop()
            }
        }

        private func isNear(_ a: [Double], _ b: [Double]) -> Bool { zip(a, b).allSatisfy { abs($0 - $1) < 8 } }

        @Test(
            "C8: every raw format comes out in its colours",
            arguments: [CapturedFrame.Format.bgra, .rgba, .nv12, .i420, .yuyv, .uyvy], [0, 32])
        func rawFormats(_ format: CapturedFrame.Format, padding: Int) async throws {
            let setting = try await Setting()
            let picture = QuarterPicture(format, padding: padding)
            let entry = try #require(try await setting.log.sent(picture.frame, by: setting.stage.producer))
            #expect(entry.width == 320 && entry.height == 180)
            for quarter in 0..<4 {
                let (seen, wanted) = (entry.quarters[quarter], QuarterPicture.yuv(quarter))
                #expect(isNear(seen, wanted), "quarter \(quarter): \(seen), not \(wanted)")
            }
            try await setting.finish()
        }

        @Test("C8: odd sizes lose a column and a row; size and format change from picture to picture")
        func sizesChange() async throws {
            let setting = try await Setting()
            for (format, width, height) in [
                (CapturedFrame.Format.i420, 321, 181), (.nv12, 161, 91), (.bgra, 33, 47), (.yuyv, 65, 49),
                (.bgra, 320, 180),
            ] {
                let picture = QuarterPicture(format, width: width, height: height)
                let entry = try #require(try await setting.log.sent(picture.frame, by: setting.stage.producer))
                #expect(entry.width == width & ~1 && entry.height == height & ~1)
                #expect(isNear(entry.quarters[3], QuarterPicture.yuv(3)), "\(format): \(entry.quarters[3])")
            }
            try await setting.finish()
        }

        /// Each change is a message to each studio, which takes 200 a second.
        @Test("C8: sizes that change all the time end no session") func sizesWithoutEnd() async throws {
            let stage = try Stage()
            try await stage.pair()
            let run = try await stage.connect()
            #expect(try await stage.waitForReceivers(1))
            let pixels = [UInt8](repeating: 90, count: 400 * 400 * 4)
            for number in 0..<1500 {
                let side = 64 + 2 * (number % 35)
                try pixels.withUnsafeBytes { bytes in
                    _ = try stage.producer.enqueueVideo(
                        CapturedFrame(.bgra, width: side, height: side, .init(bytes, stride: side * 4)))
                }
                if number % 10 == 0 {
                    try await onThread { MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(10)) }
                }
            }
            #expect(!run.state.value.isEnded, "\(String(describing: run.state.value.error))")
            #expect(try await run.state.wait { $0.hasFrame })
            try await run.close()
            try await stage.stop()
        }

        @Test("C8: turned pictures arrive upright", arguments: [90, 180, 270])
        func rotation(_ degrees: Int) async throws {
            let setting = try await Setting()
            let picture = QuarterPicture(.nv12)
            var frame = picture.frame
            frame.rotation = degrees
            let entry = try #require(try await setting.log.sent(frame, by: setting.stage.producer))
            #expect(entry.width == (degrees == 180 ? 320 : 180) && entry.height == (degrees == 180 ? 180 : 320))
            // Where the quarters of the turned picture were before: upper left, upper right, lower left, lower right.
            let origin = [90: [2, 0, 3, 1], 180: [3, 2, 1, 0], 270: [1, 3, 0, 2]][degrees] ?? []
            for (quarter, before) in origin.enumerated() {
                #expect(isNear(entry.quarters[quarter], QuarterPicture.yuv(before)), "quarter \(quarter)")
            }
            try await setting.finish()
        }

        @Test("C8: H.264 and JPEG are decoded, and encoded again", arguments: [MediaCodec.h264, .mjpeg])
        func codedFormats(_ codec: MediaCodec) async throws {
            let setting = try await Setting()
            let producer = setting.stage.producer
            let packets = codec == .h264 ? try await MediaClips.h264(frames: 40) : try await MediaClips.mjpeg()
            let start = MonotonicClock.now()
            var taken = 0
            for packet in packets + packets + packets {
                let isTaken = try producer.enqueueVideo(
                    codec == .h264 ? .init(h264: packet.bytes) : .init(mjpeg: packet.bytes))
                taken += isTaken ? 1 : 0
                _ = try await setting.log.entries.wait(.milliseconds(20)) { _ in false }
            }
            #expect(taken > packets.count)
            #expect(!producer.needsKeyFrame)
            #expect(
                try await setting.log.entries.wait {
                    $0.contains { $0.time >= start && $0.width == 320 && $0.height == 180 }
                })
            try await setting.finish()
        }

        @Test("C8: H.264 of a device is handed on; a key frame is asked for")
        func codedPassThrough() async throws {
            var settings = ProducerConfiguration.VideoSettings(sourceType: .camera)
            settings.coded = VideoStreamFormat(codec: .h264, width: 320, height: 180, frameRate: .fps30, color: .bt709)
            let setting = try await Setting(settings)
            let producer = setting.stage.producer
            #expect(producer.needsKeyFrame)
            let packets = try await MediaClips.h264(frames: 30)
            let bytes = packets[0].bytes
            #expect(try producer.enqueueVideo(.init(h264: bytes)))
            #expect(try await setting.log.entries.wait { $0.contains { $0.width == 320 && $0.height == 180 } })
            #expect(try await onThread { waitUntil(.seconds(60)) { !producer.needsKeyFrame } })
            // Nothing else is taken then.
            let picture = QuarterPicture(.bgra)
            let wrong = try #require(await error { try producer.enqueueVideo(picture.frame) })
            #expect(wrong.code == .invalidArgument && wrong.message.contains("h264"))
            let jpeg = try await MediaClips.mjpeg(frames: 1)
            #expect(await error { try producer.enqueueVideo(.init(mjpeg: jpeg[0].bytes)) }?.code == .invalidArgument)
            try await setting.finish()
        }

        @Test(
            "C8: without a copy; what is held is released once, at the latest by stop()",
            arguments: [
                CapturedFrame.Format.i420, .nv12, .bgra,
            ])
        func zeroCopy(_ format: CapturedFrame.Format) async throws {
            let setting = try await Setting()
            let producer = setting.stage.producer
            let picture = QuarterPicture(format)
            let held = Watched((now: 0, most: 0, released: 0))
            for index in 0..<200 {
                held.change {
                    $0.now += 1
                    $0.most = max($0.most, $0.now)
                }
                try producer.enqueueVideo(picture.frame) {
                    _ = picture.bytes[0]
                    held.change {
                        $0.now -= 1
                        $0.released += 1
                    }
                }
                if index % 20 == 0 {
                    let count = setting.log.entries.value.count
                    _ = try await setting.log.entries.wait(.seconds(2)) { $0.count > count }
                }
            }
            // The one that is handed in as well.
            #expect(held.value.most <= 3)
            let entry = try #require(setting.log.entries.value.last)
            #expect(isNear(entry.quarters[0], QuarterPicture.yuv(0)))
            try await setting.stage.stop()
            #expect(held.value.released == 200 && held.value.now == 0)
            // Refused, and wrong: the memory comes back all the same.
            let after = Watched(0)
            #expect(try !producer.enqueueVideo(picture.frame) { after.change { $0 += 1 } })
            let short = CapturedFrame(
                format, width: 320, height: 180, bytes: UnsafeRawBufferPointer(rebasing: picture.bytes[..<100]))
            let wrong = await error { try producer.enqueueVideo(short) { after.change { $0 += 1 } } }
            #expect(wrong?.code == .invalidArgument)
            #expect(after.value == 2)
            try await setting.run.end()
        }
    }
}

/// What a call throws; nil when it does not.
func error(_ body: () throws -> some Any) async -> GantryError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? GantryError
    }
}
