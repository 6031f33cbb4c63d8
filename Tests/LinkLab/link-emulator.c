// A network link with delay, loss and a limited rate, between two network namespaces. scripts/lab builds and runs it.
//
//   link-emulator NAMESPACE INTERFACE SWITCH PORT SOCKET [COMMAND...]   joins them, until SIGTERM
//   link-emulator control SOCKET COMMAND...                             changes a link that runs
//
// It makes INTERFACE in NAMESPACE and PORT in SWITCH (both TAP devices) and carries frames from one to the other. For
// each direction a frame passes, in this order: the cut and the losses; a queue that drops what does not fit, in front of
// a sender of the given rate; the delay, in which frames may overtake each other or be doubled.
//
// Commands:
//   set out|in|both NAME VALUE...   out: from the host; in: to it. What is not named stays. NAME is one of
//     delay MS                      one way
//     jitter MS                     delay ± MS, evenly spread; order is kept
//     loss PERCENT                  of all frames, independently
//     burst ENTER LEAVE LOSS        percent for each frame: to enter a bad time, to leave it, to be lost in it
//                                   (Gilbert, Elliott)
//     reorder PERCENT MS            that share is held MS longer, and is overtaken
//     duplicate PERCENT
//     rate MBIT                     0: without limit
//     queue BYTES                   what may wait for the sender (default 262144)
//     down 0|1                      1: everything is lost
//     seed NUMBER                   of the random numbers; they are the same in each run
//   clear                           a link without faults again
//   statistics                      two lines: what each direction has carried, lost and holds now
//
// Threads: one for each direction, which alone reads its descriptor; the main thread answers commands. What they share
// is guarded by the lock of the direction. Memory is bounded: MOST_FRAMES in each direction, taken at the start.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { LARGEST_FRAME = 2048, MOST_FRAMES = 16384, DEFAULT_QUEUE = 262144, MOST_WORDS = 64, LONGEST_TEXT = 2048 };

typedef struct {
    double delay, jitter, loss, burst_enter, burst_leave, burst_loss, reorder, reorder_delay, duplicate, rate, queue;
    bool down;
} Settings;

typedef struct {
    uint64_t received, received_bytes, sent, sent_bytes, lost, overflowed, reordered, duplicated, refused;
} Counts;

typedef struct {
    uint64_t due, number;  // number: those that are due at the same time go in order
    uint32_t length;
    uint8_t *bytes;
} Frame;

typedef struct {
    const char *name;
    int from, to;
    pthread_mutex_t lock;
    Settings settings;
    Counts counts;
    uint64_t random, next_number, latest_due;
    bool is_bad;  // within a burst of losses
    // Waiting for the sender: a ring. The first one is being sent until `sender_free`.
    Frame waiting[MOST_FRAMES];
    size_t first_waiting, waiting_count;
    uint64_t waiting_bytes, sender_free;
    // On the way: a heap, soonest first.
    Frame flying[MOST_FRAMES];
    size_t flying_count;
    uint8_t *spare[MOST_FRAMES];
    size_t spare_count;
} Direction;

static Direction directions[2];

