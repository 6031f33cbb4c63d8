#pragma once

/// Counts calls of the heap from now on, from zero; with `trace`, adds to the memory of who called.
void allocations_watch(int trace);
/// Stops counting: calls from Swift code and its runtime, and calls from everything else.
void allocations_stop(long *swift, long *other);
/// The callers in Swift code, to a file descriptor.
void allocations_print_stacks(int file);
