// Counts objects that Swift code allocates: the runtime calls its allocator through a variable that tools may replace.
#include <stdatomic.h>

#include "CFloor.h"

typedef void *(*allocator)(void *metadata, size_t size, size_t alignment_mask);
extern allocator _swift_allocObject;

static allocator original;
static atomic_long count;

static void *counting(void *metadata, size_t size, size_t alignment_mask) {
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    return original(metadata, size, alignment_mask);
}

int swift_allocations_watch(void) {
    if (!original) {
        original = _swift_allocObject;
        _swift_allocObject = counting;
    }
    return _swift_allocObject == counting;
}

long swift_allocations_count(void) { return atomic_load_explicit(&count, memory_order_relaxed); }
