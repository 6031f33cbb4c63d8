// What the same endpoints carry without Gantry: four transfers in flight on both ends, by the kernel's asynchronous I/O on
// the device and by libusb on the host. The figures of `scripts/bench usb` are compared with these.
//
//   floor device MOUNT            answers; the first OUT byte says what follows: "T" floods, "L" sends access units
//   floor host SERIAL SECONDS     prints "in", "out" (MB/s), "p50", "p99" (ms)
#include <errno.h>
#include <fcntl.h>
#include <libusb.h>
#include <linux/aio_abi.h>
#include <linux/usb/functionfs.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SIZE 16384
#define UNIT 20000
#define IN_FLIGHT 4

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

// --- the device ---

#define ENDPOINT(address, size) \
    { 7, USB_DT_ENDPOINT, address, USB_ENDPOINT_XFER_BULK, size, 0 }
#define COMPANION \
    { 6, USB_DT_SS_ENDPOINT_COMP, 4, 0, 0 }
#define INTERFACE \
    { 9, USB_DT_INTERFACE, 0, 0, 2, 0xFF, 0x43, 1, 1 }
struct plain {
    struct usb_interface_descriptor interface;
    struct usb_endpoint_descriptor_no_audio in, out;
} __attribute__((packed));
struct super {
    struct usb_interface_descriptor interface;
    struct usb_endpoint_descriptor_no_audio in;
    struct usb_ss_ep_comp_descriptor in_more;
    struct usb_endpoint_descriptor_no_audio out;
    struct usb_ss_ep_comp_descriptor out_more;
} __attribute__((packed));
static const struct {
    struct usb_functionfs_descs_head_v2 head;
    __le32 counts[3];
    struct plain full, high;
    struct super super;
} __attribute__((packed)) descriptors = {
    {FUNCTIONFS_DESCRIPTORS_MAGIC_V2, sizeof descriptors,
     FUNCTIONFS_HAS_FS_DESC | FUNCTIONFS_HAS_HS_DESC | FUNCTIONFS_HAS_SS_DESC},
    {3, 3, 5},
    {INTERFACE, ENDPOINT(0x81, 64), ENDPOINT(0x02, 64)},
    {INTERFACE, ENDPOINT(0x81, 512), ENDPOINT(0x02, 512)},
    {INTERFACE, ENDPOINT(0x81, 1024), COMPANION, ENDPOINT(0x02, 1024), COMPANION}};
static const struct {
    struct usb_functionfs_strings_head head;
    __le16 language;
    char text[9];
} __attribute__((packed)) strings = {{FUNCTIONFS_STRINGS_MAGIC, sizeof strings, 1, 1}, 0x409, "gantry/1"};

static char folder[200];
static volatile int mode;

static int endpoint(const char *name, int flags) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return open(path, O_RDWR | flags);
}

static void submit(aio_context_t context, int code, int file, char *bytes, size_t count) {
    struct iocb request = {.aio_data = (uintptr_t)bytes, .aio_lio_opcode = code, .aio_fildes = file};
    struct iocb *list = &request;
    request.aio_buf = (uintptr_t)bytes;
    request.aio_nbytes = count;
    while (syscall(SYS_io_submit, context, 1, &list) < 0) usleep(10000);
}

// Waits for a transfer, and gives its buffer.
static char *finished(aio_context_t context, long *count) {
    struct io_event event;
    while (syscall(SYS_io_getevents, context, 1, 1, &event, NULL) != 1) {}
    *count = event.res;
    return (char *)(uintptr_t)event.data;
}

static char in_bytes[IN_FLIGHT][SIZE], out_bytes[IN_FLIGHT][SIZE];

static void *send_in(void *unused) {
    int file = endpoint("ep1", O_NONBLOCK), live = 0;
    long count;
    aio_context_t context = 0;
    if (syscall(SYS_io_setup, IN_FLIGHT, &context) < 0) return unused;
    double due = 0;
    for (;;) {
        if (mode == 'T') {
            if (live < IN_FLIGHT) {
                submit(context, IOCB_CMD_PWRITE, file, in_bytes[live++], SIZE);
            } else {
                char *bytes = finished(context, &count);
                if (count < 0) usleep(10000);
                submit(context, IOCB_CMD_PWRITE, file, bytes, SIZE);
            }
            continue;
        }
        while (live > 0) {
            finished(context, &count);
            live--;
        }
        if (mode == 'L') {
            due = (due == 0 ? now() : due) + 0.02;
            while (now() < due) usleep(200);
            double start = now();
            memcpy(in_bytes[0], &start, sizeof start);
            // 16384 bytes, then the rest, as a stream has to be cut.
            submit(context, IOCB_CMD_PWRITE, file, in_bytes[0], SIZE);
            submit(context, IOCB_CMD_PWRITE, file, in_bytes[1], UNIT - SIZE);
            live = 2;
        } else {
            due = 0;
            usleep(5000);
        }
    }
    return unused;
}

