// Bare x264 and libavcodec in one process, no network: the floor that the product is measured against.
#include "CFloor.h"

#include <libavcodec/avcodec.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x264.h>

struct floor_codecs {
    x264_t *encoder;
    x264_picture_t input, output;
    AVCodecContext *decoder;
    AVPacket *packet;
    AVFrame *frame;
    uint8_t *buffer;
    size_t capacity;
    int width, height;
};

static int64_t now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000ll + t.tv_nsec / 1000;
}

// The same settings as Sources/GantryMedia/Encode/H264EncoderSettings.swift, which says why each is as it is.
static x264_t *open_encoder(const floor_settings *s) {
    x264_param_t p;
    if (x264_param_default_preset(&p, s->preset, "zerolatency")) return NULL;
    p.i_log_level = X264_LOG_NONE;
    p.i_width = s->width;
    p.i_height = s->height;
    p.i_csp = X264_CSP_I420;
    p.i_fps_num = s->fps;
    p.i_fps_den = 1;
    p.i_timebase_num = 1;
    p.i_timebase_den = s->fps;
    p.b_vfr_input = 0;
    p.i_bframe = 0;
    p.i_threads = s->threads;
    p.b_sliced_threads = s->threads > 1;
    p.i_lookahead_threads = s->threads;
    p.i_slice_count = s->slices;
    p.i_keyint_max = X264_KEYINT_MAX_INFINITE;
    p.i_scenecut_threshold = 0;
    p.b_repeat_headers = 1;
    p.b_annexb = 1;
    p.b_cabac = s->cabac;
    p.rc.i_rc_method = X264_RC_ABR;
    p.rc.i_bitrate = (int)(s->bitrate / 1000.0 * 1.1);
    p.rc.i_vbv_max_bitrate = p.rc.i_bitrate;
    p.rc.i_vbv_buffer_size = (int)ceil(s->bitrate / 1000.0 / s->fps * s->vbv_frames);
    p.rc.f_vbv_buffer_init = 1;
    p.rc.f_rate_tolerance = 10;
    p.rc.f_aq_strength = 0.2f;
    return x264_encoder_open(&p);
}

floor_codecs *floor_open(const floor_settings *s) {
    floor_codecs *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->width = s->width;
    c->height = s->height;
    c->encoder = open_encoder(s);
    x264_picture_init(&c->input);
    c->input.img.i_csp = X264_CSP_I420;
    c->input.img.i_plane = 3;
    c->input.img.i_stride[0] = s->width;
    c->input.img.i_stride[1] = c->input.img.i_stride[2] = s->width / 2;
    const AVCodec *codec = avcodec_find_decoder(AV_CODEC_ID_H264);
    c->decoder = avcodec_alloc_context3(codec);
    c->packet = av_packet_alloc();
    c->frame = av_frame_alloc();
    if (!c->encoder || !c->decoder || !c->packet || !c->frame) return floor_close(c), NULL;
    c->decoder->flags |= AV_CODEC_FLAG_LOW_DELAY;
    c->decoder->thread_count = s->decoder_threads;
    c->decoder->thread_type = FF_THREAD_SLICE;
    if (avcodec_open2(c->decoder, codec, NULL) < 0) return floor_close(c), NULL;
    return c;
}

int floor_frame(floor_codecs *c, const uint8_t *i420, int64_t pts, int64_t *encode_us, int64_t *decode_us) {
    const size_t luma = (size_t)c->width * c->height;
    int64_t start = now_us();
    c->input.img.plane[0] = (uint8_t *)i420;
    c->input.img.plane[1] = (uint8_t *)i420 + luma;
    c->input.img.plane[2] = (uint8_t *)i420 + luma + luma / 4;
    c->input.i_pts = pts;
    c->input.i_type = X264_TYPE_AUTO;
    x264_nal_t *nals;
    int count;
    int size = x264_encoder_encode(c->encoder, &nals, &count, &c->input, &c->output);
    int64_t encoded = now_us();
    if (size <= 0) return -1;
    if ((size_t)size + AV_INPUT_BUFFER_PADDING_SIZE > c->capacity) {
        c->capacity = (size_t)size * 2 + AV_INPUT_BUFFER_PADDING_SIZE;
        c->buffer = realloc(c->buffer, c->capacity);
        if (!c->buffer) return -1;
    }
    memcpy(c->buffer, nals[0].p_payload, size);
    memset(c->buffer + size, 0, AV_INPUT_BUFFER_PADDING_SIZE);
    c->packet->data = c->buffer;
    c->packet->size = size;
    if (avcodec_send_packet(c->decoder, c->packet) < 0) return -1;
    if (avcodec_receive_frame(c->decoder, c->frame) < 0) return -1;
    int64_t decoded = now_us();
    *encode_us = encoded - start;
    *decode_us = decoded - encoded;
    return 0;
}

static uint8_t luma(const uint8_t *p) { return (66 * p[2] + 129 * p[1] + 25 * p[0] + 0x1080) >> 8; }

void floor_convert(const uint8_t *bgra, int stride, int width, int height, uint8_t *i420) {
    uint8_t *u = i420 + (size_t)width * height, *v = u + (size_t)width * height / 4;
    for (int y = 0; y < height; y += 2) {
        const uint8_t *row = bgra + (size_t)y * stride, *below = row + stride;
        uint8_t *to = i420 + (size_t)y * width;
        for (int x = 0; x < width; x += 2, row += 8, below += 8) {
            to[x] = luma(row);
            to[x + 1] = luma(row + 4);
            to[x + width] = luma(below);
            to[x + width + 1] = luma(below + 4);
            int b = (row[0] + row[4] + below[0] + below[4] + 2) >> 2;
            int g = (row[1] + row[5] + below[1] + below[5] + 2) >> 2;
            int r = (row[2] + row[6] + below[2] + below[6] + 2) >> 2;
            *u++ = (112 * b - 74 * g - 38 * r + 0x8080) >> 8;
            *v++ = (112 * r - 94 * g - 18 * b + 0x8080) >> 8;
        }
    }
}

void floor_close(floor_codecs *c) {
    if (!c) return;
    if (c->encoder) x264_encoder_close(c->encoder);
    avcodec_free_context(&c->decoder);
    av_packet_free(&c->packet);
    av_frame_free(&c->frame);
    free(c->buffer);
    free(c);
}

void line_buffering(void) { setvbuf(stdout, NULL, _IOLBF, 0); }
