// Counts bytes that are copied by `memcpy` and `memmove`, in calls of a KiB or more: defined here, in front of those of the
// C library. Copies that the compiler writes out, and those that libyuv, x264 and libavcodec make in assembler, are not seen.
// Of libyuv, the function that copies and does nothing else is counted as well (its `I420Copy` calls it for each plane).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

#include "callers.h"

enum { least = 1024 };

typedef void *move_function(void *to, const void *from, size_t size);
typedef void plane_function(const uint8_t *from, int from_stride, uint8_t *to, int to_stride, int width, int height);

static move_function *real_move;
static plane_function *real_plane;

__attribute__((constructor)) static void find_real(void) {
    real_plane = (plane_function *)dlsym(RTLD_NEXT, "CopyPlane");
    real_move = (move_function *)dlsym(RTLD_NEXT, "memmove");
}

// While the program is being loaded, before the C library's own is known.
__attribute__((no_builtin("memcpy", "memmove"))) static void *early(uint8_t *to, const uint8_t *from, size_t size) {
    if (to < from) {
        for (size_t i = 0; i < size; i++) to[i] = from[i];
    } else {
        for (size_t i = size; i > 0; i--) to[i - 1] = from[i - 1];
    }
    return to;
}

static void *move(void *to, const void *from, size_t size, const void *caller) {
    if (size >= least && counts_now()) note(&copied_bytes, caller, (long)size);
    return real_move ? real_move(to, from, size) : early(to, from, size);
}

void *memcpy(void *to, const void *from, size_t size) { return move(to, from, size, __builtin_return_address(0)); }

void *memmove(void *to, const void *from, size_t size) { return move(to, from, size, __builtin_return_address(0)); }

// What the compiler makes of them in libraries that are built with _FORTIFY_SOURCE.
void *__memcpy_chk(void *to, const void *from, size_t size, size_t room) {
    if (size > room) abort();
    return move(to, from, size, __builtin_return_address(0));
}

void *__memmove_chk(void *to, const void *from, size_t size, size_t room) {
    if (size > room) abort();
    return move(to, from, size, __builtin_return_address(0));
}

void CopyPlane(const uint8_t *from, int from_stride, uint8_t *to, int to_stride, int width, int height) {
    if (counts_now()) note(&copied_bytes, __builtin_return_address(0), (long)width * labs(height));
    real_plane(from, from_stride, to, to_stride, width, height);
}
