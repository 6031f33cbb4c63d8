import CALSA
import GantryCore
import GantryPlatform
import Glibc

/// What can go wrong with a sound device, in words.
struct AlsaFailure {
    let name: String
    let direction: AlsaPCM.Direction
    /// The device of the kernel behind it, where that is known.
    var node: SoundCards.Node?
    /// What the library was asked for.
    var resolved: String?

    init(_ name: String, _ direction: AlsaPCM.Direction, _ node: SoundCards.Node?) {
        (self.name, self.direction, self.node) = (name, direction, node)
    }

    private var isCapture: Bool { direction == .capture }
    private var what: String { isCapture ? "microphone" : "sound device" }
    /// Of the user's typing or of our own list, but also from a configuration file.
    private var shown: String { String(name.prefix(80)) }

    /// For a failed `open`.
    func opening(_ code: CInt, _ operation: String) -> GantryError {
        switch -code {
        case EBUSY, EAGAIN: return busy(code)
        case EACCES, EPERM: return notPermitted(code)
        case ENOENT, ENODEV, ENXIO, ENOTDIR, EINVAL:
            // The library does not find a card whose controls may not be opened.
            if forbidden != nil { return notPermitted(-EACCES) }
            return notFound(code)
        default:
            return GantryError(
                isCapture ? .sourceUnreadable : .outputFailed,
                "The \(what) \(shown) cannot be opened. Look at what there is with: \(tool) -L", cause: text(code))
        }
    }

    /// For a failure while it is set up or runs.
    func during(_ code: CInt, _ operation: String) -> GantryError {
        switch -code {
        case EBUSY: busy(code)
        case EACCES, EPERM: notPermitted(code)
        case ENODEV, ENXIO, ENOENT, ENOTCONN, ECONNREFUSED:
            GantryError(
                isCapture ? .sourceLost : .outputLost,
                "The \(what) \(shown) was unplugged, or the sound server has ended. Plug it in and start again.",
                cause: "\(operation): \(text(code))")
        default:
            GantryError(
                isCapture ? .sourceLost : .outputLost,
                "The \(what) \(shown) has failed. Unplug it, plug it in again, and look at the kernel's words: "
                    + "sudo dmesg | tail", cause: "\(operation): \(text(code))")
        }
    }

    func unusable(_ why: String, _ code: CInt = 0) -> GantryError {
        GantryError(
            isCapture ? .sourceUnreadable : .outputFailed,
            "The \(what) \(shown) cannot be used: \(why). Look at it with: \(tool) -D \(shown) --dump-hw-params "
                + (isCapture ? "/dev/null" : "/dev/zero"), cause: code < 0 ? text(code) : nil)
    }

    func silent(seconds: Int64) -> GantryError {
        GantryError(
            isCapture ? .sourceSilent : .outputLost,
            "The \(what) \(shown) gives no sound at all (waited \(seconds) seconds). Unplug it and plug it in again; "
                + "snd-aloop gives some only while a program plays into it.")
    }

    private func notFound(_ code: CInt) -> GantryError {
        let there = SoundCards.present(capture: isCapture)
        let list =
            there.isEmpty
            ? "This machine has no \(isCapture ? "microphone" : "sound card"): plug one in."
            : "There are: \(there.joined(separator: ", "))."
        return GantryError(
            isCapture ? .sourceNotFound : .outputNotFound, "There is no \(what) \(shown). \(list)", cause: text(code))
    }

    private func busy(_ code: CInt) -> GantryError {
        let nodes = nodes
        let holders = DeviceHolders.names(of: nodes.map(\.path))
        let path = nodes.count == 1 ? nodes[0].path : "/dev/snd/*"
        let who =
            holders.isEmpty
            ? "Another program uses the \(what) \(shown). Close it; this shows which one it is: sudo fuser -v \(path)"
            : "The \(what) \(shown) is in use by \(holders.joined(separator: ", ")). Close that program and start again."
        return GantryError(isCapture ? .sourceBusy : .outputBusy, who, cause: text(code))
    }

    private func notPermitted(_ code: CInt) -> GantryError {
        let group = SystemPath.group(of: forbidden ?? nodes.first?.path ?? "/dev/snd/timer")?.name ?? "audio"
        return GantryError(
            isCapture ? .sourceNotPermitted : .outputNotPermitted,
            "You may not use the \(what) \(shown). Join its group: sudo usermod -aG \(group) $USER, then log in again.",
            cause: text(code))
    }

    /// Devices that can be meant.
    private var nodes: [SoundCards.Node] {
        if let node { return [node] }
        let all = SoundCards.nodes(capture: isCapture)
        guard let resolved, let (card, device) = AlsaName.hardware(resolved),
            let number = SoundCards.all().first(where: { $0.id == card || String($0.number) == card })?.number
        else { return all }
        return all.filter { $0.card == number && $0.device == device }
    }

    /// The path of the first of them that this user may not open.
    private var forbidden: String? {
        nodes.map(\.path).first { access($0, R_OK | W_OK) != 0 && errno == EACCES }
    }

    private var tool: String { isCapture ? "arecord" : "aplay" }
    private func text(_ code: CInt) -> String { code < 0 ? String(cString: snd_strerror(code)) : "" }
}

extension SoundCards {
    /// Names for the command line of what there is.
    static func present(capture: Bool) -> [String] {
        let ids = Dictionary(all().map { ($0.number, $0.id) }, uniquingKeysWith: { first, _ in first })
        return nodes(capture: capture).prefix(16).map { name(of: $0, id: ids[$0.card]) }
    }
}
