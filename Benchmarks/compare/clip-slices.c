// clip-slices WIDTH HEIGHT RATE COUNT WARM BITRATE CLIP.yuv ENCODER-THREADS SLICES DECODER-THREADS whole|slices
//
// What it gives to hand over slices while the picture is still being encoded: x264 and libavcodec on threads of their own, no
// network, the product's settings. "whole": the decoder gets a picture when it is complete. "slices": each slice as it comes.
// One line of JSON on standard output: from the tick to encoded, and to decoded, in ms.
#include "clip.h"
#include <libavcodec/avcodec.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <x264.h>

enum { most_units = 64, unit_bytes = 1 << 20 };

typedef struct {
    uint8_t *bytes;
    int size, first, last; // macroblocks; -1 in front of the slices
} unit;

// The units of the picture that is being made. `lock` guards all of it.
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unit units[most_units];
    int count, is_complete, is_over;
    long picture;
} shared = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {{0}}, 0, 0, 0, 0};

static AVCodecContext *decoder;
static int hands_slices, macroblocks;
static uint64_t decoded_at; // of the last picture; 0: not yet

// From x264's threads, in any order.
static void take_unit(x264_t *encoder, x264_nal_t *nal, void *opaque) {
    (void)opaque;
    int is_slice = nal->i_type == NAL_SLICE || nal->i_type == NAL_SLICE_IDR;
    pthread_mutex_lock(&shared.lock);
    int place = shared.count < most_units && nal->i_payload * 3 / 2 + 69 < unit_bytes ? shared.count++ : -1;
    if (place >= 0) {
        unit *one = &shared.units[place];
        // Escapes it, where it is to lie.
        x264_nal_encode(encoder, one->bytes, nal);
        one->size = nal->i_payload;
        one->first = is_slice ? nal->i_first_mb : -1;
        one->last = is_slice ? nal->i_last_mb : -1;
    }
    if (hands_slices) pthread_cond_signal(&shared.changed);
    pthread_mutex_unlock(&shared.lock);
}

// Appends what follows `next`, the macroblock that comes next, to the packet; the next one after it.
static int append(AVPacket *packet, int next, int *seen) {
    for (int found = 1; found;) {
        found = 0;
        for (int i = 0; i < shared.count; i++) {
            unit *one = &shared.units[i];
            if (seen[i] || (one->first >= 0 && one->first != next)) continue;
            memcpy(packet->data + packet->size, one->bytes, (size_t)one->size);
            packet->size += one->size;
            seen[i] = found = 1;
            if (one->first >= 0) next = one->last + 1;
        }
    }
    return next;
}

static void *decode(void *unused) {
    (void)unused;
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    uint8_t *bytes = calloc(1, 8 * unit_bytes);
    pthread_mutex_lock(&shared.lock);
    for (int next = 0, seen[most_units] = {0};;) {
        packet->data = bytes;
        packet->size = 0;
        if (hands_slices || shared.is_complete) next = append(packet, next, seen);
        if (shared.is_over) break;
        if (packet->size == 0) {
            pthread_cond_wait(&shared.changed, &shared.lock);
            continue;
        }
        pthread_mutex_unlock(&shared.lock);
        packet->pts = packet->dts = shared.picture;
        int status = avcodec_send_packet(decoder, packet);
        int shows = status >= 0 && avcodec_receive_frame(decoder, frame) >= 0;
        uint64_t now = now_us();
        av_frame_unref(frame);
        pthread_mutex_lock(&shared.lock);
        if (!shows && next < macroblocks) continue;
        decoded_at = shows ? now : 1;
        next = 0;
        memset(seen, 0, sizeof seen);
        shared.count = shared.is_complete = 0;
        pthread_cond_broadcast(&shared.changed);
    }
    pthread_mutex_unlock(&shared.lock);
    return 0;
}

static x264_t *open_encoder(int width, int height, int rate, int bitrate, int threads, int slices) {
    x264_param_t p;
    if (x264_param_default_preset(&p, "superfast", "zerolatency")) return 0;
    p.i_log_level = X264_LOG_NONE;
    p.i_width = width, p.i_height = height, p.i_csp = X264_CSP_I420;
    p.i_fps_num = p.i_timebase_den = rate, p.i_fps_den = p.i_timebase_num = 1;
    p.b_vfr_input = p.i_bframe = p.i_scenecut_threshold = p.b_cabac = 0;
    p.i_threads = threads, p.b_sliced_threads = threads > 1;
    p.i_keyint_max = X264_KEYINT_MAX_INFINITE;
    // With sliced threads the number of slices is that of the threads, unless they are bounded.
    if (slices > threads) p.i_slice_max_mbs = (macroblocks + slices - 1) / slices;
    p.rc.i_rc_method = X264_RC_ABR;
    p.rc.i_bitrate = p.rc.i_vbv_max_bitrate = (int)(bitrate / 1000.0 * 1.1);
    p.rc.i_vbv_buffer_size = (int)ceil(bitrate / 1000.0 / rate * 1.5);
    p.rc.f_vbv_buffer_init = 1, p.rc.f_rate_tolerance = 10, p.rc.f_aq_strength = 0.2f;
    p.nalu_process = take_unit;
    return x264_encoder_open(&p);
}