static void *take_out(void *unused) {
    int file = endpoint("ep2", O_NONBLOCK);
    long count;
    aio_context_t context = 0;
    if (syscall(SYS_io_setup, IN_FLIGHT, &context) < 0) return unused;
    for (int i = 0; i < IN_FLIGHT; i++) submit(context, IOCB_CMD_PREAD, file, out_bytes[i], SIZE);
    for (;;) {
        char *bytes = finished(context, &count);
        if (count < 0) usleep(10000);
        if (count == 1) mode = bytes[0];
        submit(context, IOCB_CMD_PREAD, file, bytes, SIZE);
    }
    return unused;
}

static int device(const char *mount) {
    snprintf(folder, sizeof folder, "%s", mount);
    int control = endpoint("ep0", 0);
    if (write(control, &descriptors, sizeof descriptors) < 0 || write(control, &strings, sizeof strings) < 0) {
        perror("descriptors");
        return 1;
    }
    pthread_t threads[2];
    pthread_create(&threads[0], 0, send_in, 0);
    pthread_create(&threads[1], 0, take_out, 0);
    puts("ready");
    fflush(stdout);
    struct usb_functionfs_event event;
    while (read(control, &event, sizeof event) > 0) {}
    return 0;
}

// --- the host ---

static long moved;
static int live, failed;
static double until;
static double delays[100000];
static int units;
static long unit_bytes;
static double unit_start;
static int is_latency, wanted;

static void complete(struct libusb_transfer *transfer) {
    if (transfer->status != LIBUSB_TRANSFER_COMPLETED) {
        if (transfer->status != LIBUSB_TRANSFER_CANCELLED) failed = 1;
        live--;
        return;
    }
    moved += transfer->actual_length;
    if (is_latency) {
        if (unit_bytes == 0) memcpy(&unit_start, transfer->buffer, sizeof unit_start);
        unit_bytes += transfer->actual_length;
        if (unit_bytes >= UNIT) {
            if (units < 100000) delays[units++] = (now() - unit_start) * 1000;
            unit_bytes = 0;
        }
    }
    if ((is_latency ? units < wanted : now() < until) && libusb_submit_transfer(transfer) == 0) return;
    live--;
}

static void run(libusb_context *context, libusb_device_handle *handle, int address) {
    struct libusb_transfer *transfers[IN_FLIGHT];
    moved = 0;
    live = IN_FLIGHT;
    for (int i = 0; i < IN_FLIGHT; i++) {
        transfers[i] = libusb_alloc_transfer(0);
        libusb_fill_bulk_transfer(transfers[i], handle, address, calloc(1, SIZE), SIZE, complete, 0, 0);
        if (libusb_submit_transfer(transfers[i])) live--;
    }
    int is_cancelled = 0;
    while (live > 0 && !failed) {
        struct timeval limit = {0, 100000};
        libusb_handle_events_timeout(context, &limit);
        if (live < IN_FLIGHT && !is_cancelled) {
            is_cancelled = 1;
            for (int i = 0; i < IN_FLIGHT; i++) libusb_cancel_transfer(transfers[i]);
        }
    }
}

static void say(libusb_device_handle *handle, unsigned char byte) {
    int count;
    libusb_bulk_transfer(handle, 0x02, &byte, 1, &count, 2000);
}

// What is on its way still.
static void drain(libusb_device_handle *handle) {
    static unsigned char bytes[SIZE];
    int count;
    while (libusb_bulk_transfer(handle, 0x81, bytes, SIZE, &count, 300) == 0) {}
}

static int order(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static libusb_device_handle *find(libusb_context *context, const char *serial) {
    libusb_device **list;
    ssize_t count = libusb_get_device_list(context, &list);
    for (ssize_t i = 0; i < count; i++) {
        struct libusb_device_descriptor found;
        libusb_device_handle *handle;
        unsigned char text[64] = "";
        if (libusb_get_device_descriptor(list[i], &found) || libusb_open(list[i], &handle)) continue;
        libusb_get_string_descriptor_ascii(handle, found.iSerialNumber, text, sizeof text);
        if (strcmp((char *)text, serial) == 0) return handle;
        libusb_close(handle);
    }
    return 0;
}

static int host(const char *serial, double seconds) {
    libusb_context *context;
    libusb_init(&context);
    libusb_device_handle *handle = find(context, serial);
    if (!handle || libusb_claim_interface(handle, 0)) {
        fputs("no device\n", stderr);
        return 1;
    }
    double start;
    say(handle, 'T');
    start = now();
    until = start + seconds;
    run(context, handle, 0x81);
    printf("in %f\n", moved / (now() - start) / 1e6);
    say(handle, 'S');
    drain(handle);
    start = now();
    until = start + seconds;
    run(context, handle, 0x02);
    printf("out %f\n", moved / (now() - start) / 1e6);
    say(handle, 'S');
    is_latency = 1;
    wanted = seconds * 40;
    say(handle, 'L');
    run(context, handle, 0x81);
    say(handle, 'S');
    if (failed || units == 0) return 1;
    qsort(delays, units, sizeof delays[0], order);
    printf("p50 %f\np99 %f\n", delays[units / 2], delays[units * 99 / 100]);
    return 0;
}

int main(int count, char **words) {
    if (count == 3 && strcmp(words[1], "device") == 0) return device(words[2]);
    if (count == 4 && strcmp(words[1], "host") == 0) return host(words[2], atof(words[3]));
    fputs("usage: floor device MOUNT | floor host SERIAL SECONDS\n", stderr);
    return 2;
}
