// strip-sink WIDTH HEIGHT COUNT WARM CLIP.yuv raw|y4m
//
// Reads I420 pictures on standard input, stamps the arrival of each whole one, and reads its time strip. At the end one line
// of JSON on standard output: latency in ms, what never came, PSNR and SSIM. Only pictures from number WARM on count.
//
// PSNR and SSIM are of luma, below the strip, of every 5th picture, against the same picture of the clip.
#define _GNU_SOURCE
#include "clip.h"
#include "quality.h"
#include <math.h>
#include <stdio.h>

enum { quality_step = 5 };

static int take(void *bytes, size_t count) {
    for (size_t done = 0; done < count;) {
        ssize_t got = read(0, (uint8_t *)bytes + done, count - done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return 0;
        done += (size_t)got;
    }
    return 1;
}

// The rest of a header line of YUV4MPEG2; 0 at the end of the stream.
static int skip_line(void) {
    char byte;
    for (int i = 0; i < 200; i++) {
        if (!take(&byte, 1)) return 0;
        if (byte == '\n') return 1;
    }
    return 0;
}

// Nearest rank.
static double percentile(const double *sorted, long count, double share) {
    if (!count) return -1;
    long rank = (long)ceil(share * (double)count) - 1;
    return sorted[rank < 0 ? 0 : rank];
}

int main(int count, char **words) {
    if (count != 7) return fprintf(stderr, "usage: strip-sink WIDTH HEIGHT COUNT WARM CLIP.yuv raw|y4m\n"), 2;
    int width = atoi(words[1]), height = atoi(words[2]);
    long frames = atol(words[3]), warm = atol(words[4]);
    int with_header = !strcmp(words[6], "y4m");
    if (width < strip_width || height < strip_height || frames < 1) return fprintf(stderr, "too small\n"), 2;
    size_t luma = (size_t)width * height, size = luma * 3 / 2;
    clip source;
    if (clip_open(&source, words[5], width, height)) return perror(words[5]), 1;
    uint8_t *picture = malloc(size), **kept = calloc((size_t)frames, sizeof *kept);
    char *seen = calloc((size_t)frames, 1);
    double *latency = malloc((size_t)frames * sizeof *latency);
    if (!picture || !kept || !seen || !latency) return perror(words[5]), 1;
    fcntl(0, F_SETPIPE_SZ, 1 << 20);

    long measured = 0, unreadable = 0, last = -1;
    if (with_header && !skip_line()) goto end;
    while ((!with_header || skip_line()) && take(picture, size)) {
        uint64_t arrival = now_us(), captured;
        uint32_t number;
        if (!strip_read(picture, width, &number, &captured) || number >= frames) {
            unreadable += last >= warm;
            continue;
        }
        if (seen[number]) continue;
        seen[number] = 1;
        last = number;
        if (number < warm) continue;
        latency[measured++] = (double)(arrival - captured) / 1000;
        // Compared at the end: that takes time.
        if (number % quality_step == 0 && (kept[number] = malloc(luma))) memcpy(kept[number], picture, luma);
    }
end:;
    // The last half second may be inside a peer when it is ended.
    long judged = frames - 15 - warm, lost = 0, compared = 0;
    for (long i = warm; i < frames - 15; i++) lost += !seen[i];
    double all_psnr = 0, all_ssim = 0;
    for (long i = 0; i < frames; i++) {
        if (!kept[i]) continue;
        const uint8_t *original = clip_picture(&source, (uint32_t)i);
        all_psnr += psnr(kept[i], original, width, height);
        all_ssim += ssim(kept[i], original, width, height);
        compared++;
    }
    qsort(latency, (size_t)measured, sizeof *latency, ascending);
    printf("{\"received\":%ld,\"of\":%ld,\"lost\":%ld,\"unreadable\":%ld,\"p50\":%.2f,\"p95\":%.2f,\"p99\":%.2f,"
           "\"max\":%.2f,\"psnr\":%.2f,\"ssim\":%.4f}\n",
           measured, judged, lost, unreadable, percentile(latency, measured, 0.5), percentile(latency, measured, 0.95),
           percentile(latency, measured, 0.99), measured ? latency[measured - 1] : -1,
           compared ? all_psnr / (double)compared : -1, compared ? all_ssim / (double)compared : -1);
    return 0;
}
