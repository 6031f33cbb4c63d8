package import Foundation
package import GantryCore
package import GantryMedia
import GantryPlatform

/// Keeps what a source delivers: stamps of everything, copies of the first pictures, all samples of the left channel.
package final class CollectingSink: MediaSink, @unchecked Sendable {  // All state is guarded by `lock`.
    package struct Video: Sendable {
        package var presentation: MediaTimestamp
        package var capture: MediaTimestamp
        /// On the clock of this machine, when it came.
        package var arrival: MediaTimestamp
        package var width: Int
        package var height: Int
        package var code: UInt32?
    }

    package struct Audio: Sendable {
        package var presentation: MediaTimestamp
        package var arrival: MediaTimestamp
        package var count: Int
    }

    private let lock = Lock()
    private let keep: Int
    private let stopAfter: Int
    private var videoItems: [Video] = []
    private var audioItems: [Audio] = []
    private var kept: [Picture] = []
    private var left: [Float] = []
    private var right: [Float] = []
    private var soundStates: [Bool] = []
    private var clickTimes: [MediaTimestamp] = []
    private var detector = ClickDetector()
    private var stop: (@Sendable () -> Void)?

    /// - Parameters:
    ///   - keep: How many pictures are copied.
    ///   - stopAfter: `stop` is called once so many pictures have come.
    package init(keep: Int = 1, stopAfter: Int = .max, stop: (@Sendable () -> Void)? = nil) {
        self.keep = keep
        self.stopAfter = stopAfter
        self.stop = stop
    }

    package var video: [Video] { lock.withLock { videoItems } }
    package var audio: [Audio] { lock.withLock { audioItems } }
    package var pictures: [Picture] { lock.withLock { kept } }
    package var leftSamples: [Float] { lock.withLock { left } }
    package var rightSamples: [Float] { lock.withLock { right } }
    package var clicks: [MediaTimestamp] { lock.withLock { clickTimes } }
    package var sampleCount: Int { lock.withLock { left.count } }

    /// Each change of whether there is sound.
    package var soundChanges: [Bool] { lock.withLock { soundStates } }
    package func soundChanged(isThere: Bool) { lock.withLock { soundStates.append(isThere) } }

    package func video(_ picture: Picture) {
        let item = Video(
            presentation: picture.presentationTime, capture: picture.captureTime, arrival: MonotonicClock.now(),
            width: picture.width, height: picture.height, code: TimeCode.read(from: picture)?.frameNumber)
        let mustStop = lock.withLock { () -> Bool in
            videoItems.append(item)
            if kept.count < keep, let copy = Self.copy(picture) { kept.append(copy) }
            return videoItems.count == stopAfter
        }
        if mustStop { stop?() }
    }

    package func audio(_ block: AudioBlock) {
        lock.withLock {
            audioItems.append(
                Audio(presentation: block.presentationTime, arrival: MonotonicClock.now(), count: block.count))
            for index in 0..<block.count {
                left.append(block.samples[index * 2])
                right.append(block.samples[index * 2 + 1])
            }
            if let click = detector.feed(block) { clickTimes.append(click) }
        }
    }

    package func waitForRoom(until deadline: MediaTimestamp) -> Bool { true }

    package static func copy(_ picture: Picture) -> Picture? {
        guard
            let copy = Picture(
                format: picture.format, width: picture.width, height: picture.height, color: picture.color)
        else { return nil }
        for plane in 0..<picture.format.planeCount {
            copy.plane(plane).update(
                from: picture.plane(plane), count: picture.stride(plane) * picture.rows(plane))
        }
        copy.captureTime = picture.captureTime
        copy.presentationTime = picture.presentationTime
        return copy
    }
}

extension MediaSource {
    /// Runs the source on a thread of its own, and comes back at its end.
    package func collect(start: MediaTimestamp, into sink: CollectingSink) async -> MediaSourceEnd {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.run(start: start, sink: sink)) }
        }
    }
}

/// The planes of a picture one behind the other without padding, as ffmpeg's rawvideo has them.
package func rawBytes(of picture: Picture) -> Data {
    var data = Data()
    for plane in 0..<picture.format.planeCount {
        for row in 0..<picture.rows(plane) {
            data.append(picture.plane(plane) + row * picture.stride(plane), count: picture.rowBytes(plane))
        }
    }
    return data
}
