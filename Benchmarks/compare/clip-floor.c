// clip-floor WIDTH HEIGHT RATE COUNT WARM BITRATE PRESET CLIP.yuv
//
// The floor: bare x264 and libavcodec in one thread of calls, no network and no pipe, on the same pictures at the same pace,
// with the settings of the peers.
// One line of JSON on standard output: encode and decode together, in ms.
#include "CFloor.h"
#include "clip.h"
#include <math.h>
#include <stdio.h>

int main(int count, char **words) {
    if (count != 9) return fprintf(stderr, "usage: clip-floor WIDTH HEIGHT RATE COUNT WARM BITRATE PRESET CLIP.yuv\n"), 2;
    int width = atoi(words[1]), height = atoi(words[2]), rate = atoi(words[3]), bitrate = atoi(words[6]);
    long frames = atol(words[4]), warm = atol(words[5]), measured = 0;
    clip source;
    if (clip_open(&source, words[8], width, height) || frames <= warm) return perror(words[8]), 1;
    uint8_t *picture = malloc(source.size);
    double *times = malloc((size_t)frames * sizeof *times);
    floor_settings settings = {width, height, rate, bitrate, 2, 2, 2, 1, words[7], 1.5};
    floor_codecs *codecs = floor_open(&settings);
    if (!picture || !times || !codecs) return fprintf(stderr, "the codecs cannot be opened\n"), 1;
    uint64_t begin = now_us();
    for (long number = 0; number < frames; number++) {
        memcpy(picture, clip_picture(&source, (uint32_t)number), source.size);
        wait_for(tick_of(begin, number, rate));
        strip_draw(picture, width, (uint32_t)number, now_us());
        int64_t encode, decode;
        if (floor_frame(codecs, picture, number, &encode, &decode)) return fprintf(stderr, "no picture came out\n"), 1;
        if (number >= warm) times[measured++] = (double)(encode + decode) / 1000;
    }
    floor_close(codecs);
    qsort(times, (size_t)measured, sizeof *times, ascending);
    printf("{\"p50\":%.2f,\"p95\":%.2f,\"p99\":%.2f,\"max\":%.2f}\n", times[(long)ceil(0.5 * measured) - 1],
           times[(long)ceil(0.95 * measured) - 1], times[(long)ceil(0.99 * measured) - 1], times[measured - 1]);
    return 0;
}
