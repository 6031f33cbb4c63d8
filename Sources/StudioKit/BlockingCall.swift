import GantryCore
import GantryPlatform

/// Runs what blocks on a thread of its own, "blocking-call", so that no thread of the cooperative pool waits.
enum BlockingCall {
    static func result<Value: Sendable>(
        _ body: @escaping @Sendable () throws(GantryError) -> Value
    ) async -> Result<Value, GantryError> {
        await withCheckedContinuation { continuation in
            do throws(GantryError) {
                _ = try NamedThread("blocking-call") { continuation.resume(returning: Result(catching: body)) }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
    }
}
