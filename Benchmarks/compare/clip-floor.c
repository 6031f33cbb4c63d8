// clip-floor WIDTH HEIGHT RATE COUNT WARM BITRATE PRESET CLIP.yuv
//
// The floor: bare x264 and libavcodec in one thread of calls, no network and no pipe, on the same pictures at the same pace,
// with the settings of the peers.
// One line of JSON on standard output: encode and decode together, in ms.
#include "CFloor.h"
#include "time-strip.h"
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(int count, char **words) {
    if (count != 9) return fprintf(stderr, "usage: clip-floor WIDTH HEIGHT RATE COUNT WARM BITRATE PRESET CLIP.yuv\n"), 2;
    int width = atoi(words[1]), height = atoi(words[2]), rate = atoi(words[3]), bitrate = atoi(words[6]);
    long frames = atol(words[4]), warm = atol(words[5]), measured = 0;
    size_t size = (size_t)width * height * 3 / 2;
    int file = open(words[8], O_RDONLY);
    struct stat facts;
    if (file < 0 || fstat(file, &facts) || facts.st_size < (off_t)size || frames <= warm) return perror(words[8]), 1;
    uint8_t *clip = mmap(0, (size_t)facts.st_size, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0), *picture = malloc(size);
    double *times = malloc((size_t)frames * sizeof *times);
    floor_settings settings = {width, height, rate, bitrate, 2, 2, 2, 1, words[7], 1.5};
    floor_codecs *codecs = floor_open(&settings);
    if (clip == MAP_FAILED || !picture || !times || !codecs) return fprintf(stderr, "the codecs cannot be opened\n"), 1;
    uint64_t begin = now_us();
    for (long number = 0; number < frames; number++) {
        uint64_t due = begin + (uint64_t)number * 1000000 / (uint64_t)rate;
        memcpy(picture, clip + (size_t)clip_index((uint32_t)number, facts.st_size / (long)size) * size, size);
        struct timespec tick = {(time_t)(due / 1000000), (long)(due % 1000000 * 1000)};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &tick, 0)) {}
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
