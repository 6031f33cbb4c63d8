import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Glibc
import ProducerKit
import StudioKit
import Testing

extension EndToEnd {
    /// What a program does wrong gives an error or does nothing: never a crash, a dead-lock or a leak.
    @Suite struct ProducerMisuseTests {
        private final class Place {
            let folder: TestFolder
            let producer: ProducerController

            init(port: UInt16 = 0) throws {
                Isolation.apply()
                folder = try TestFolder()
                producer = try ProducerController(
                    configuration: ProducerConfiguration(
                        name: "Camera", port: port, stateDirectory: folder.file("producer")))
            }
        }

        private static func pixels() -> QuarterPicture { QuarterPicture(.i420, width: 64, height: 48) }

        @Test func beforeStartAndAfterStopNothingHappens() async throws {
            let place = try Place()
            let producer = place.producer
            let picture = Self.pixels()
            let released = Watched(0)
            for _ in 0..<2 {
                producer.stop()
                producer.stop()
                producer.pause()
                producer.resume()
                producer.cancelPairing()
                producer.confirmPairing(false)
                #expect(producer.state == .notRunning && !producer.isPaused && producer.port == nil)
                #expect(try producer.sendData(LabeledData(label: "a", bytes: [1])) == 0)
                #expect(try !producer.enqueueVideo(picture.frame))
                #expect(try !producer.enqueueVideo(picture.frame) { released.change { $0 += 1 } })
                #expect(try !producer.enqueuePCMAudio([Int32](repeating: 0, count: 960)))
                #expect(producer.audioSamplesRequired == 0 && !producer.needsKeyFrame && !producer.isReceived(.video))
                try producer.start()
                try await onThread { producer.stop() }
            }
            #expect(released.value == 2)
        }

        @Test func startingTwiceIsAnErrorAndChangesNothing() async throws {
            let port = try LoopbackSocket.freePort()
            let place = try Place(port: port)
            let producer = place.producer
            try producer.start()
            let second = await error { try producer.start() }
            #expect(second?.code == .invalidState && second?.message.contains("running already") == true)
            #expect(producer.port == port && producer.isRunning)
            try await onThread { producer.stop() }
            // At once, on the same port.
            try producer.start()
            #expect(producer.port == port)
            try await onThread { producer.stop() }
        }

        @Test func aNameThatWouldBeCutIsRefused() async throws {
            let folder = try TestFolder()
            let name = String(repeating: "Camera ", count: 5)
            let producer = await error {
                _ = try ProducerController(
                    configuration: ProducerConfiguration(name: name, stateDirectory: folder.file("producer")))
            }
            let studio = await error {
                _ = try StudioController(
                    configuration: StudioConfiguration(name: name, stateDirectory: folder.file("studio")))
            }
            for error in [producer, studio] {
                #expect(error?.code == .invalidArgument && error?.message.contains("32 characters") == true)
            }
        }

        /// Whoever starts as soon as it is possible: the end of a run is told before the beginning of the next one.
        @Test func runsAreToldOneAfterTheOther() async throws {
            let place = try Place()
            let producer = place.producer
            let events = producer.events
            let runs = 40
            let (started, isOver) = (Watched(0), Watched(false))
            async let starting: Void = onThread { while !isOver.value { try? producer.start() } }
            async let stopping: Void = onThread {
                for run in 1...runs {
                    // Told of it before the next one is ended: no more wait for the reader than it can hold.
                    started.waitBlocking { $0 >= run }
                    producer.stop()
                }
            }
            var ends = 0
            for await event in events {
                if case .started = event {
                    #expect(started.value == ends)
                    started.change { $0 += 1 }
                } else if case .stopped = event {
                    ends += 1
                    #expect(started.value == ends)
                    if ends == runs { break }
                }
            }
            isOver.change { $0 = true }
            _ = try await (starting, stopping)
            try await onThread { producer.stop() }
        }

