#pragma once

struct allocations_counts {
    /// Calls of the heap from Swift code and its runtime, and from everything else.
    long swift, other;
    /// Bytes copied in calls of a KiB or more, by Swift code and its runtime, and by everything else.
    long swift_copied, other_copied;
};

/// Counts calls of the heap and copies from now on, from zero; with `trace`, adds to the memory of who called.
void allocations_watch(int trace);
struct allocations_counts allocations_stop(void);
/// The callers, to a file descriptor: of the heap those in Swift code, of copies all.
void allocations_print_stacks(int file);
