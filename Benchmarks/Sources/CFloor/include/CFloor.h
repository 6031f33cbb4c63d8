#pragma once
#include <stddef.h>
#include <stdint.h>

/// The settings that the bare codecs share with the product.
typedef struct {
    int width, height, fps, bitrate, threads, slices, decoder_threads;
    /// Otherwise CAVLC.
    int cabac;
    const char *preset;
    double vbv_frames;
} floor_settings;

typedef struct floor_codecs floor_codecs;

/// Opens x264 and libavcodec, or returns NULL.
floor_codecs *floor_open(const floor_settings *settings);
/// Encodes one I420 picture (planes tightly packed) and decodes it; microseconds of each go to the two pointers.
/// Returns 0, or -1 when no picture came out.
int floor_frame(floor_codecs *codecs, const uint8_t *i420, int64_t pts, int64_t *encode_us, int64_t *decode_us);
/// BGRA to I420 (BT.601 limited, planes tightly packed) as the product does it, not measured. Even sizes.
void floor_convert(const uint8_t *bgra, int stride, int width, int height, uint8_t *i420);
void floor_close(floor_codecs *codecs);

/// Standard output line by line, also into a pipe. (Swift 6 does not let `stdout` be named.)
void line_buffering(void);
