// x264-front WIDTH HEIGHT RATE BITRATE COUNT ROUNDS CLIP.yuv SETTING...
//
// What settings of x264 cost and give: each SETTING is a preset, and after a colon what is changed in it ("ultrafast:cabac=1,
// deblock=1"). All else is as in the product (H264EncoderSettings.swift): zerolatency, two sliced threads, a buffer of 1.5
// pictures. Rounds of all settings alternate, so that what else the machine does hits all alike. For each setting a line of
// JSON: ms to encode and to decode at the median, processor time of both for a picture, Mbit/s, PSNR and SSIM.
#include "clip.h"
#include "quality.h"
#include <libavcodec/avcodec.h>
#include <stdio.h>
#include <x264.h>

typedef struct {
    int width, height, rate, bitrate;
    long count;
    clip source;
} Task;

typedef struct {
    double *encode, *decode, encode_cpu, decode_cpu, bytes, psnr, ssim;
    long measured, compared;
} Result;

static double cpu_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static int change(x264_param_t *p, char *changes) {
    for (char *part = strtok(changes, ","); part; part = strtok(NULL, ",")) {
        char *value = strchr(part, '=');
        if (value) *value++ = 0;
        if (x264_param_parse(p, part, value)) return fprintf(stderr, "x264 does not know %s=%s\n", part, value), 0;
    }
    return 1;
}

static x264_t *open_encoder(const Task *task, const char *setting) {
    char preset[400];
    snprintf(preset, sizeof preset, "%s", setting);
    char *changes = strchr(preset, ':');
    if (changes) *changes++ = 0;
    x264_param_t p;
    if (x264_param_default_preset(&p, preset, "zerolatency")) return NULL;
    p.i_log_level = X264_LOG_NONE;
    p.i_width = task->width;
    p.i_height = task->height;
    p.i_csp = X264_CSP_I420;
    p.i_fps_num = task->rate;
    p.i_fps_den = p.i_timebase_num = 1;
    p.i_timebase_den = task->rate;
    p.b_vfr_input = 0;
    p.i_bframe = 0;
    p.i_threads = p.i_slice_count = 2;
    p.b_sliced_threads = 1;
    p.i_lookahead_threads = 2;
    p.i_keyint_max = X264_KEYINT_MAX_INFINITE;
    p.i_scenecut_threshold = 0;
    p.b_repeat_headers = p.b_annexb = 1;
    p.rc.i_rc_method = X264_RC_ABR;
    p.rc.i_bitrate = p.rc.i_vbv_max_bitrate = task->bitrate / 1000;
    p.rc.i_vbv_buffer_size = (int)ceil(task->bitrate / 1000.0 / task->rate * 1.5);
    p.rc.f_vbv_buffer_init = 1;
    p.rc.f_rate_tolerance = 10;
    p.rc.f_aq_strength = 0.2f;
    return changes && !change(&p, changes) ? NULL : x264_encoder_open(&p);
}

static AVCodecContext *open_decoder(void) {
    const AVCodec *codec = avcodec_find_decoder(AV_CODEC_ID_H264);
    AVCodecContext *decoder = avcodec_alloc_context3(codec);
    decoder->flags |= AV_CODEC_FLAG_LOW_DELAY;
    decoder->thread_count = 2;
    decoder->thread_type = FF_THREAD_SLICE;
    return avcodec_open2(decoder, codec, NULL) < 0 ? NULL : decoder;
}

// Every 10th picture.
static void compare(const Task *task, const AVFrame *frame, const uint8_t *original, Result *result) {
    uint8_t *tight = malloc((size_t)task->width * task->height);
    for (int row = 0; row < task->height; row++)
        memcpy(tight + (size_t)row * task->width, frame->data[0] + (size_t)row * frame->linesize[0], task->width);
    result->psnr += psnr(tight, original, task->width, task->height);
    result->ssim += ssim(tight, original, task->width, task->height);
    result->compared++;
    free(tight);
}

