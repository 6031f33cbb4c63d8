import Synchronization

/// Priority of the threads that picture and sound go through, over other programs.
///
/// Nothing is raised before `use`: in a process of somebody else, who uses the kits, threads stay as they are. From then on each
/// `NamedThread` that starts gets what its urgency needs. Any thread.
package enum MediaPriority {
    /// How the system gives it, the least first.
    package enum Way: String, Sendable, CaseIterable {
        case normal, nice, realtime
    }

    private static let current = Atomic<Int>(0)

    /// What threads that start now get.
    package private(set) static var way: Way {
        get { Way.allCases[current.load(ordering: .relaxed)] }
        set { current.store(Way.allCases.firstIndex(of: newValue) ?? 0, ordering: .relaxed) }
    }

    /// Who gives it, where the kernel refuses.
    private static let helper = Mutex<RealtimeKit?>(nil)

    /// What the system permits, by itself or through RealtimeKit: tried on threads that end at once. Nothing, where the process was
    /// started with nice(1) or chrt(1): then it has what its user wants. Blocks, for two seconds at most.
    package static var permitted: Way {
        guard !ThreadSchedule.isChosen else { return .normal }
        let own = tried {
            ThreadSchedule.makeRealTime(1) ? .realtime : ThreadSchedule.lowerNice(to: -1) ? .nice : .normal
        }
        guard own != .realtime, let kit = RealtimeKit.connect() else { return own }
        kit.acceptLimit()
        let given = tried { kit.makeRealTime(1) ? .realtime : kit.lowerNice(to: -1) ? .nice : .normal }
        guard given == .realtime || own == .normal && given == .nice else { return own }
        helper.withLock { $0 = kit }
        return given
    }

    private static func tried(_ attempt: @escaping @Sendable () -> Way) -> Way {
        let found = LatestSlot<Way>()
        guard let thread = try? NamedThread("priority", { found.put(attempt()) }) else { return .normal }
        thread.join()
        return found.take() ?? .normal
    }

    /// For threads that start from now on. Somebody must look after real-time threads: a thread that never sleeps freezes a machine
    /// with one processor.
    package static func use(_ permitted: Way) { way = permitted }

    /// Takes real-time priority from all threads of the process, and gives it to no more.
    package static func endRealTime() {
        way = .normal
        ThreadSchedule.endRealTime()
    }

    /// Gives the calling thread what it needs.
    static func apply(_ urgency: ThreadUrgency) {
        let way = way
        if way == .normal { return }
        let kit = helper.withLock { $0 }
        if way == .realtime, let priority = urgency.realTime,
            ThreadSchedule.makeRealTime(priority) || kit?.makeRealTime(priority) == true
        {
            return
        }
        switch urgency {
        // It may have been made by a thread whose nice value it has.
        case .normal: ThreadSchedule.raiseNice(to: urgency.nice)
        default: if !ThreadSchedule.lowerNice(to: urgency.nice) { _ = kit?.lowerNice(to: urgency.nice) }
        }
    }
}
