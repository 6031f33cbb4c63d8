// Counts what is taken from the heap. `malloc` and its kin are defined here, in front of those of the C library.
#include <errno.h>
#include <stdlib.h>

#include "callers.h"

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static void note_call(const void *caller) {
    if (counts_now()) note(&heap_calls, caller, 1);
}

void *malloc(size_t size) {
    note_call(__builtin_return_address(0));
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    note_call(__builtin_return_address(0));
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    note_call(__builtin_return_address(0));
    return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    note_call(__builtin_return_address(0));
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    note_call(__builtin_return_address(0));
    void *taken = __libc_memalign(alignment, size);
    if (!taken) return ENOMEM;
    *memory = taken;
    return 0;
}
