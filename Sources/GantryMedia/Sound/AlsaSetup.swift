import CALSA
import GantryCore
import GantryPlatform
import Glibc

/// Opens a sound device and agrees on its settings.
struct AlsaSetup {
    var handle: OpaquePointer
    var rate: Int
    var periodFrames: Int
    var bufferFrames: Int
    /// Of the kernel; nil when a sound server or another plugin is behind the name.
    var node: SoundCards.Node?
    var native: AlsaPCM.Native?

    /// The library prints what fails on standard error by itself: only who debugs wants that.
    private static let isQuiet: Bool = Log.level >= .debug ? false : CALSA_silence() == 0

    /// The handle is the caller's, to be closed.
    ///
    /// What does not take our rate, channels or format as it is, is opened again through "plug", which converts.
    static func open(_ name: String, _ direction: AlsaPCM.Direction, _ wish: AlsaPCM.Wish)
        throws(GantryError) -> AlsaSetup
    {
        _ = isQuiet
        var failure = AlsaFailure(name, direction, nil)
        guard let resolved = AlsaName.resolved(name) else { throw failure.opening(-ENOENT, "") }
        failure.resolved = resolved
        let handle = try opened(resolved, direction, failure)
        do throws(GantryError) { return try agreed(handle, direction, wish, failure) } catch {
            snd_pcm_close(handle)
            guard error.code == failure.unusable("").code, !resolved.contains("'"), !resolved.hasPrefix("plug") else {
                throw error
            }
        }
        let converting = try opened("plug:SLAVE='\(resolved)'", direction, failure)
        do throws(GantryError) { return try agreed(converting, direction, wish, failure) } catch {
            snd_pcm_close(converting)
            throw error
        }
    }

    private static func opened(_ resolved: String, _ direction: AlsaPCM.Direction, _ failure: AlsaFailure)
        throws(GantryError) -> OpaquePointer
    {
        var handle: OpaquePointer?
        let stream = direction == .capture ? SND_PCM_STREAM_CAPTURE : SND_PCM_STREAM_PLAYBACK
        // Without waiting: a device that another program uses would block here for good.
        let result = snd_pcm_open(&handle, resolved, stream, CInt(SND_PCM_NONBLOCK))
        guard result >= 0, let handle else { throw failure.opening(result, "open") }
        return handle
    }

    private static func agreed(
        _ handle: OpaquePointer, _ direction: AlsaPCM.Direction, _ wish: AlsaPCM.Wish, _ failure: AlsaFailure
    ) throws(GantryError) -> AlsaSetup {
        var failure = failure
        failure.node = node(handle, direction)
        let (rate, period, buffer) = try setHardware(handle, wish, failure)
        try setSoftware(handle, direction, period: period, buffer: buffer, wish, failure)
        return AlsaSetup(
            handle: handle, rate: rate, periodFrames: period, bufferFrames: buffer, node: failure.node,
            native: failure.node.flatMap { native(of: $0, handle) })
    }

    /// Sizes that a device may have: a period of 1/3 ms to 1 s, a buffer of at most 10 s.
    private static let periods = 16...AlsaPCM.rate
    private static let buffers = 32...10 * AlsaPCM.rate

    private static func setHardware(_ handle: OpaquePointer, _ wish: AlsaPCM.Wish, _ failure: AlsaFailure)
        throws(GantryError) -> (rate: Int, period: Int, buffer: Int)
    {
        if wish.keepsRate {
            do throws(GantryError) { return try setHardware(handle, wish, failure, keepsRate: true) } catch {
                guard error.code == failure.unusable("").code else { throw error }
                _ = snd_pcm_hw_free(handle)
            }
        }
        return try setHardware(handle, wish, failure, keepsRate: false)
    }

