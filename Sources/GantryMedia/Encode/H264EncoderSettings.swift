import CX264
import GantryCore

/// Every setting of x264, in one place.
///
/// The aim is one access unit out for each picture in, at once, and no access unit that takes longer to send than a
/// picture lasts: no B frames, no look-ahead, no frame threads, a rate control buffer (VBV) of about one picture.
enum H264EncoderSettings {
    /// Cheaper ones lose 0.9 dB and more at the same bitrate (no sub-pixel search); "veryfast" takes 1.7 times as long for
    /// 0.1 dB. Measured with `scripts/bench front`.
    private static let preset = "superfast"

    /// Fills `parameters`. False when x264 does not know the preset.
    static func apply(_ configuration: H264EncoderConfiguration, to parameters: inout x264_param_t) -> Bool {
        // zerolatency: bframes 0, sync-lookahead 0, rc-lookahead 0, sliced threads, no mb-tree.
        guard x264_param_default_preset(&parameters, preset, "zerolatency") == 0 else {
            return false
        }
        parameters.i_log_level = X264_LOG_NONE
        parameters.i_width = CInt(configuration.width)
        parameters.i_height = CInt(configuration.height)
        parameters.i_csp = CInt(X264_CSP_I420)
        applyStructure(configuration, to: &parameters)
        applyColor(configuration.color, to: &parameters)
        parameters.i_fps_num = configuration.frameRate.numerator
        parameters.i_fps_den = configuration.frameRate.denominator
        parameters.i_timebase_num = configuration.frameRate.denominator
        parameters.i_timebase_den = configuration.frameRate.numerator
        // 1 would hold back one frame to learn its duration.
        parameters.b_vfr_input = 0
        applyRateControl(to: &parameters)
        applyBitrate(configuration.bitrate, frameRate: configuration.frameRate.framesPerSecond, to: &parameters)
        return true
    }

    private static func applyRateControl(to parameters: inout x264_param_t) {
        parameters.rc.i_rc_method = X264_RC_ABR
        // The small buffer already bounds every picture. A tight tolerance of the average on top of it leaves bits unused:
        // 10 instead of 1 gives 0.1 dB. Measured on a street scene, 720p30, 6 Mbit/s, superfast.
        parameters.rc.f_rate_tolerance = 10
        // Adaptive quantisation at the default strength of 1 costs 0.6 dB there; at 0.2 it costs nothing and still
        // spares flat dark areas from blocks.
        parameters.rc.f_aq_strength = 0.2
    }

    private static func applyStructure(_ configuration: H264EncoderConfiguration, to parameters: inout x264_param_t) {
        parameters.i_bframe = 0
        // Key frames come on request only.
        parameters.i_keyint_max = X264_KEYINT_MAX_INFINITE
        parameters.i_scenecut_threshold = 0
        parameters.b_intra_refresh = 0
        parameters.b_cabac = configuration.entropyCoding == .cabac ? 1 : 0
        // SPS and PPS in front of each IDR, start codes instead of lengths.
        parameters.b_repeat_headers = 1
        parameters.b_annexb = 1
        parameters.b_aud = 0
        parameters.i_threads = CInt(configuration.threads)
        parameters.b_sliced_threads = configuration.threads > 1 ? 1 : 0
        // Nothing is looked ahead at, but the rate control looks at a small copy of each picture first: with as many threads
        // as encode, 0.3 of 3.7 ms sooner (720p; 1.0 of 8.1 ms at 1080p).
        parameters.i_lookahead_threads = CInt(configuration.threads)
        parameters.i_slice_count = CInt(max(configuration.slices, configuration.threads))
    }

    /// A complete VUI, so that no player has to guess. With `i_bframe` 0, x264 writes num_reorder_frames 0.
    private static func applyColor(_ color: ColorDescription, to parameters: inout x264_param_t) {
        parameters.vui.i_sar_width = 1
        parameters.vui.i_sar_height = 1
        parameters.vui.i_vidformat = 5  // unspecified
        parameters.vui.b_fullrange = color.isFullRange ? 1 : 0
        parameters.vui.i_colorprim = CInt(color.primaries)
        parameters.vui.i_transfer = CInt(color.transfer)
        parameters.vui.i_colmatrix = CInt(color.matrix)
        parameters.i_nal_hrd = X264_NAL_HRD_NONE
    }

    /// The rate control keeps away from the end of so small a buffer, and makes three quarters of what it is told of pictures
    /// that would take more. A tenth more comes nearer to what was asked for; noise alone, which nobody films, goes beyond it.
    private static let filling = 1.1

    /// Bitrate, its maximum and the buffer, which are always changed together: a buffer of one picture, 1.5 when it is
    /// sliced (each slice gets a share of the buffer, and libx264 degrades below that).
    static func applyBitrate(_ bitrate: Int, frameRate: Double, to parameters: inout x264_param_t) {
        let bitrates = H264EncoderConfiguration.bitrates
        let limited = min(max(bitrate, bitrates.lowerBound), bitrates.upperBound)
        let kilobits = max(1, Double(limited) / 1000)
        let frames = parameters.i_threads > 1 || parameters.i_slice_count > 1 ? 1.5 : 1.0
        parameters.rc.i_bitrate = CInt(kilobits * filling)
        parameters.rc.i_vbv_max_bitrate = parameters.rc.i_bitrate
        parameters.rc.i_vbv_buffer_size = CInt(max(1, (kilobits / max(frameRate, 1) * frames).rounded(.up)))
        parameters.rc.f_vbv_buffer_init = 1
    }
}