        @Test func ofManyThatStartAtOnceOneDoes() async throws {
            let place = try Place()
            let producer = place.producer
            let codes = try await withThrowingTaskGroup(of: GantryError.Code?.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        try await onThread {
                            do throws(GantryError) {
                                try producer.start()
                                return nil
                            } catch {
                                return error.code
                            }
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(codes.count { $0 == nil } == 1)
            #expect(codes.allSatisfy { $0 == nil || $0 == .invalidState })
            #expect(producer.isRunning)
            try await onThread { producer.stop() }
        }

        /// Whatever of start, stop, enqueue, pause and settings of the delegate meets what.
        @Test func manyThreadsAtOnce() async throws {
            let place = try Place()
            let producer = place.producer
            let picture = Self.pixels()
            let other = QuarterPicture(.bgra, width: 66, height: 50)
            let delegate = DelegateLog()
            let (handed, released, isOver) = (Watched(0), Watched(0), Watched(false))
            @Sendable func loop(_ body: @escaping @Sendable () throws -> Void) async throws {
                try await onThread { while !isOver.value { try body() } }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        try await loop {
                            handed.change { $0 += 1 }
                            try producer.enqueueVideo(picture.frame) { released.change { $0 += 1 } }
                            try producer.enqueueVideo(other.frame)
                        }
                    }
                    group.addTask { try await loop { try producer.enqueuePCMAudio([Int16](repeating: 7, count: 960)) } }
                    group.addTask {
                        try await loop {
                            try? producer.start()
                            producer.pause()
                            _ = (producer.state, producer.statistics, producer.needsKeyFrame)
                            producer.stop()
                        }
                    }
                }
                group.addTask {
                    try await loop {
                        producer.delegate = delegate
                        producer.resume()
                        _ = producer.events
                        producer.delegate = nil
                    }
                }
                #expect(try await handed.wait { $0 > 3000 })
                isOver.change { $0 = true }
                try await group.waitForAll()
            }
            try await onThread { producer.stop() }
            #expect(producer.state == .notRunning)
            #expect(released.value == handed.value)
        }

        @Test func wrongPicturesSayWhatWasExpected() async throws {
            let place = try Place()
            let producer = place.producer
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 48 * 4, alignment: 16)
            defer { memory.deallocate() }
            _ = memory.initializeMemory(as: UInt8.self, repeating: 0)
            let bytes = UnsafeRawBufferPointer(memory)
            let none = UnsafeRawBufferPointer(start: nil, count: 0)
            func plane(_ count: Int, _ stride: Int) -> CapturedFrame.Plane {
                .init(UnsafeRawBufferPointer(rebasing: bytes[..<count]), stride: stride)
            }
            let wrong: [(CapturedFrame, String)] = [
                (.init(.bgra, width: 0, height: 0, bytes: bytes), "16x16"),
                (.init(.bgra, width: -64, height: 48, bytes: bytes), "16x16"),
                (.init(.nv12, width: .max, height: .max, bytes: bytes, stride: .max), "16x16"),
                (.init(.i420, width: 64, height: .min, bytes: bytes), "16x16"),
                (.init(.bgra, width: 9000, height: 16, bytes: bytes), "8192x8192"),
                (.init(.bgra, width: 64, height: 48, bytes: bytes, stride: 255), "stride is 255"),
                (.init(.bgra, width: 64, height: 48, bytes: bytes, stride: -256), "stride is -256"),
                (.init(.bgra, width: 64, height: 48, bytes: bytes, stride: .max), "stride is"),
                (.init(.bgra, width: 64, height: 49, bytes: bytes), "12544"),
                (.init(.bgra, width: 64, height: 48, bytes: none), "0 bytes came"),
                (.init(.yuyv, width: 65, height: 48, plane(6144, 130)), "132 bytes"),
                (.init(.nv12, width: 64, height: 48, plane(3072, 64)), "2 planes"),
                (.init(.bgra, width: 16, height: 16, plane(1024, 64), plane(1024, 64)), "1 planes"),
                (.init(.nv12, width: 64, height: 48, plane(3072, 64), plane(1535, 64)), "1536"),
                (.init(.i420, width: 64, height: 48, plane(3072, 64), plane(768, 32), plane(768, 31)), "stride is 31"),
                (
                    .init(.i420, width: 64, height: 48, bytes: UnsafeRawBufferPointer(rebasing: bytes[..<4607])),
                    "Plane 2"
                ),
            ]
            for isRunning in [false, true] {
                if isRunning { try producer.start() }
                for (frame, text) in wrong {
                    let released = Watched(0)
                    let refusals = [
                        await error { try producer.enqueueVideo(frame) },
                        await error { try producer.enqueueVideo(frame) { released.change { $0 += 1 } } },
                    ]
                    for refusal in refusals {
                        #expect(refusal?.code == .invalidArgument)
                        #expect(refusal?.message.contains(text) == true, "\(refusal?.message ?? "taken"): \(text)")
                    }
                    #expect(released.value == 1)
                }
            }
            var turned = CapturedFrame(.bgra, width: 64, height: 48, bytes: bytes)
            turned.rotation = 45
            #expect(await error { try producer.enqueueVideo(turned) }?.message.contains("not by 45") == true)
            try await onThread { producer.stop() }
        }

