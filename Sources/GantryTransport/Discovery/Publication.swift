import CAvahi
import GantryCore
import GantryPlatform

/// One advertisement as the daemon has it: an entry group with one service. Discovery thread only.
final class Publication {
    private enum State {
        /// Nothing is with the daemon.
        case idle
        /// The daemon probes for the name, or has it.
        case published
        /// Another host has the name.
        case collided
        /// Refused; not tried again before the time.
        case refused(until: MediaTimestamp)
    }

    /// After a failure that may pass.
    private static let retryDelay = MediaDuration.seconds(5)
    /// Names of our own machine that are tried one after the other.
    private static let maximumAlternatives = 100

    private var advertisement: ServiceAdvertisement
    private let gate: CallbackGate
    private let named: @Sendable (String) -> Void
    private var name: String
    private var group: OpaquePointer?
    private var state = State.idle
    private var establishedName: String?
    /// Why the daemon does not publish, or nil.
    private(set) var problem: GantryError?

    init(_ advertisement: ServiceAdvertisement, gate: CallbackGate, named: @escaping @Sendable (String) -> Void) {
        self.advertisement = advertisement
        self.gate = gate
        self.named = named
        name = InstanceName.fitting(advertisement.name)
    }

    /// When `work` has something to do without an event.
    var due: MediaTimestamp? {
        if case .refused(let time) = state { return time }
        return nil
    }

    /// Brings to the daemon what is not there yet. Only with a client that is running.
    func work(_ client: OpaquePointer, now: MediaTimestamp) {
        switch state {
        case .published: return
        case .refused(let time):
            if now < time { return }
            if let group { avahi_entry_group_free(group) }
            group = nil
        case .collided:
            name = InstanceName.alternative(to: name)
            if let group { avahi_entry_group_reset(group) }
        case .idle: break
        }
        publish(client, now: now)
    }

    /// Tells the established name, once for each time.
    func tell() {
        guard let name = establishedName else { return }
        establishedName = nil
        if gate.isOpen { named(name) }
    }

    func update(text: [String: String]) {
        advertisement.text = text
        guard case .published = state, let group else { return }
        let status = TextRecord.withList(text) { list in
            avahi_entry_group_update_service_txt_strlst(
                group, AvahiIfIndex(AVAHI_IF_UNSPEC), AvahiProtocol(AVAHI_PROTO_UNSPEC), AvahiPublishFlags(0), name,
                advertisement.type.rawValue, nil, list)
        }
        if status < 0 { reset() }
    }

    /// The host name changes: everything that points to it is made again.
    func reset() {
        if let group { avahi_entry_group_reset(group) }
        state = .idle
    }

    /// A goodbye goes out.
    func withdraw() {
        if let group { avahi_entry_group_free(group) }
        forget()
    }

    /// The client has gone, and the group with it.
    func forget() {
        group = nil
        state = .idle
        establishedName = nil
        problem = nil
    }

    private func publish(_ client: OpaquePointer, now: MediaTimestamp) {
        if group == nil {
            group = avahi_entry_group_new(client, avahiGroupChanged, Unmanaged.passUnretained(self).toOpaque())
        }
        guard let group else { return refuse(avahi_client_errno(client), now: now) }
        var status = add(to: group)
        var tries = 0
        while Int(status) == AVAHI_ERR_COLLISION, tries < Self.maximumAlternatives {
            name = InstanceName.alternative(to: name)
            tries += 1
            status = add(to: group)
        }
        if status < 0 { return refuse(status, now: now) }
        // Before the commit: that may call back.
        state = .published
        problem = nil
        status = avahi_entry_group_commit(group)
        if status < 0 { refuse(status, now: now) }
    }

    private func add(to group: OpaquePointer) -> CInt {
        TextRecord.withList(advertisement.text) { list in
            avahi_entry_group_add_service_strlst(
                group, AvahiIfIndex(AVAHI_IF_UNSPEC), AvahiProtocol(AVAHI_PROTO_UNSPEC), AvahiPublishFlags(0), name,
                advertisement.type.rawValue, nil, nil, advertisement.port, list)
        }
    }

    private func refuse(_ code: CInt, now: MediaTimestamp) {
        if let group { avahi_entry_group_free(group) }
        group = nil
        state = .refused(until: now + Self.retryDelay)
        problem = AvahiFailure.publishing(code)
    }

    fileprivate func groupChanged(_ group: OpaquePointer, _ newState: AvahiEntryGroupState) {
        switch newState {
        case AVAHI_ENTRY_GROUP_ESTABLISHED: establishedName = name
        case AVAHI_ENTRY_GROUP_COLLISION: state = .collided
        case AVAHI_ENTRY_GROUP_FAILURE:
            let code = avahi_client_errno(avahi_entry_group_get_client(group))
            problem = AvahiFailure.publishing(code)
            // The group is freed by `work`, not inside its own callback.
            state = .refused(until: MonotonicClock.now() + Self.retryDelay)
        default: break
        }
    }
}

private func avahiGroupChanged(
    _ group: OpaquePointer?, _ state: AvahiEntryGroupState, _ context: UnsafeMutableRawPointer?
) {
    guard let group, let context else { return }
    Unmanaged<Publication>.fromOpaque(context).takeUnretainedValue().groupChanged(group, state)
}
