#pragma once
#include <libusb.h>
#include <linux/netlink.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

// epoll_event is packed and holds a union: set up here. One descriptor that is readable when any of libusb's is ready.
static inline int CLibUSB_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }
static inline int CLibUSB_epoll_add(int epoll, int descriptor, short events) {
    struct epoll_event event = {.events = (unsigned short)events, .data.fd = descriptor};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

// Macros and inline functions with casts.
static const int CLibUSB_in = LIBUSB_ENDPOINT_IN;
// Vendor request to an interface, from host to device.
static const unsigned char CLibUSB_vendor_out =
    LIBUSB_ENDPOINT_OUT | LIBUSB_REQUEST_TYPE_VENDOR | LIBUSB_RECIPIENT_INTERFACE;

// sockaddr_nl is not in Glibc's module. Group 1: what the kernel sends, before udevd.
static inline int CLibUSB_uevent_socket(void) {
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = 1};
    int descriptor = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);
    if (descriptor < 0) return -1;
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    close(descriptor);
    return -1;
}

// Several modules declare timeval, and Swift wants the one that the compiler met first.
static inline int CLibUSB_handle_events(libusb_context *context, long microseconds) {
    struct timeval limit = {.tv_sec = microseconds / 1000000, .tv_usec = microseconds % 1000000};
    return libusb_handle_events_timeout_completed(context, &limit, NULL);
}
