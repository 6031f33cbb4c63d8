// Tells calls from Swift code from those of C libraries, and remembers who called: calls whose return address lies in the
// Swift runtime or in this program are ours (objects, arrays, closures, raw memory), the rest belongs to the C libraries.
#define _GNU_SOURCE
#include "callers.h"

#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "CAllocations.h"

enum { max_ranges = 32, depth = 14, max_stacks = 64 };
struct stack {
    void *frames[depth];
    int size;
    bool is_ours;
    long amount;
};

static struct {
    uintptr_t start, end;
} ranges[max_ranges];
static int range_count;
static atomic_bool watching;
static atomic_bool tracing;
static struct stack heap_stacks[max_stacks], copy_stacks[max_stacks];
static atomic_flag stack_lock = ATOMIC_FLAG_INIT;
static _Thread_local bool inside __attribute__((tls_model("initial-exec")));

struct tally heap_calls = {.unit = "times", .stacks = heap_stacks};
struct tally copied_bytes = {.unit = "bytes", .stacks = copy_stacks};

bool counts_now(void) { return atomic_load_explicit(&watching, memory_order_relaxed) && !inside; }

static void note_stack(struct tally *tally, bool is_ours, long amount) {
    struct stack now = {.is_ours = is_ours};
    inside = true;  // backtrace() may allocate
    now.size = backtrace(now.frames, depth);
    inside = false;
    while (atomic_flag_test_and_set(&stack_lock)) {
    }
    int i = 0;
    while (i < tally->stack_count && memcmp(tally->stacks[i].frames, now.frames, sizeof now.frames)) i++;
    if (i == tally->stack_count && i < max_stacks) tally->stacks[tally->stack_count++] = now;
    if (i < tally->stack_count) tally->stacks[i].amount += amount;
    atomic_flag_clear(&stack_lock);
}

static bool is_ours(const void *caller) {
    uintptr_t address = (uintptr_t)caller;
    for (int i = 0; i < range_count; i++) {
        if (address >= ranges[i].start && address < ranges[i].end) return true;
    }
    return false;
}

void note(struct tally *tally, const void *caller, long amount) {
    bool ours = is_ours(caller);
    atomic_fetch_add_explicit(ours ? &tally->ours : &tally->others, amount, memory_order_relaxed);
    // Of the heap, what libraries take is theirs.
    bool traced = ours || tally == &copied_bytes;
    if (traced && atomic_load_explicit(&tracing, memory_order_relaxed)) note_stack(tally, ours, amount);
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
    struct tally *tallies[] = {&heap_calls, &copied_bytes};
    for (int i = 0; i < 2; i++) {
        atomic_store(&tallies[i]->ours, 0);
        atomic_store(&tallies[i]->others, 0);
    }
    atomic_store(&tracing, trace != 0);
    atomic_store(&watching, true);
}

struct allocations_counts allocations_stop(void) {
    atomic_store(&watching, false);
    return (struct allocations_counts){
        atomic_load(&heap_calls.ours), atomic_load(&heap_calls.others), atomic_load(&copied_bytes.ours),
        atomic_load(&copied_bytes.others)};
}

static void print_stacks(int file, const struct tally *tally) {
    for (int i = 0; i < tally->stack_count; i++) {
        const struct stack *stack = &tally->stacks[i];
        dprintf(file, "%ld %s%s:\n", stack->amount, tally->unit, stack->is_ours ? "" : ", by a C library");
        // Without this file's own three.
        if (stack->size > 3) backtrace_symbols_fd((void **)stack->frames + 3, stack->size - 3, file);
    }
}

void allocations_print_stacks(int file) {
    print_stacks(file, &heap_calls);
    print_stacks(file, &copied_bytes);
}

// In a tool that is started with this as LD_PRELOAD: SIGUSR1 begins to count, SIGUSR2 makes a file of the counts (and the
// callers), which has the name that GANTRY_ALLOCATIONS says once it is whole.
static const char *report_path;
static char draft_path[4096];
static int report_traces;

static void begin(int number) {
    (void)number;
    allocations_watch(report_traces);
}

static void report(int number) {
    (void)number;
    struct allocations_counts counts = allocations_stop();
    int file = open(draft_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return;
    dprintf(file, "%ld %ld %ld %ld\n", counts.swift, counts.other, counts.swift_copied, counts.other_copied);
    if (report_traces) allocations_print_stacks(file);
    close(file);
    rename(draft_path, report_path);
}

__attribute__((constructor)) static void listen_for_signals(void) {
    report_path = getenv("GANTRY_ALLOCATIONS");
    if (!report_path || snprintf(draft_path, sizeof draft_path, "%s.draft", report_path) >= (int)sizeof draft_path) return;
    report_traces = getenv("GANTRY_ALLOCATIONS_TRACE") != NULL;
    void *warm[2];
    backtrace(warm, 2);
    signal(SIGUSR1, begin);
    signal(SIGUSR2, report);
}
