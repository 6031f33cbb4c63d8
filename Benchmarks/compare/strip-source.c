// strip-source WIDTH HEIGHT RATE COUNT CLIP.yuv raw|y4m
//
// A live camera on standard output: pictures of the clip (I420) in real time, each with a time strip that says when it was
// "captured", which is its tick. Like a camera it drops what nobody took in time: a tick that passes while the pipe is still
// full makes no picture. When done, one line of JSON on standard error: {"sent":N,"dropped":N}.
#define _GNU_SOURCE
#include "clip.h"
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>

// In pieces through a pipe that the cache holds: one large write holds the pipe's lock, and the reader cannot begin.
enum { piece = 64 << 10, pipe_size = 256 << 10 };

static int put(const void *bytes, size_t count) {
    for (size_t done = 0; done < count;) {
        size_t rest = count - done;
        ssize_t written = write(1, (const uint8_t *)bytes + done, rest < piece ? rest : piece);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return 0;
        done += (size_t)written;
    }
    return 1;
}

int main(int count, char **words) {
    if (count != 7) return fprintf(stderr, "usage: strip-source WIDTH HEIGHT RATE COUNT CLIP.yuv raw|y4m\n"), 2;
    int width = atoi(words[1]), height = atoi(words[2]), rate = atoi(words[3]);
    long frames = atol(words[4]);
    int with_header = !strcmp(words[6], "y4m");
    if (width < strip_width || height < strip_height || rate < 1) return fprintf(stderr, "too small\n"), 2;
    clip source;
    if (clip_open(&source, words[5], width, height)) return perror(words[5]), 1;
    uint8_t *picture = malloc(source.size);
    if (!picture) return perror(words[5]), 1;
    fcntl(1, F_SETPIPE_SZ, pipe_size);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_TIMERSLACK, 1);
    char header[128];
    int length = sprintf(header, "YUV4MPEG2 W%d H%d F%d:1 Ip A1:1 C420jpeg\n", width, height, rate);
    if (with_header && !put(header, (size_t)length)) return 1;

    uint64_t begin = now_us();
    long sent = 0, dropped = 0;
    for (long number = 0; number < frames; number++) {
        uint64_t due = tick_of(begin, number, rate);
        // The picture before is through then: a camera takes no processor from those who encode.
        wait_for(due - 8000);
        memcpy(picture, clip_picture(&source, (uint32_t)number), source.size);
        if (now_us() > due + 1000000 / (uint64_t)rate) {
            dropped++;
            continue;
        }
        wait_for(due);
        strip_draw(picture, width, (uint32_t)number, now_us());
        if ((with_header && !put("FRAME\n", 6)) || !put(picture, source.size)) break;
        sent++;
    }
    fprintf(stderr, "{\"sent\":%ld,\"dropped\":%ld}\n", sent, dropped);
    return 0;
}