static void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("link-emulator: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static uint64_t now_nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t nanoseconds(double milliseconds) { return milliseconds > 0 ? (uint64_t)(milliseconds * 1e6) : 0; }

// xorshift64 (Marsaglia 2003); 0 <= x < 1.
static double random_number(Direction *way) {
    way->random ^= way->random << 13;
    way->random ^= way->random >> 7;
    way->random ^= way->random << 17;
    return (double)(way->random >> 11) * 0x1p-53;
}
static bool happens(Direction *way, double percent) { return percent > 0 && random_number(way) * 100 < percent; }

static void seed(Direction *way, uint64_t number) {
    way->random = (0x9E3779B97F4A7C15u * (number * 2 + (uint64_t)(way - directions) + 1)) | 1;
}

// MARK: Frames on the way

static bool is_sooner(const Frame *a, const Frame *b) {
    return a->due < b->due || (a->due == b->due && a->number < b->number);
}

static void give_back(Direction *way, uint8_t *bytes) { way->spare[way->spare_count++] = bytes; }

// There is room for every frame that has memory.
static void launch(Direction *way, Frame frame, uint64_t due) {
    frame.due = due;
    frame.number = way->next_number++;
    size_t place = way->flying_count++;
    while (place > 0) {
        size_t above = (place - 1) / 2;
        if (!is_sooner(&frame, &way->flying[above])) break;
        way->flying[place] = way->flying[above];
        place = above;
    }
    way->flying[place] = frame;
}

static Frame land(Direction *way) {
    Frame soonest = way->flying[0], last = way->flying[--way->flying_count];
    size_t place = 0;
    for (;;) {
        size_t below = 2 * place + 1;
        if (below >= way->flying_count) break;
        if (below + 1 < way->flying_count && is_sooner(&way->flying[below + 1], &way->flying[below])) below++;
        if (!is_sooner(&way->flying[below], &last)) break;
        way->flying[place] = way->flying[below];
        place = below;
    }
    way->flying[place] = last;
    return soonest;
}

static void delay(Direction *way, Frame frame, uint64_t sent) {
    const Settings *settings = &way->settings;
    double milliseconds = settings->delay;
    if (settings->jitter > 0) milliseconds += (random_number(way) * 2 - 1) * settings->jitter;
    uint64_t due = sent + nanoseconds(milliseconds);
    if (happens(way, settings->reorder)) {
        due += nanoseconds(settings->reorder_delay);
        way->counts.reordered++;
    } else {
        if (due < way->latest_due) due = way->latest_due;
        way->latest_due = due;
    }
    if (happens(way, settings->duplicate) && way->spare_count > 0) {
        Frame copy = {.length = frame.length, .bytes = way->spare[--way->spare_count]};
        memcpy(copy.bytes, frame.bytes, frame.length);
        way->counts.duplicated++;
        launch(way, copy, due);
    }
    launch(way, frame, due);
}

// MARK: The queue in front of the sender

// A rate in Mbit/s is 1e-3 bit in a nanosecond.
static uint64_t sending_time(double bytes, double rate) { return rate > 0 ? (uint64_t)(bytes * 8000 / rate) : 0; }

static void enqueue(Direction *way, Frame frame, uint64_t now) {
    if (way->waiting_count == 0) way->sender_free = now + sending_time(frame.length, way->settings.rate);
    way->waiting[(way->first_waiting + way->waiting_count++) % MOST_FRAMES] = frame;
    way->waiting_bytes += frame.length;
}

// Lets go what has been sent by `now`.
static void send_waiting(Direction *way, uint64_t now) {
    while (way->waiting_count > 0 && way->sender_free <= now) {
        Frame frame = way->waiting[way->first_waiting];
        way->first_waiting = (way->first_waiting + 1) % MOST_FRAMES;
        way->waiting_count--;
        way->waiting_bytes -= frame.length;
        delay(way, frame, way->sender_free);
        if (way->waiting_count > 0)
            way->sender_free += sending_time(way->waiting[way->first_waiting].length, way->settings.rate);
    }
}

static bool is_lost(Direction *way) {
    const Settings *settings = &way->settings;
    if (settings->down) return true;
    double loss = settings->loss;
    if (settings->burst_enter > 0) {
        if (happens(way, way->is_bad ? settings->burst_leave : settings->burst_enter)) way->is_bad = !way->is_bad;
        if (way->is_bad && settings->burst_loss > loss) loss = settings->burst_loss;
    }
    return happens(way, loss);
}

static void receive(Direction *way, Frame frame, uint64_t now) {
    way->counts.received++;
    way->counts.received_bytes += frame.length;
    if (is_lost(way)) {
        way->counts.lost++;
        return give_back(way, frame.bytes);
    }
    // What has waited since the limit was lifted goes first.
    if (way->settings.rate > 0 || way->waiting_count > 0) {
        if ((double)way->waiting_bytes + frame.length > way->settings.queue) {
            way->counts.overflowed++;
            return give_back(way, frame.bytes);
        }
        return enqueue(way, frame, now);
    }
    delay(way, frame, now);
}

static void deliver(Direction *way, uint64_t now) {
    send_waiting(way, now);
    while (way->flying_count > 0 && way->flying[0].due <= now) {
        Frame frame = land(way);
        if (write(way->to, frame.bytes, frame.length) == (ssize_t)frame.length) {
            way->counts.sent++;
            way->counts.sent_bytes += frame.length;
        } else {
            // The interface is not up.
            way->counts.refused++;
        }
        give_back(way, frame.bytes);
    }
}

// MARK: A direction's thread

static bool next_event(Direction *way, uint64_t *due) {
    *due = UINT64_MAX;
    if (way->waiting_count > 0) *due = way->sender_free;
    if (way->flying_count > 0 && way->flying[0].due < *due) *due = way->flying[0].due;
    return *due != UINT64_MAX;
}

// False when nothing is left to read, or there is no memory before something is delivered.
static bool read_frame(Direction *way, uint64_t now) {
    if (way->spare_count == 0) return false;
    uint8_t *bytes = way->spare[--way->spare_count];
    ssize_t length = read(way->from, bytes, LARGEST_FRAME);
    if (length <= 0) {
        give_back(way, bytes);
        return false;
    }
    receive(way, (Frame){.length = (uint32_t)length, .bytes = bytes}, now);
    return true;
}

static void *carry(void *argument) {
    Direction *way = argument;
    // The kernel's default rounds 50 microseconds.
    prctl(PR_SET_TIMERSLACK, 1);
    pthread_setname_np(pthread_self(), way->name);
    for (;;) {
        // A change of the settings is seen at the next frame, or after this time.
        struct timespec longest = {0, 10000000};
        uint64_t due, now = now_nanoseconds();
        pthread_mutex_lock(&way->lock);
        if (next_event(way, &due)) {
            uint64_t wait = due > now ? due - now : 0;
            if (wait < (uint64_t)longest.tv_nsec) longest.tv_nsec = (long)wait;
        }
        bool is_full = way->spare_count == 0;
        pthread_mutex_unlock(&way->lock);
        struct pollfd input = {way->from, is_full ? 0 : POLLIN, 0};
        if (ppoll(&input, 1, &longest, NULL) < 0 && errno != EINTR) fail("ppoll: %s", strerror(errno));
        pthread_mutex_lock(&way->lock);
        for (int left = 256; left > 0; left--) {
            now = now_nanoseconds();
            deliver(way, now);
            if (!(input.revents & POLLIN) || !read_frame(way, now)) break;
        }
        deliver(way, now_nanoseconds());
        pthread_mutex_unlock(&way->lock);
    }
    return NULL;
}

// MARK: Commands

static bool number(const char *word, double least, double most, double *value) {
    if (!word || !*word) return false;
    char *end;
    *value = strtod(word, &end);
    return *end == 0 && isfinite(*value) && *value >= least && *value <= most;
}

typedef struct {
    const char *name;
    struct {
        size_t field;
        double most;
    } values[3];
} Setting;

#define VALUE(field, most) {offsetof(Settings, field), most}
static const Setting settings_by_name[] = {
    {"delay", {VALUE(delay, 60000)}},
    {"jitter", {VALUE(jitter, 60000)}},
    {"loss", {VALUE(loss, 100)}},
    {"burst", {VALUE(burst_enter, 100), VALUE(burst_leave, 100), VALUE(burst_loss, 100)}},
    {"reorder", {VALUE(reorder, 100), VALUE(reorder_delay, 60000)}},
    {"duplicate", {VALUE(duplicate, 100)}},
    {"rate", {VALUE(rate, 100000)}},
    {"queue", {VALUE(queue, 1e9)}},
};

// One NAME with its values, into `settings`. Returns how many words it took, or 0.
static int parse_setting(char **words, int count, Settings *settings, double *new_seed) {
    double value;
    if (count < 2) return 0;
    if (!strcmp(words[0], "down") && number(words[1], 0, 1, &value)) {
        settings->down = value != 0;
        return 2;
    }
    if (!strcmp(words[0], "seed")) return number(words[1], 0, 1e15, new_seed) ? 2 : 0;
    for (size_t kind = 0; kind < sizeof settings_by_name / sizeof *settings_by_name; kind++) {
        const Setting *setting = &settings_by_name[kind];
        if (strcmp(words[0], setting->name)) continue;
        int taken = 1;
        for (int k = 0; k < 3 && setting->values[k].most > 0; k++, taken++) {
            if (taken >= count || !number(words[taken], 0, setting->values[k].most, &value)) return 0;
            memcpy((char *)settings + setting->values[k].field, &value, sizeof value);
        }
        return taken;
    }
    return 0;
}

static void apply(Direction *way, Settings settings, double new_seed) {
    pthread_mutex_lock(&way->lock);
    uint64_t now = now_nanoseconds();
    send_waiting(way, now);
    // What is left of the frame that is being sent goes at the new rate.
    if (way->waiting_count > 0 && settings.rate != way->settings.rate) {
        double left = (double)(way->sender_free - now) * way->settings.rate / 8000;
        way->sender_free = now + sending_time(left, settings.rate);
    }
    way->settings = settings;
    if (new_seed >= 0) seed(way, (uint64_t)new_seed);
    pthread_mutex_unlock(&way->lock);
}

// All or nothing: a command with a fault changes nothing.
static bool set(char **words, int count) {
    if (count < 3) return false;
    bool out = !strcmp(words[0], "out"), in = !strcmp(words[0], "in"), both = !strcmp(words[0], "both");
    if (!out && !in && !both) return false;
    Settings new[2];
    double seeds[2] = {-1, -1};
    for (int k = 0; k < 2; k++) {
        // Only this thread changes them.
        new[k] = directions[k].settings;
        for (int at = 1; at < count;) {
            int taken = parse_setting(words + at, count - at, &new[k], &seeds[k]);
            if (taken == 0) return false;
            at += taken;
        }
    }
    if (out || both) apply(&directions[0], new[0], seeds[0]);
    if (in || both) apply(&directions[1], new[1], seeds[1]);
    return true;
}

static const Settings no_faults = {.queue = DEFAULT_QUEUE};

static void describe(char *text, size_t room) {
    size_t used = 0;
    for (int k = 0; k < 2; k++) {
        Direction *way = &directions[k];
        pthread_mutex_lock(&way->lock);
        Counts counts = way->counts;
        size_t waiting = way->waiting_count, flying = way->flying_count;
        uint64_t waiting_bytes = way->waiting_bytes;
        pthread_mutex_unlock(&way->lock);
        int length = snprintf(
            text + used, room - used,
            "%s received=%" PRIu64 " receivedBytes=%" PRIu64 " sent=%" PRIu64 " sentBytes=%" PRIu64 " lost=%" PRIu64
            " overflowed=%" PRIu64 " reordered=%" PRIu64 " duplicated=%" PRIu64 " refused=%" PRIu64
            " waiting=%zu waitingBytes=%" PRIu64 " flying=%zu\n",
            k == 0 ? "out" : "in", counts.received, counts.received_bytes, counts.sent, counts.sent_bytes, counts.lost,
            counts.overflowed, counts.reordered, counts.duplicated, counts.refused, waiting, waiting_bytes, flying);
        if (length < 0 || (size_t)length >= room - used) return;
        used += (size_t)length;
    }
}

static void command(char *line, char *answer, size_t room) {
    char *words[MOST_WORDS], *rest = line, *word;
    int count = 0;
    while (count < MOST_WORDS && (word = strtok_r(rest, " \t\n", &rest))) words[count++] = word;
    bool is_good = false;
    snprintf(answer, room, "ok\n");
    if (count == 1 && !strcmp(words[0], "clear")) {
        for (int k = 0; k < 2; k++) apply(&directions[k], no_faults, -1);
        is_good = true;
    } else if (count == 1 && !strcmp(words[0], "statistics")) {
        describe(answer, room);
        is_good = true;
    } else if (count > 1 && count < MOST_WORDS && !strcmp(words[0], "set")) {
        is_good = set(words + 1, count - 1);
    }
    if (!is_good)
        snprintf(answer, room,
                 "error: no such command, as in: set both delay 10 loss 1; set out rate 4 queue 100000; clear; "
                 "statistics\n");
}

// MARK: Beginning

static struct sockaddr_un socket_address(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) fail("the path of the socket is too long: %s", path);
    strcpy(address.sun_path, path);
    return address;
}

