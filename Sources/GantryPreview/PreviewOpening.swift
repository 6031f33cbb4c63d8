import GantryCore
import GantryPlatform

/// Carries what came of opening the window from its thread to whoever waits for it.
final class PreviewOpening: @unchecked Sendable {  // `result` is guarded by `condition`.
    private let condition = Condition()
    private var result: Result<Void, GantryError>?

    /// On the window's thread. Nil: it could not be opened, which is told.
    func open() -> SDLWindow? {
        do throws(GantryError) {
            let window = try SDLWindow(title: "Gantry")
            tell(.success(()))
            return window
        } catch {
            tell(.failure(error))
            return nil
        }
    }

    private func tell(_ result: Result<Void, GantryError>) {
        condition.withLock {
            self.result = result
            condition.broadcast()
        }
    }

    func wait() throws(GantryError) {
        let result = condition.withLock {
            while self.result == nil { condition.wait() }
            return self.result
        }
        try result?.get()
    }
}
