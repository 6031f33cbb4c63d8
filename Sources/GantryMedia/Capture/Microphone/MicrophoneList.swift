import CALSA
package import GantryCore
import GantryPlatform

/// The microphones of this machine.
package enum MicrophoneList {
    /// More are not listed.
    private static let limit = 64

    /// `default` first, where it can be opened, then the devices of the hardware in the order of their numbers.
    ///
    /// Opens `default` for a moment; the others are only asked. May wait for a sound server.
    package static func all() -> [MicrophoneInfo] {
        let nodes = SoundCards.nodes(capture: true).prefix(limit)
        let devices = nodes.map(info)
        guard let card = defaultCard() else { return devices }
        let behind = devices.first { $0.cardID != nil && $0.cardID == card }
        let standard = MicrophoneInfo(
            name: "default", cardID: card, description: behind?.description ?? "of the system's settings",
            isDefault: true, isVirtual: behind?.isVirtual ?? false)
        return [standard] + devices
    }

    /// What is taken when nobody says which: `default`; but the first real card that can be used, where `default` cannot be
    /// opened or is only a program's sound.
    ///
    /// - Throws: `sourceNotFound` when there is none; `sourceBusy`, `sourceNotPermitted` when that is why.
    package static func best() throws(GantryError) -> MicrophoneInfo { try best(of: all()) }

    /// As `best()`, among those that are known.
    package static func best(of all: [MicrophoneInfo]) throws(GantryError) -> MicrophoneInfo {
        let usable = all.filter { $0.problem == nil }
        if let best = usable.first(where: { $0.isDefault && !$0.isVirtual }) ?? usable.first(where: { !$0.isVirtual })
            ?? usable.first(where: \.isDefault)
        {
            return best
        }
        if let problem = all.first(where: { !$0.isVirtual && $0.problem != nil })?.problem { throw problem }
        let virtual = all.filter(\.isVirtual).map(\.name)
        throw GantryError(
            .sourceNotFound,
            virtual.isEmpty
                ? "This machine has no microphone. Plug one in, or send the picture alone (with the tools: --audio off)."
                : "This machine has no microphone but virtual ones (\(virtual.prefix(8).joined(separator: ", "))). "
                    + "Name the one that you mean, or plug a real one in.")
    }

    /// Outer nil: it cannot be opened. Inner nil: no card is known to be behind it.
    private static func defaultCard() -> String?? {
        do throws(GantryError) {
            return .some(try AlsaPCM("default", .capture).cardID)
        } catch {
            Log.debug("the default microphone: \(error)")
            return nil
        }
    }

    private static func info(_ node: SoundCards.Node) -> MicrophoneInfo {
        let id = SoundCards.all().first { $0.number == node.card }?.id
        let name = SoundCards.name(of: node, id: id)
        var info = MicrophoneInfo(
            name: name, cardID: id, description: id ?? name, isDefault: false, isVirtual: false)
        var failure = AlsaFailure(name, .capture, node)
        failure.resolved = "hw:\(node.card),\(node.device)"
        var control: OpaquePointer?
        let opened = snd_ctl_open(&control, "hw:\(node.card)", CInt(SND_CTL_READONLY))
        guard opened >= 0, let control else {
            info.problem = failure.opening(opened, "open")
            return info
        }
        defer { snd_ctl_close(control) }
        describe(&info, node, control, failure)
        return info
    }

    private static func describe(
        _ info: inout MicrophoneInfo, _ node: SoundCards.Node, _ control: OpaquePointer, _ failure: AlsaFailure
    ) {
        var (card, device): (OpaquePointer?, OpaquePointer?)
        defer {
            if let card { snd_ctl_card_info_free(card) }
            if let device { snd_pcm_info_free(device) }
        }
        guard snd_ctl_card_info_malloc(&card) == 0, snd_pcm_info_malloc(&device) == 0, let card, let device else {
            return
        }
        if snd_ctl_card_info(control, card) >= 0 {
            info.description = shown(snd_ctl_card_info_get_name(card))
            info.isVirtual = ["Loopback", "Dummy"].contains(shown(snd_ctl_card_info_get_driver(card)))
        }
        snd_pcm_info_set_device(device, CUnsignedInt(node.device))
        snd_pcm_info_set_subdevice(device, 0)
        snd_pcm_info_set_stream(device, SND_PCM_STREAM_CAPTURE)
        let asked = snd_ctl_pcm_info(control, device)
        guard asked >= 0 else {
            info.problem = failure.opening(asked, "info")
            return
        }
        info.description += ", " + shown(snd_pcm_info_get_name(device))
        if snd_pcm_info_get_subdevices_avail(device) == 0 { info.problem = failure.opening(-EBUSY, "info") }
    }

    /// A device may call itself anything.
    private static func shown(_ text: UnsafePointer<CChar>?) -> String {
        guard let text else { return "" }
        return DisplayName.sanitized(String(cString: text), graphemes: 48, bytes: 128)
    }
}
