// Counts what Swift code takes from the heap. `malloc` and its kin are defined here, in front of those of the C library;
// calls whose return address lies in the Swift runtime or in this program are ours (objects, arrays, closures,
// `allocate` of raw memory), the rest belongs to the C libraries.
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "CAllocations.h"

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

enum { max_ranges = 32, depth = 14, max_stacks = 64 };
static struct {
    uintptr_t start, end;
} ranges[max_ranges];
static int range_count;
static atomic_bool watching;
static atomic_bool tracing;
static atomic_long swift_count, other_count;

static struct stack {
    void *frames[depth];
    int size;
    long count;
} stacks[max_stacks];
static int stack_count;
static atomic_flag stack_lock = ATOMIC_FLAG_INIT;
static _Thread_local bool inside;

static void note_stack(void) {
    struct stack now = {.count = 1};
    inside = true;  // backtrace() may allocate
    now.size = backtrace(now.frames, depth);
    inside = false;
    while (atomic_flag_test_and_set(&stack_lock)) {
    }
    int i = 0;
    while (i < stack_count && memcmp(stacks[i].frames, now.frames, sizeof now.frames)) i++;
    if (i < stack_count) {
        stacks[i].count++;
    } else if (stack_count < max_stacks) {
        stacks[stack_count++] = now;
    }
    atomic_flag_clear(&stack_lock);
}

static void note(const void *caller) {
    if (!atomic_load_explicit(&watching, memory_order_relaxed) || inside) return;
    uintptr_t address = (uintptr_t)caller;
    for (int i = 0; i < range_count; i++) {
        if (address < ranges[i].start || address >= ranges[i].end) continue;
        atomic_fetch_add_explicit(&swift_count, 1, memory_order_relaxed);
        if (atomic_load_explicit(&tracing, memory_order_relaxed)) note_stack();
        return;
    }
    atomic_fetch_add_explicit(&other_count, 1, memory_order_relaxed);
}

void *malloc(size_t size) {
    note(__builtin_return_address(0));
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    note(__builtin_return_address(0));
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    note(__builtin_return_address(0));
    return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    note(__builtin_return_address(0));
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    note(__builtin_return_address(0));
    void *taken = __libc_memalign(alignment, size);
    if (!taken) return ENOMEM;
    *memory = taken;
    return 0;
}

static int add_ranges(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    const char *name = info->dlpi_name ? info->dlpi_name : "";
    if (name[0] && !strstr(name, "libswift")) return 0;
    for (int i = 0; i < info->dlpi_phnum && range_count < max_ranges; i++) {
        if (info->dlpi_phdr[i].p_type != PT_LOAD || !(info->dlpi_phdr[i].p_flags & PF_X)) continue;
        uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        ranges[range_count].start = start;
        ranges[range_count++].end = start + info->dlpi_phdr[i].p_memsz;
    }
    return 0;
}

void allocations_watch(int trace) {
    if (range_count == 0) dl_iterate_phdr(add_ranges, NULL);
    void *warm[2];
    backtrace(warm, 2);  // loads the unwinder now, not while counting
    atomic_store(&swift_count, 0);
    atomic_store(&other_count, 0);
    atomic_store(&tracing, trace != 0);
    atomic_store(&watching, true);
}

void allocations_stop(long *swift, long *other) {
    atomic_store(&watching, false);
    *swift = atomic_load(&swift_count);
    *other = atomic_load(&other_count);
}

void allocations_print_stacks(int file) {
    for (int i = 0; i < stack_count; i++) {
        dprintf(file, "%ld times:\n", stacks[i].count);
        backtrace_symbols_fd(stacks[i].frames + 2, stacks[i].size - 2, file);
    }
}

// In a tool that is started with this as LD_PRELOAD: SIGUSR1 begins to count, SIGUSR2 writes the two counts (and the
// callers) to the file that GANTRY_ALLOCATIONS names.
static const char *report_path;
static int report_traces;

static void begin(int number) {
    (void)number;
    allocations_watch(report_traces);
}

static void report(int number) {
    (void)number;
    long swift, other;
    allocations_stop(&swift, &other);
    int file = open(report_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return;
    dprintf(file, "%ld %ld\n", swift, other);
    if (report_traces) allocations_print_stacks(file);
    close(file);
}

__attribute__((constructor)) static void listen_for_signals(void) {
    report_path = getenv("GANTRY_ALLOCATIONS");
    if (!report_path) return;
    report_traces = getenv("GANTRY_ALLOCATIONS_TRACE") != NULL;
    void *warm[2];
    backtrace(warm, 2);
    signal(SIGUSR1, begin);
    signal(SIGUSR2, report);
}