static int open_decoder(int threads) {
    decoder = avcodec_alloc_context3(avcodec_find_decoder(AV_CODEC_ID_H264));
    if (!decoder) return -1;
    decoder->thread_count = threads, decoder->thread_type = FF_THREAD_SLICE;
    decoder->flags |= AV_CODEC_FLAG_LOW_DELAY;
    if (hands_slices) {
        decoder->flags2 |= AV_CODEC_FLAG2_CHUNKS;
        // Otherwise what is missing is made up after each slice.
        decoder->error_concealment = 0;
    }
    return avcodec_open2(decoder, 0, 0);
}

int main(int count, char **words) {
    if (count != 12) return fprintf(stderr, "usage: see the source\n"), 2;
    int width = atoi(words[1]), height = atoi(words[2]), rate = atoi(words[3]);
    long frames = atol(words[4]), warm = atol(words[5]), measured = 0, missing = 0;
    macroblocks = ((width + 15) / 16) * ((height + 15) / 16);
    hands_slices = !strcmp(words[11], "slices");
    clip source;
    if (clip_open(&source, words[7], width, height) || frames <= warm) return perror(words[7]), 1;
    uint8_t *picture = malloc(source.size);
    double *encode = malloc((size_t)frames * sizeof *encode), *all = malloc((size_t)frames * sizeof *all);
    for (int i = 0; i < most_units; i++) shared.units[i].bytes = malloc(unit_bytes);
    x264_t *encoder = open_encoder(width, height, rate, atoi(words[6]), atoi(words[8]), atoi(words[9]));
    pthread_t thread;
    if (!picture || !encoder || open_decoder(atoi(words[10])) < 0 || pthread_create(&thread, 0, decode, 0))
        return fprintf(stderr, "the codecs cannot be opened\n"), 1;
    uint64_t begin = now_us();
    for (long number = 0; number < frames; number++) {
        memcpy(picture, clip_picture(&source, (uint32_t)number), source.size);
        wait_for(tick_of(begin, number, rate));
        uint64_t start = now_us();
        x264_picture_t input, output;
        x264_picture_init(&input);
        input.i_pts = number;
        input.img.i_csp = X264_CSP_I420, input.img.i_plane = 3;
        input.img.i_stride[0] = width, input.img.i_stride[1] = input.img.i_stride[2] = width / 2;
        input.img.plane[0] = picture, input.img.plane[1] = picture + (size_t)width * height;
        input.img.plane[2] = input.img.plane[1] + (size_t)width * height / 4;
        x264_nal_t *nal;
        int nals;
        x264_encoder_encode(encoder, &nal, &nals, &input, &output);
        uint64_t encoded = now_us();
        pthread_mutex_lock(&shared.lock);
        shared.is_complete = 1;
        pthread_cond_signal(&shared.changed);
        while (!decoded_at) pthread_cond_wait(&shared.changed, &shared.lock);
        uint64_t decoded = decoded_at;
        decoded_at = 0, shared.is_complete = 0, shared.picture = number + 1;
        pthread_mutex_unlock(&shared.lock);
        if (number < warm) continue;
        if (decoded < start) missing++;
        else encode[measured] = (double)(encoded - start) / 1000, all[measured++] = (double)(decoded - start) / 1000;
    }
    pthread_mutex_lock(&shared.lock);
    shared.is_over = 1;
    pthread_cond_broadcast(&shared.changed);
    pthread_mutex_unlock(&shared.lock);
    pthread_join(thread, 0);
    if (!measured) return fprintf(stderr, "no picture came out\n"), 1;
    qsort(encode, (size_t)measured, sizeof *encode, ascending);
    qsort(all, (size_t)measured, sizeof *all, ascending);
    printf("{\"encode\":%.2f,\"p50\":%.2f,\"p95\":%.2f,\"missing\":%ld}\n", encode[measured / 2], all[measured / 2],
           all[measured * 95 / 100], missing);
    return 0;
}
