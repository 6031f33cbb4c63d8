#pragma once
// Linux headers that Swift's Glibc module leaves out. _GNU_SOURCE stays undefined: with it, types that Glibc's module
// has too (fd_set, rusage) would differ between the two modules.
#include <pthread.h>
#include <stdint.h>
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

// The beginning of struct tcp_info, which <linux/tcp.h> and <netinet/tcp.h> both define, and differently.
struct CLinux_tcp_info {
    uint8_t states[8];
    uint32_t rto, ato, snd_mss, rcv_mss, unacked, sacked, lost, retrans, fackets;
    uint32_t last_data_sent, last_ack_sent, last_data_recv, last_ack_recv;
    uint32_t pmtu, rcv_ssthresh, rtt;  // rtt: smoothed, microseconds
    uint32_t rttvar, snd_ssthresh, snd_cwnd, advmss, reordering, rcv_rtt, rcv_space, total_retrans;
};