static int control(const char *path, char **commands, int count) {
    struct sockaddr_un address = socket_address(path), own = {.sun_family = AF_UNIX};
    struct timeval patience = {2, 0};
    int status = 0, handle = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (handle < 0) fail("socket: %s", strerror(errno));
    // Without a path the kernel chooses a name, at which the answer comes.
    if (bind(handle, (struct sockaddr *)&own, sizeof(sa_family_t)) < 0) fail("bind: %s", strerror(errno));
    if (connect(handle, (struct sockaddr *)&address, sizeof address) < 0) fail("%s: %s", path, strerror(errno));
    setsockopt(handle, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    for (int k = 0; k < count; k++) {
        char answer[LONGEST_TEXT];
        if (strlen(commands[k]) >= LONGEST_TEXT) fail("the command is too long");
        if (send(handle, commands[k], strlen(commands[k]), 0) < 0) fail("%s: %s", path, strerror(errno));
        ssize_t length = recv(handle, answer, sizeof answer - 1, 0);
        if (length < 0) fail("no answer: %s", strerror(errno));
        answer[length] = 0;
        bool is_error = !strncmp(answer, "error", 5);
        if (is_error) status = 1;
        if (is_error || strcmp(answer, "ok\n")) fputs(answer, is_error ? stderr : stdout);
    }
    return status;
}

static int open_tap(const char *namespace, const char *name) {
    char path[256];
    if (snprintf(path, sizeof path, "/run/netns/%s", namespace) >= (int)sizeof path) fail("%s is too long", namespace);
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    if (strlen(name) >= sizeof request.ifr_name) fail("%s is too long", name);
    strcpy(request.ifr_name, name);
    int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), away = open(path, O_RDONLY | O_CLOEXEC);
    if (home < 0 || away < 0) fail("%s: %s", path, strerror(errno));
    if (setns(away, CLONE_NEWNET) < 0) fail("%s: %s", path, strerror(errno));
    int tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (tap < 0 || ioctl(tap, TUNSETIFF, &request) < 0) fail("no TAP device (/dev/net/tun): %s", strerror(errno));
    if (setns(home, CLONE_NEWNET) < 0) fail("setns: %s", strerror(errno));
    close(home);
    close(away);
    return tap;
}

