package import GantryCore
import GantryPlatform

/// The DATA of one connection, in both directions. What has come waits in order for a thread, "data", that begins with
/// the first message; how much may wait is bounded by `DataWindow`, so an observer that is slow stops the sender alone.
package final class DataPort: @unchecked Sendable {  // All that changes is guarded by `state`.
    package struct Connection: Sendable {
        /// Puts a message into the carrier's queue; false when that is full.
        let send: @Sendable (DataMessage, _ channel: UInt16) -> Bool
        let credit: @Sendable (DataCredit) -> Void
        /// On the thread "data".
        let deliver: @Sendable (LabeledData) -> Void

        package init(
            send: @escaping @Sendable (DataMessage, _ channel: UInt16) -> Bool,
            credit: @escaping @Sendable (DataCredit) -> Void, deliver: @escaping @Sendable (LabeledData) -> Void
        ) {
            self.send = send
            self.credit = credit
            self.deliver = deliver
        }
    }

    private let connection: Connection
    private let state = Condition()
    private var channel: UInt16?
    private var isClosed = false
    private var outgoing = DataWindow()
    private var incoming = DataWindow()
    private var inbox: [DataMessage] = []
    private var thread: NamedThread?

    package init(_ connection: Connection) { self.connection = connection }

    /// Both ends take data on this channel from now on. The first one stays.
    package func open(channel: UInt16) { state.withLock { self.channel = self.channel ?? channel } }

    /// Any thread; does not block. False: not now, because the connection takes no data, or because the other end has not
    /// taken what was sent.
    package func send(_ data: LabeledData) -> Bool {
        let message = data.message
        return state.withLock {
            guard let channel, !isClosed else { return false }
            var window = outgoing
            guard window.pass(payload: message.payloadSize), connection.send(message, channel) else { return false }
            outgoing = window
            return true
        }
    }

    // MARK: The I/O thread

    /// What the session's state machine has decided about data; the rest is left to others.
    ///
    /// - Throws: as `received` and `credited`.
    package func perform(_ actions: [SessionAction]?) throws(GantryError) {
        for action in actions ?? [] {
            switch action {
            case .data(let message): try received(message)
            case .dataCredit(let credit): try credited(credit)
            default: break
            }
        }
    }

    /// - Throws: `protocolError` when it is more than may come; `general` when the system gives no thread.
    private func received(_ message: DataMessage) throws(GantryError) {
        let isFirst = try state.withLock { () throws(GantryError) -> Bool in
            guard channel != nil, incoming.pass(payload: message.payloadSize) else {
                throw GantryError(
                    .protocolError,
                    "The other end sends data that nobody asked for, or more than it may. Update both ends.")
            }
            inbox.append(message)
            state.broadcast()
            return thread == nil
        }
        guard isFirst else { return }
        let started = try NamedThread("data") { [self] in run() }
        state.withLock { thread = started }
    }

    /// - Throws: `protocolError` for a credit beyond what was sent.
    private func credited(_ credit: DataCredit) throws(GantryError) {
        guard state.withLock({ outgoing.credited(credit) }) else {
            throw GantryError(
                .protocolError, "The other end has taken more data than was sent to it. Update both ends.")
        }
    }

    /// The connection has ended: what has come is delivered, then the thread ends.
    package func close() {
        state.withLock {
            isClosed = true
            state.broadcast()
        }
    }

    /// Waits until all is delivered, after `close`; not from an observer.
    package func join() { state.withLock { thread }?.join() }

    // MARK: The thread

    private func run() {
        while let messages = next() {
            for message in messages {
                connection.deliver(LabeledData(message))
                if let credit = state.withLock({ incoming.take(payload: message.payloadSize) }) {
                    connection.credit(credit)
                }
            }
        }
    }

    /// All that waits; nil at the end.
    private func next() -> [DataMessage]? {
        state.withLock {
            while inbox.isEmpty, !isClosed { state.wait() }
            defer { inbox = [] }
            return inbox.isEmpty ? nil : inbox
        }
    }
}
