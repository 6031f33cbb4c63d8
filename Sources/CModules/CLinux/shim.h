#pragma once
// Linux headers that Swift's Glibc module leaves out. _GNU_SOURCE stays undefined: with it, types that Glibc's module
// has too (fd_set, rusage) would differ between the two modules.
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

// Declared only under _GNU_SOURCE.
int pthread_setname_np(pthread_t thread, const char *name);

// prctl is variadic, which Swift does not import.
static inline int CLinux_get_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0L, 0L, 0L, 0L); }
static inline int CLinux_set_dumpable(int value) { return prctl(PR_SET_DUMPABLE, (long)value, 0L, 0L, 0L); }
