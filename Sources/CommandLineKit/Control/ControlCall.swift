package import GantryCore
import GantryPlatform

/// One request of a client, until it is answered. Any thread.
package final class ControlCall: @unchecked Sendable {  // `isAnswered` is guarded by `lock`.
    package let method: String
    /// An object; empty when the request had none.
    package let parameters: JSONValue
    /// Which client asks; never used again in this process.
    package let connection: UInt64
    private let id: JSONValue
    private let line: ControlConnection
    private let lock = Lock()
    private var isAnswered = false

    init(method: String, parameters: JSONValue, id: JSONValue, line: ControlConnection) {
        self.method = method
        self.parameters = parameters
        self.id = id
        self.line = line
        connection = line.id
    }

    /// False when the client has gone.
    package var isOpen: Bool { line.isOpen }

    /// Tells how it goes, before the answer. After it: nothing.
    package func event(_ name: String, _ fields: [JSONValue.Member] = []) {
        guard !lock.withLock({ isAnswered }) else { return }
        line.send(.object([.init("id", id), .init("event", .string(name))] + fields))
    }

    /// The answer. Only the first one counts.
    package func finish(_ result: Result<JSONValue, GantryError>) {
        let isFirst = lock.withLock {
            defer { isAnswered = true }
            return !isAnswered
        }
        guard isFirst else { return }
        switch result {
        case .success(let value): line.send(.object([.init("id", id), .init("result", value)]))
        case .failure(let error): line.send(.object([.init("id", id), .init("error", Self.json(error))]))
        }
        line.answered()
    }

    static func json(_ error: GantryError) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("code", .integer(Int64(error.code.rawValue))), .init("message", .string(error.message)),
        ]
        if let cause = error.cause { members.append(.init("cause", .string(cause))) }
        return .object(members)
    }
}
