import GantryCore
import GantryPlatform

/// The encodes of one picture: one for all who take it as it is, and another one for each other wish. Who receives which
/// changes on the encoding thread, between two pictures.
final class RenditionSet: @unchecked Sendable {  // All state is guarded by `lock`.
    private struct Place {
        let subscriber: any MediaSubscriber
        let rendition: VideoRendition
    }

    private struct HeldWish {
        var wish: VideoWish
        var since: MediaTimestamp
        /// Comes too soon after the one before.
        var next: VideoWish?
    }

    /// Each change makes an encoder and a key frame: those of one studio are at least so far apart, and the last one counts.
    private static let wishInterval = MediaDuration.milliseconds(500)
    /// Together with that of the whole picture.
    private static let most = 4

    private let settings: ProducerConfiguration.VideoSettings
    private let make: (VideoWish, UInt32) -> VideoRendition
    private let lock = Lock()
    private var renditions: [(wish: VideoWish, rendition: VideoRendition)]
    /// The beginnings of sequences that are in use, of 8.
    private var numbers: [ObjectIdentifier: UInt32] = [:]
    private var places: [Place] = []
    private var wishes: [ObjectIdentifier: HeldWish] = [:]
    private var isAnyHeld = false
    /// Of the pictures as they come.
    private var size: (width: Int, height: Int)?
    private var hasChanged = false
    private var last: UInt32 = 0

    /// - Parameter make: a rendition for a wish, and the sequence number that it begins with.
    init(
        _ settings: ProducerConfiguration.VideoSettings, make: @escaping (VideoWish, UInt32) -> VideoRendition
    ) {
        self.settings = settings
        self.make = make
        renditions = [(VideoWish(), make(VideoWish(), 0))]
    }

    // MARK: Any thread

    func add(_ subscriber: any MediaSubscriber) {
        lock.withLock {
            guard !places.contains(where: { $0.subscriber === subscriber }) else { return }
            place(subscriber)
        }
    }

    func remove(_ subscriber: any MediaSubscriber) {
        lock.withLock {
            for place in places where place.subscriber === subscriber { place.rendition.remove(subscriber) }
            places.removeAll { $0.subscriber === subscriber }
            // It may lead to less work; never here, where a picture is perhaps being encoded.
            hasChanged = true
        }
    }

    /// From the next picture on, or a little later where it wished for something else just before; also for one that is added later.
    func prefer(_ wish: VideoWish, _ subscriber: any MediaSubscriber, now: MediaTimestamp = MonotonicClock.now()) {
        lock.withLock {
            let known = wishes[ObjectIdentifier(subscriber)]
            guard (known?.next ?? known?.wish ?? VideoWish()) != wish else { return }
            if let known, now - known.since < Self.wishInterval {
                wishes[ObjectIdentifier(subscriber)]?.next = wish
                isAnyHeld = true
                return
            }
            wishes[ObjectIdentifier(subscriber)] = HeldWish(wish: wish, since: now)
            hasChanged = true
        }
    }

    /// Somebody receives pictures.
    var isUsed: Bool { lock.withLock { !places.isEmpty } }

    /// It will not come back.
    func forget(_ subscriber: any MediaSubscriber) {
        remove(subscriber)
        lock.withLock { wishes[ObjectIdentifier(subscriber)] = nil }
    }

    /// - Parameter subscriber: nil: all.
    func requestKeyFrame(for subscriber: (any MediaSubscriber)? = nil) {
        let asked = lock.withLock {
            guard let subscriber else { return renditions.map(\.rendition) }
            return places.filter { $0.subscriber === subscriber }.map(\.rendition)
        }
        for rendition in asked { rendition.requestKeyFrame() }
    }

    /// Of the encode of the whole picture.
    var primary: VideoRendition { lock.withLock { renditions[0].rendition } }

    // MARK: The encoding thread

    /// Those that a picture of this size is for, the whole picture first. No allocation, unless something has changed.
    func current(
        width: Int, height: Int, now: MediaTimestamp = MonotonicClock.now()
    ) -> [(wish: VideoWish, rendition: VideoRendition)] {
        lock.withLock {
            if isAnyHeld { takeHeldWishes(now) }
            if let size, size == (width, height), !hasChanged { return renditions }
            size = (width, height)
            hasChanged = false
            rearrange()
            return renditions
        }
    }

    /// An encode has failed: the others go on, and its studios get the whole picture. False for that one itself.
    func drop(_ failed: VideoRendition) -> Bool {
        lock.withLock {
            guard let index = renditions.firstIndex(where: { $0.rendition === failed }), index > 0 else { return false }
            for place in places where place.rendition === failed {
                wishes[ObjectIdentifier(place.subscriber)] = nil
            }
            rearrange()
            return true
        }
    }

    // MARK: Under the lock

    private func takeHeldWishes(_ now: MediaTimestamp) {
        isAnyHeld = false
        for (subscriber, held) in wishes {
            guard let next = held.next else { continue }
            guard now - held.since >= Self.wishInterval else {
                isAnyHeld = true
                continue
            }
            wishes[subscriber] = HeldWish(wish: next, since: now)
            hasChanged = true
        }
    }

    private func wish(of subscriber: any MediaSubscriber) -> VideoWish {
        guard let wish = wishes[ObjectIdentifier(subscriber)]?.wish, settings.coded == nil else { return VideoWish() }
        guard let size else { return wish }
        return wish.narrowed(width: size.width, height: size.height, frameRate: settings.frameRate)
    }

    private func place(_ subscriber: any MediaSubscriber) {
        let rendition = rendition(for: wish(of: subscriber))
        places.append(Place(subscriber: subscriber, rendition: rendition))
        rendition.add(subscriber)
    }

    private func rendition(for wish: VideoWish) -> VideoRendition {
        if let known = renditions.first(where: { $0.wish == wish }) { return known.rendition }
        guard renditions.count < Self.most else {
            Log.warning("No more than \(Self.most) encodes are made at once: a studio gets the whole picture.")
            return renditions[0].rendition
        }
        // 2^29 apart: at 60 pictures a second it takes 100 days until two of them meet. Four of eight are in use at most, and the
        // one that was given last is not given again at once.
        repeat { last = last % 7 + 1 } while numbers.values.contains(last)
        let rendition = make(wish, last << 29)
        numbers[ObjectIdentifier(rendition)] = last
        renditions.append((wish, rendition))
        return rendition
    }

    private func rearrange() {
        prune()
        for subscriber in places.map(\.subscriber) {
            guard let index = places.firstIndex(where: { $0.subscriber === subscriber }) else { continue }
            let wish = wish(of: subscriber)
            let now = places[index].rendition
            if renditions.contains(where: { $0.rendition === now && $0.wish == wish }) { continue }
            if renditions.count >= Self.most, now === renditions[0].rendition,
                !renditions.contains(where: { $0.wish == wish })
            {
                continue
            }
            now.remove(subscriber)
            places.remove(at: index)
            // Its own encode makes room for the next one.
            prune()
            place(subscriber)
        }
        prune()
    }

    private func prune() {
        let unused = renditions.filter { entry in
            entry.wish != VideoWish() && !places.contains { $0.rendition === entry.rendition }
        }
        for (_, rendition) in unused { numbers[ObjectIdentifier(rendition)] = nil }
        renditions.removeAll { entry in unused.contains { $0.rendition === entry.rendition } }
    }
}
