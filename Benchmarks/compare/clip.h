// A clip of I420 pictures in a file, and the pace at which it is played.
#pragma once
#include "time-strip.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    const uint8_t *bytes;
    size_t size; // of a picture
    long count;
} clip;

// 0, or -1 and errno.
static inline int clip_open(clip *it, const char *path, int width, int height) {
    int file = open(path, O_RDONLY);
    struct stat facts;
    if (file < 0 || fstat(file, &facts)) return -1;
    it->size = (size_t)width * (size_t)height * 3 / 2;
    it->count = facts.st_size / (long)it->size;
    errno = EINVAL;
    if (it->count < 1) return -1;
    void *bytes = mmap(0, (size_t)facts.st_size, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0);
    it->bytes = bytes;
    close(file);
    return bytes == MAP_FAILED ? -1 : 0;
}

// It is played forth and back, so that there is no cut in it.
static inline const uint8_t *clip_picture(const clip *it, uint32_t number) {
    long place = it->count < 2 ? 0 : number % (2 * it->count - 2);
    return it->bytes + (size_t)(place < it->count ? place : 2 * it->count - 2 - place) * it->size;
}

// When a picture is due, in microseconds.
static inline uint64_t tick_of(uint64_t begin, long number, int rate) {
    return begin + (uint64_t)number * 1000000 / (uint64_t)rate;
}

static inline void wait_for(uint64_t time) {
    struct timespec tick = {(time_t)(time / 1000000), (long)(time % 1000000 * 1000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &tick, 0)) {}
}

static inline int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}