static int run(const Task *task, const char *setting, Result *result) {
    x264_t *encoder = open_encoder(task, setting);
    AVCodecContext *decoder = open_decoder();
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    if (!encoder || !decoder || !packet || !frame) return fprintf(stderr, "%s cannot be opened\n", setting), 0;
    size_t luma = (size_t)task->width * task->height;
    for (long number = 0; number < task->count; number++) {
        const uint8_t *original = clip_picture(&task->source, (uint32_t)number);
        x264_picture_t input, output;
        x264_picture_init(&input);
        input.img.i_csp = X264_CSP_I420;
        input.img.i_plane = 3;
        for (int plane = 0; plane < 3; plane++) {
            input.img.i_stride[plane] = plane ? task->width / 2 : task->width;
            input.img.plane[plane] = (uint8_t *)original + (plane ? luma + (size_t)(plane - 1) * luma / 4 : 0);
        }
        input.i_pts = number;
        x264_nal_t *units;
        int count;
        double cpu = cpu_ms();
        uint64_t begin = now_us();
        int size = x264_encoder_encode(encoder, &units, &count, &input, &output);
        uint64_t encoded = now_us();
        double encoded_cpu = cpu_ms();
        if (size <= 0 || av_new_packet(packet, size)) return fprintf(stderr, "no picture came out of %s\n", setting), 0;
        memcpy(packet->data, units[0].p_payload, (size_t)size);
        uint64_t arrived = now_us();
        if (avcodec_send_packet(decoder, packet) || avcodec_receive_frame(decoder, frame))
            return fprintf(stderr, "what %s gives cannot be decoded\n", setting), 0;
        uint64_t decoded = now_us();
        double end_cpu = cpu_ms();
        av_packet_unref(packet);
        // The first second is the key picture and what the rate control learns from.
        if (number < task->rate) continue;
        result->encode[result->measured] = (double)(encoded - begin) / 1000;
        result->decode[result->measured++] = (double)(decoded - arrived) / 1000;
        result->encode_cpu += encoded_cpu - cpu;
        result->decode_cpu += end_cpu - encoded_cpu;
        result->bytes += size;
        if (number % 10 == 0) compare(task, frame, original, result);
    }
    x264_encoder_close(encoder);
    avcodec_free_context(&decoder);
    av_packet_free(&packet);
    av_frame_free(&frame);
    return 1;
}

int main(int count, char **words) {
    if (count < 9) return fprintf(stderr, "usage: x264-front WIDTH HEIGHT RATE BITRATE COUNT ROUNDS CLIP.yuv SETTING...\n"), 2;
    Task task = {atoi(words[1]), atoi(words[2]), atoi(words[3]), atoi(words[4]), atol(words[5]), {0}};
    int rounds = atoi(words[6]), settings = count - 8;
    if (clip_open(&task.source, words[7], task.width, task.height) || task.count <= task.rate) return perror(words[7]), 1;
    Result *results = calloc((size_t)settings, sizeof *results);
    for (int k = 0; k < settings; k++) {
        results[k].encode = malloc((size_t)task.count * rounds * sizeof(double));
        results[k].decode = malloc((size_t)task.count * rounds * sizeof(double));
    }
    for (int round = 0; round < rounds; round++)
        for (int k = 0; k < settings; k++)
            if (!run(&task, words[8 + k], &results[k])) return 1;
    for (int k = 0; k < settings; k++) {
        Result *r = &results[k];
        qsort(r->encode, (size_t)r->measured, sizeof(double), ascending);
        qsort(r->decode, (size_t)r->measured, sizeof(double), ascending);
        printf("{\"setting\":\"%s\",\"encode\":%.2f,\"decode\":%.2f,\"cpu-encode\":%.2f,\"cpu-decode\":%.2f,\"mbit\":%.2f,"
               "\"psnr\":%.2f,\"ssim\":%.4f}\n",
               words[8 + k], r->encode[r->measured / 2], r->decode[r->measured / 2], r->encode_cpu / r->measured,
               r->decode_cpu / r->measured, r->bytes * 8 * task.rate / r->measured / 1e6, r->psnr / r->compared,
               r->ssim / r->compared);
    }
    return 0;
}
