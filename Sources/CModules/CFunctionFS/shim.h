#pragma once
#include <stdint.h>

#include <linux/aio_abi.h>
#include <linux/usb/functionfs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// The kernel's asynchronous I/O (io_setup(2) and its kin) has no wrappers in libc.
static inline long CFunctionFS_io_setup(unsigned count, aio_context_t *context) {
    return syscall(SYS_io_setup, count, context);
}
static inline long CFunctionFS_io_destroy(aio_context_t context) { return syscall(SYS_io_destroy, context); }

// One transfer. The kernel copies the iocb: it may live on the stack. `event` is an eventfd that counts completions.
static inline long CFunctionFS_io_submit(aio_context_t context, int is_write, int descriptor, void *buffer,
                                         size_t count, int event, uint64_t tag) {
    struct iocb request;
    struct iocb *list[1] = {&request};
    memset(&request, 0, sizeof request);
    request.aio_data = tag;
    request.aio_lio_opcode = is_write ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD;
    request.aio_fildes = (uint32_t)descriptor;
    request.aio_buf = (uint64_t)(uintptr_t)buffer;
    request.aio_nbytes = count;
    request.aio_flags = IOCB_FLAG_RESFD;
    request.aio_resfd = (uint32_t)event;
    return syscall(SYS_io_submit, context, 1L, list);
}

// Takes what is complete, without waiting.
static inline long CFunctionFS_io_getevents(aio_context_t context, long room, struct io_event *events) {
    struct timespec zero = {0, 0};
    return syscall(SYS_io_getevents, context, 0L, room, events, &zero);
}

// ioctl is variadic, and these requests are macros with casts.
static inline int CFunctionFS_flush(int descriptor) { return ioctl(descriptor, FUNCTIONFS_FIFO_FLUSH); }
// wMaxPacketSize at the speed of the moment, or -1.
static inline int CFunctionFS_packet_size(int descriptor) {
    struct usb_endpoint_descriptor found;
    memset(&found, 0, sizeof found);
    if (ioctl(descriptor, FUNCTIONFS_ENDPOINT_DESC, &found) < 0) return -1;
    return __le16_to_cpu(found.wMaxPacketSize);
}
