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
pid_t gettid(void);

// SCHED_RESET_ON_FORK of <sched.h>, which is defined only under _GNU_SOURCE: the same number as in <linux/sched.h>.
enum { CLinux_reset_on_fork = 0x40000000 };

// prctl is variadic, which Swift does not import.
static inline int CLinux_get_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0L, 0L, 0L, 0L); }
static inline int CLinux_set_dumpable(int value) { return prctl(PR_SET_DUMPABLE, (long)value, 0L, 0L, 0L); }
static inline int CLinux_disable_huge_pages(void) { return prctl(PR_SET_THP_DISABLE, 1L, 0L, 0L, 0L); }

// A netlink socket that hears the multicast groups of this mask. The descriptor, or -1.
#include <linux/netlink.h>
#include <sys/socket.h>
#include <unistd.h>
static inline int CLinux_netlink_socket(int protocol, unsigned int groups) {
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
    if (descriptor < 0) return -1;
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    close(descriptor);
    return -1;
}

// Several datagrams in one call. struct mmsghdr and the two functions are declared under _GNU_SOURCE only.
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
enum { CLinux_batch = 32 };
struct CLinux_mmsghdr {
    struct msghdr header;
    unsigned int count;
};

// Sends `count` datagrams (at most CLinux_batch) on a connected socket. How many were sent, or -1.
static inline int CLinux_send_batch(int socket, struct iovec *datagrams, unsigned int count) {
    struct CLinux_mmsghdr messages[CLinux_batch] = {0};
    if (count > CLinux_batch) count = CLinux_batch;
    for (unsigned int i = 0; i < count; i++) {
        messages[i].header.msg_iov = &datagrams[i];
        messages[i].header.msg_iovlen = 1;
    }
    return (int)syscall(SYS_sendmmsg, socket, messages, count, MSG_DONTWAIT | MSG_NOSIGNAL);
}

// Receives up to `count` datagrams (at most CLinux_batch); their lengths go into `datagrams`, 0 for one that was larger than its
// buffer. How many came, or -1.
static inline int CLinux_receive_batch(int socket, struct iovec *datagrams, unsigned int count) {
    struct CLinux_mmsghdr messages[CLinux_batch] = {0};
    if (count > CLinux_batch) count = CLinux_batch;
    for (unsigned int i = 0; i < count; i++) {
        messages[i].header.msg_iov = &datagrams[i];
        messages[i].header.msg_iovlen = 1;
    }
    int received = (int)syscall(SYS_recvmmsg, socket, messages, count, MSG_DONTWAIT, (struct timespec *)0);
    for (int i = 0; i < received; i++)
        datagrams[i].iov_len = messages[i].header.msg_flags & MSG_TRUNC ? 0 : messages[i].count;
    return received;
}

// The beginning of struct tcp_info, which <linux/tcp.h> and <netinet/tcp.h> both define, and differently.
struct CLinux_tcp_info {
    uint8_t states[8];
    uint32_t rto, ato, snd_mss, rcv_mss, unacked, sacked, lost, retrans, fackets;
    uint32_t last_data_sent, last_ack_sent, last_data_recv, last_ack_recv;
    uint32_t pmtu, rcv_ssthresh, rtt;  // rtt: smoothed, microseconds
    uint32_t rttvar, snd_ssthresh, snd_cwnd, advmss, reordering, rcv_rtt, rcv_space, total_retrans;
};
