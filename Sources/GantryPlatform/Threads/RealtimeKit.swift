import CDBus
import CLinux
import GantryCore
import Glibc
import Synchronization

/// RealtimeKit (`org.freedesktop.RealtimeKit1` on the system bus), which most desktops have: gives a thread of the caller real-time priority,
/// or a lower nice value, where the kernel itself would refuse. Its README has the interface, and what it asks for in return.
///
/// Each question waits for its answer, for half a second at most; who once gave none is not asked again. Any thread.
final class RealtimeKit: @unchecked Sendable {
    // The connection has locks of its own (`dbus_threads_init_default`); all else is set in `init`.
    private static let name = "org.freedesktop.RealtimeKit1"
    private static let path = "/org/freedesktop/RealtimeKit1"
    private static let patience: Int32 = 500  // Milliseconds.
    /// With the start of the service, where nobody has used it yet.
    private static let patienceAtFirst = MediaDuration.seconds(2)

    private let connection: OpaquePointer
    private let isSilent = Atomic(false)
    /// What it gives at most. It counts per user, too: 25 threads, and as many questions in 20 seconds.
    private var highestPriority: UInt32 = 0
    private var lowestNice: Int32 = 0
    /// How long a thread may compute without a pause: microseconds.
    private var longestRun: Int64 = 0

    /// Nil where there is none.
    static func connect() -> RealtimeKit? {
        // On a thread of its own: a bus that takes connections and says nothing holds libdbus for 25 seconds.
        let found = LatestSlot<RealtimeKit>()
        let thread = try? NamedThread("realtime-kit") {
            if let kit = RealtimeKit() { found.put(kit) } else { found.close() }
        }
        return thread == nil ? nil : found.take(until: MonotonicClock.now() + patienceAtFirst)
    }

    private init?() {
        dbus_threads_init_default()
        // Private: a shared one belongs to whoever else uses libdbus here.
        guard let connection = dbus_bus_get_private(DBUS_BUS_SYSTEM, nil) else { return nil }
        self.connection = connection
        dbus_connection_set_exit_on_disconnect(connection, 0)
        guard let priority: Int32 = property("MaxRealtimePriority", "i"),
            let nice: Int32 = property("MinNiceLevel", "i"), let run: Int64 = property("RTTimeUSecMax", "x"),
            priority > 0, run > 0
        else { return nil }
        highestPriority = UInt32(priority)
        lowestNice = nice
        longestRun = run
    }

    deinit {
        dbus_connection_close(connection)
        dbus_connection_unref(connection)
    }

    /// What it asks of a process: a limit for the time that a thread computes at real-time priority without a pause, which the process cannot
    /// lift again. The kernel kills it there; before that, at the soft limit, it sends SIGXCPU (getrlimit(2), RLIMIT_RTTIME).
    func acceptLimit() {
        let resource = __rlimit_resource_t(__RLIMIT_RTTIME.rawValue)
        var limit = rlimit()
        getrlimit(resource, &limit)
        limit.rlim_max = min(limit.rlim_max, rlim_t(clamping: longestRun))
        limit.rlim_cur = min(limit.rlim_cur, limit.rlim_max)
        setrlimit(resource, &limit)
    }

    /// Gives the calling thread SCHED_RR with this priority, or the highest that is given. What the thread makes has usual priority.
    ///
    /// - Returns: false when it refuses.
    func makeRealTime(_ priority: Int32) -> Bool {
        var wanted = min(UInt32(clamping: priority), highestPriority)
        return ask("MakeThreadRealtime") { arguments in
            dbus_message_iter_append_basic(&arguments, Self.code("u"), &wanted)
        }
    }

    /// Gives the calling thread this nice value, or the lowest that is given. What the thread makes has usual priority.
    ///
    /// - Returns: false when it refuses.
    func lowerNice(to nice: Int32) -> Bool {
        var wanted = max(nice, lowestNice)
        return ask("MakeThreadHighPriority") { arguments in
            dbus_message_iter_append_basic(&arguments, Self.code("i"), &wanted)
        }
    }

    // MARK: D-Bus

    /// Of a type, as in a signature.
    private static func code(_ character: Unicode.Scalar) -> Int32 { Int32(bitPattern: character.value) }

    /// A question about the calling thread.
    private func ask(_ method: String, _ rest: (inout DBusMessageIter) -> dbus_bool_t) -> Bool {
        guard let message = dbus_message_new_method_call(Self.name, Self.path, Self.name, method) else { return false }
        var thread = UInt64(clamping: gettid())
        var arguments = DBusMessageIter()
        dbus_message_iter_init_append(message, &arguments)
        guard dbus_message_iter_append_basic(&arguments, Self.code("t"), &thread) != 0, rest(&arguments) != 0 else {
            dbus_message_unref(message)
            return false
        }
        return send(message) { _ in true } ?? false
    }

    private func property<Value: FixedWidthInteger>(_ property: String, _ type: Unicode.Scalar) -> Value? {
        let properties = "org.freedesktop.DBus.Properties"
        guard let message = dbus_message_new_method_call(Self.name, Self.path, properties, "Get") else { return nil }
        var arguments = DBusMessageIter()
        dbus_message_iter_init_append(message, &arguments)
        for text in [Self.name, property] {
            let isAppended = text.withCString { text in
                var text: UnsafePointer<CChar>? = text
                return dbus_message_iter_append_basic(&arguments, Self.code("s"), &text)
            }
            guard isAppended != 0 else {
                dbus_message_unref(message)
                return nil
            }
        }
        return send(message) { reply in
            var (outer, inner) = (DBusMessageIter(), DBusMessageIter())
            guard dbus_message_iter_init(reply, &outer) != 0, dbus_message_iter_get_arg_type(&outer) == Self.code("v")
            else { return nil }
            dbus_message_iter_recurse(&outer, &inner)
            guard dbus_message_iter_get_arg_type(&inner) == Self.code(type) else { return nil }
            var value = Value.zero
            dbus_message_iter_get_basic(&inner, &value)
            return value
        }
    }

    /// Sends `message`, which is its own from here on, and reads the answer. Nil for an error.
    private func send<Value>(_ message: OpaquePointer, _ read: (OpaquePointer) -> Value?) -> Value? {
        defer { dbus_message_unref(message) }
        guard !isSilent.load(ordering: .relaxed) else { return nil }
        var error = DBusError()
        dbus_error_init(&error)
        defer { dbus_error_free(&error) }
        guard let reply = dbus_connection_send_with_reply_and_block(connection, message, Self.patience, &error) else {
            // A refusal comes as an error as well, of other names.
            let silences: [String] = [DBUS_ERROR_NO_REPLY, DBUS_ERROR_TIMEOUT, DBUS_ERROR_DISCONNECTED]
            if silences.contains(where: { dbus_error_has_name(&error, $0) != 0 }) {
                isSilent.store(true, ordering: .relaxed)
            }
            return nil
        }
        defer { dbus_message_unref(reply) }
        return read(reply)
    }
}