static void prepare(Direction *way, const char *name, int from, int to) {
    way->name = name;
    way->from = from;
    way->to = to;
    way->settings = no_faults;
    seed(way, 0);
    pthread_mutex_init(&way->lock, NULL);
    uint8_t *memory = malloc((size_t)MOST_FRAMES * LARGEST_FRAME);
    if (!memory) fail("no memory");
    for (size_t k = 0; k < MOST_FRAMES; k++) give_back(way, memory + k * LARGEST_FRAME);
}

int main(int count, char **words) {
    char line[LONGEST_TEXT], answer[LONGEST_TEXT];
    if (count >= 4 && !strcmp(words[1], "control")) return control(words[2], words + 3, count - 3);
    if (count < 6) {
        fputs("Usage: link-emulator NAMESPACE INTERFACE SWITCH PORT SOCKET [COMMAND...]\n"
              "       link-emulator control SOCKET COMMAND...\n", stderr);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    int host = open_tap(words[1], words[2]), port = open_tap(words[3], words[4]);
    prepare(&directions[0], "link-out", host, port);
    prepare(&directions[1], "link-in", port, host);
    for (int k = 6; k < count; k++) {
        if (snprintf(line, sizeof line, "%s", words[k]) >= (int)sizeof line) fail("the command is too long");
        command(line, answer, sizeof answer);
        if (!strncmp(answer, "error", 5)) fail("%s: %s", words[k], answer);
    }
    struct sockaddr_un address = socket_address(words[5]);
    int handle = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    unlink(words[5]);
    if (handle < 0 || bind(handle, (struct sockaddr *)&address, sizeof address) < 0)
        fail("%s: %s", words[5], strerror(errno));
    for (int k = 0; k < 2; k++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, carry, &directions[k]) != 0) fail("no thread");
    }
    for (;;) {
        struct sockaddr_un asker;
        socklen_t size = sizeof asker;
        ssize_t length = recvfrom(handle, line, sizeof line - 1, 0, (struct sockaddr *)&asker, &size);
        if (length < 0) continue;
        line[length] = 0;
        command(line, answer, sizeof answer);
        sendto(handle, answer, strlen(answer), 0, (struct sockaddr *)&asker, size);
    }
}