        @Test func settingsThatNoRunCouldUse() async throws {
            Isolation.apply()
            let folder = try TestFolder()
            func refusal(_ change: (inout ProducerConfiguration.VideoSettings) -> Void) async -> GantryError? {
                var video = ProducerConfiguration.VideoSettings()
                change(&video)
                let configuration = ProducerConfiguration(port: 0, stateDirectory: folder.file("p"), video: video)
                return await error { try ProducerController(configuration: configuration) }
            }
            func coded(_ codec: MediaCodec, _ width: Int, _ rotation: Int = 0) -> VideoStreamFormat {
                VideoStreamFormat(
                    codec: codec, width: width, height: 180, frameRate: .fps30, color: .bt709, rotation: rotation)
            }
            #expect(await refusal { $0.bitrate = -1 }?.code == .invalidArgument)
            #expect(await refusal { $0.bitrate = .max }?.code == .invalidArgument)
            #expect(await refusal { $0.coded = coded(.opus, 320) }?.code == .invalidArgument)
            #expect(await refusal { $0.coded = coded(.h264, -320) }?.code == .invalidArgument)
            #expect(await refusal { $0.coded = coded(.h264, 320, 1) }?.code == .invalidArgument)
            #expect(await refusal { $0.coded = coded(.h264, 320, 90) } == nil)
        }

        @Test func damagedCodedPicturesAreRefused() async throws {
            let stage = try Stage(audio: nil)
            try await stage.pair()
            let run = try await stage.connect()
            #expect(try await stage.waitForReceivers(1))
            let packets = try await MediaClips.h264(frames: 3)
            let jpeg = try await MediaClips.mjpeg(frames: 1)[0]
            let producer = stage.producer
            for count in [0, 1, 3, 17] {
                let bytes = UnsafeRawBufferPointer(rebasing: jpeg.bytes[..<count])
                for frame in [CapturedFrame(mjpeg: bytes), CapturedFrame(h264: bytes)] {
                    #expect(await error { try producer.enqueueVideo(frame) }?.code == .invalidArgument)
                }
            }
            // Not the first: it refers to what was never seen.
            #expect(try !producer.enqueueVideo(.init(h264: packets[1].bytes)))
            #expect(producer.needsKeyFrame)
            #expect(try producer.enqueueVideo(.init(h264: packets[0].bytes)))
            #expect(!producer.needsKeyFrame)
            var random = SeededRandom(seed: 7)
            for _ in 0..<200 {
                var bytes = [UInt8](packets[0].bytes)
                for _ in 0..<5 {
                    bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
                }
                bytes.withUnsafeBytes { _ = try? producer.enqueueVideo(.init(h264: $0)) }
                var image = [UInt8](jpeg.bytes)
                for _ in 0..<5 {
                    image[Int(random.next() % UInt64(image.count))] = UInt8(truncatingIfNeeded: random.next())
                }
                image.withUnsafeBytes { _ = try? producer.enqueueVideo(.init(mjpeg: $0)) }
            }
            #expect(!run.state.value.isEnded)
            try await run.close()
            try await stage.stop()
        }

