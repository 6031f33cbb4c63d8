#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/// Who called for what is counted. `ours`: Swift code and its runtime.
struct tally {
    atomic_long ours, others;
    const char *unit;
    struct stack *stacks;
    int stack_count;
};

extern struct tally heap_calls, copied_bytes;

bool counts_now(void);
/// Adds `amount` to one of the two sums, by the return address.
void note(struct tally *tally, const void *caller, long amount);