    private static func setHardware(
        _ handle: OpaquePointer, _ wish: AlsaPCM.Wish, _ failure: AlsaFailure, keepsRate: Bool
    ) throws(GantryError) -> (rate: Int, period: Int, buffer: Int) {
        var parameters: OpaquePointer?
        guard snd_pcm_hw_params_malloc(&parameters) == 0, let parameters else { throw failure.during(-ENOMEM, "open") }
        defer { snd_pcm_hw_params_free(parameters) }
        var rate = CUnsignedInt(AlsaPCM.rate)
        var period = snd_pcm_uframes_t(clamping: wish.periodFrames)
        var buffer = snd_pcm_uframes_t(clamping: wish.bufferFrames)
        func agree(_ what: String, _ result: CInt) throws(GantryError) {
            if result >= 0 { return }
            if [ENODEV, EBUSY, EACCES].contains(-result) { throw failure.during(result, what) }
            throw failure.unusable("it does not take our \(what)", result)
        }
        try agree("hardware", snd_pcm_hw_params_any(handle, parameters))
        try agree("conversion", snd_pcm_hw_params_set_rate_resample(handle, parameters, keepsRate ? 0 : 1))
        try agree("access", snd_pcm_hw_params_set_access(handle, parameters, SND_PCM_ACCESS_RW_INTERLEAVED))
        try agree("format", snd_pcm_hw_params_set_format(handle, parameters, SND_PCM_FORMAT_FLOAT))
        try agree("channels", snd_pcm_hw_params_set_channels(handle, parameters, CUnsignedInt(AlsaPCM.channels)))
        try agree("rate", snd_pcm_hw_params_set_rate_near(handle, parameters, &rate, nil))
        let granted = Int(rate)
        // The sizes are times.
        if keepsRate, Resampler.rates.contains(granted) {
            period = snd_pcm_uframes_t(clamping: max(1, wish.periodFrames) * granted / AlsaPCM.rate)
            buffer = snd_pcm_uframes_t(clamping: max(1, wish.bufferFrames) * granted / AlsaPCM.rate)
        }
        try agree("period", snd_pcm_hw_params_set_period_size_near(handle, parameters, &period, nil))
        try agree("buffer", snd_pcm_hw_params_set_buffer_size_near(handle, parameters, &buffer))
        try agree("settings", snd_pcm_hw_params(handle, parameters))
        _ = snd_pcm_hw_params_get_period_size(parameters, &period, nil)
        _ = snd_pcm_hw_params_get_buffer_size(parameters, &buffer)
        guard let period = Int(exactly: period), let buffer = Int(exactly: buffer),
            keepsRate ? Resampler.rates.contains(granted) : granted == AlsaPCM.rate, periods.contains(period),
            buffers.contains(buffer), period <= buffer
        else { throw failure.unusable("it grants \(granted) Hz and \(period) of \(buffer) samples") }
        return (granted, period, buffer)
    }

    private static func setSoftware(
        _ handle: OpaquePointer, _ direction: AlsaPCM.Direction, period: Int, buffer: Int, _ wish: AlsaPCM.Wish,
        _ failure: AlsaFailure
    ) throws(GantryError) {
        var parameters: OpaquePointer?
        guard snd_pcm_sw_params_malloc(&parameters) == 0, let parameters else { throw failure.during(-ENOMEM, "open") }
        defer { snd_pcm_sw_params_free(parameters) }
        let start = direction == .capture ? 1 : min(max(1, wish.startFrames ?? buffer), buffer)
        _ = snd_pcm_sw_params_current(handle, parameters)
        _ = snd_pcm_sw_params_set_avail_min(handle, parameters, snd_pcm_uframes_t(period))
        _ = snd_pcm_sw_params_set_start_threshold(handle, parameters, snd_pcm_uframes_t(start))
        // Stamps on our clock, where there are any: `position` looks whether they can be.
        _ = snd_pcm_sw_params_set_tstamp_mode(handle, parameters, SND_PCM_TSTAMP_ENABLE)
        _ = snd_pcm_sw_params_set_tstamp_type(handle, parameters, SND_PCM_TSTAMP_TYPE_MONOTONIC)
        let result = snd_pcm_sw_params(handle, parameters)
        if result < 0 { throw failure.during(result, "settings") }
        let prepared = snd_pcm_prepare(handle)
        if prepared < 0 { throw failure.during(prepared, "prepare") }
    }

    private static func node(_ handle: OpaquePointer, _ direction: AlsaPCM.Direction) -> SoundCards.Node? {
        var info: OpaquePointer?
        guard snd_pcm_info_malloc(&info) == 0, let info else { return nil }
        defer { snd_pcm_info_free(info) }
        guard snd_pcm_info(handle, info) >= 0, let card = UInt16(exactly: snd_pcm_info_get_card(info)),
            let device = UInt16(exactly: snd_pcm_info_get_device(info))
        else { return nil }
        return SoundCards.Node(card: Int(card), device: Int(device), isCapture: direction == .capture)
    }

    /// The kernel's own words about what runs now: plugins do not say it.
    private static func native(of node: SoundCards.Node, _ handle: OpaquePointer) -> AlsaPCM.Native? {
        var info: OpaquePointer?
        guard snd_pcm_info_malloc(&info) == 0, let info else { return nil }
        defer { snd_pcm_info_free(info) }
        guard snd_pcm_info(handle, info) >= 0, let part = UInt16(exactly: snd_pcm_info_get_subdevice(info)),
            let text = SoundCards.text(
                "/proc/asound/card\(node.card)/pcm\(node.device)\(node.isCapture ? "c" : "p")/sub\(part)/hw_params")
        else { return nil }
        return AlsaPCM.Native(text)
    }
}

extension AlsaPCM.Native {
    /// From `/proc/asound/card*/pcm*/sub*/hw_params`: lines such as `rate: 44100 (44100/1)`. Nil when it says "closed".
    init?(_ text: String) {
        var values: [Substring: Substring] = [:]
        for line in text.split(separator: "\n").prefix(32) {
            let pair = line.split(separator: ":", maxSplits: 1)
            if pair.count == 2, let first = pair[1].split(separator: " ").first { values[pair[0]] = first }
        }
        guard let rate = values["rate"].flatMap({ Int($0) }), 1...1_000_000 ~= rate,
            let channels = values["channels"].flatMap({ Int($0) }), 1...1024 ~= channels
        else { return nil }
        self.init(rate: rate, channels: channels, format: values["format"].map { String($0.prefix(32)) } ?? "pcm")
    }
}