        /// It stops the producer, starts it again, and asks for everything, from its own calls.
        @Test func theDelegateMayCallBack() async throws {
            let place = try Place()
            let rounds = Watched(0)
            let delegate = DelegateLog(changed: { producer, state in
                _ = (producer.statistics, producer.state, try? producer.pairedDevices)
                switch state {
                case .notRunning:
                    rounds.change { $0 += 1 }
                    if rounds.value < 5 { try? producer.start() }
                default: producer.stop()
                }
            })
            place.producer.delegate = delegate
            // It may be told, and stop it, before the start has returned.
            let refusal = await error { try place.producer.start() }
            #expect(refusal == nil || refusal?.code == .cancelled)
            #expect(try await rounds.wait { $0 == 5 })
            #expect(place.producer.state == .notRunning)
        }

        @Test func aDelegateThatBlocksHoldsUpNobody() async throws {
            let stage = try Stage(audio: nil)
            let (isOver, isInside) = (Watched(false), Watched(false))
            let delegate = DelegateLog(changed: { _, _ in
                isInside.change { $0 = true }
                isOver.waitBlocking { $0 }
            })
            stage.producer.delegate = delegate
            #expect(try await isInside.wait { $0 })
            try await stage.pair()
            let log = PictureLog()
            var configuration = StudioSessionConfiguration()
            configuration.videoOutputs = [log]
            let run = try await stage.connect(configuration)
            #expect(try await log.sent(Self.pixels().frame, by: stage.producer) != nil)
            try await run.close()
            try await stage.stop()
            #expect(delegate.states.value.count == 1)
            isOver.change { $0 = true }
            #expect(try await delegate.states.wait { $0.last == .notRunning })
        }

        @Test func stoppingFromAnObserverOrARelease() async throws {
            let stage = try Stage(audio: nil)
            let producer = stage.producer
            try await stage.pair()
            producer.observeData { [weak producer] _, _ in producer?.stop() }
            let run = try await stage.connect()
            #expect(try await stage.waitForReceivers(1))
            #expect(
                try await onThread {
                    waitUntil {
                        _ = (try? LabeledData(label: "stop", bytes: [1])).map { run.session.sendData($0) }
                        return stage.stops == 1
                    }
                })
            try await run.end()
            try producer.start()
            let again = try await stage.connect()
            #expect(try await stage.waitForReceivers(2))
            let picture = Self.pixels()
            try producer.enqueueVideo(picture.frame) { [weak producer] in producer?.stop() }
            #expect(try await onThread { waitUntil { stage.stops == 2 } })
            try await again.end()
        }

        @Test func lettingGoOfItStopsIt() async throws {
            let port = try LoopbackSocket.freePort()
            let delegate = DelegateLog()
            weak var freed: ProducerController?
            let ended = Watched(false)
            do {
                let place = try Place(port: port)
                freed = place.producer
                place.producer.delegate = delegate
                let events = place.producer.events
                Task.detached {
                    for await _ in events {}
                    ended.change { $0 = true }
                }
                try place.producer.start()
                #expect(try await delegate.states.wait { !$0.isEmpty })
                #expect(try await onThread { waitUntil { ProcessView(getpid()).listeningPorts.contains(port) } })
            }
            #expect(try await ended.wait { $0 })
            #expect(freed == nil)
            #expect(!ProcessView(getpid()).listeningPorts.contains(port))
        }
    }
}

extension Stage {
    /// How often the producer has been stopped, all of it.
    fileprivate var stops: Int {
        events.value.count {
            if case .stopped = $0 { true } else { false }
        }
    }
}
