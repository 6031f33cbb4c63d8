#pragma once
#include <stddef.h>
#include <stdint.h>

/// The settings that the bare encoder shares with the product.
typedef struct {
    int width, height, fps, bitrate, threads, slices;
    const char *preset;
    double vbv_frames;
} floor_settings;

typedef struct floor_codecs floor_codecs;

/// Opens x264 and libavcodec, or returns NULL.
floor_codecs *floor_open(const floor_settings *settings);
/// Encodes one I420 picture (planes tightly packed) and decodes it; microseconds of each go to the two pointers.
/// Returns 0, or -1 when no picture came out.
int floor_frame(floor_codecs *codecs, const uint8_t *i420, int64_t pts, int64_t *encode_us, int64_t *decode_us);
void floor_close(floor_codecs *codecs);

/// Counts calls of the Swift runtime's object allocator from now on; 0 when the hook is not there.
int swift_allocations_watch(void);
long swift_allocations_count(void);
