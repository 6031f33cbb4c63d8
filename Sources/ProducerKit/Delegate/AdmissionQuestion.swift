import GantryCore
import GantryPlatform

/// One question to the application about a studio, on a thread of its own ("producer-decide"): whoever blocks there holds
/// up nobody, neither other studios nor the cooperative pool. The thread ends with the answer.
final class AdmissionQuestion: TaskExecutor, @unchecked Sendable {  // All state is guarded by `condition`.
    private let condition = Condition()
    private var jobs: [UnownedJob] = []
    private var isAnswered = false
    private var task: Task<Void, Never>?

    /// - Parameters:
    ///   - question: runs on the thread; cancelled by `cancel`.
    ///   - answer: called once, on the thread.
    /// - Throws: `general` when the system gives no thread.
    init(
        _ question: @escaping @Sendable () async -> Bool, answer: @escaping @Sendable (Bool) -> Void
    ) throws(GantryError) {
        _ = try NamedThread("producer-decide") { [self] in run() }
        let task = Task(executorPreference: self) { [self] in
            answer(await question())
            condition.withLock {
                isAnswered = true
                self.task = nil
                condition.broadcast()
            }
        }
        condition.withLock {
            if !isAnswered { self.task = task }
        }
    }

    /// Any thread: nobody waits for the answer any more.
    func cancel() { condition.withLock { task }?.cancel() }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.withLock {
            jobs.append(job)
            condition.broadcast()
        }
    }

    private func run() {
        while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func next() -> UnownedJob? {
        condition.withLock {
            while jobs.isEmpty && !isAnswered { condition.wait() }
            return jobs.isEmpty ? nil : jobs.removeFirst()
        }
    }
}
