// How like its original a picture is: luma, below the time strip.
//
// SSIM: windows of 8x8, 4 apart, with the constants of Wang, Bovik, Sheikh, Simoncelli 2004 (K1 0.01, K2 0.03).
#pragma once
#include "time-strip.h"
#include <math.h>

static double psnr(const uint8_t *a, const uint8_t *b, int width, int height) {
    uint64_t sum = 0;
    for (int y = strip_height; y < height; y++) {
        uint32_t row = 0;
        for (int x = 0; x < width; x++) {
            int difference = a[(size_t)y * width + x] - b[(size_t)y * width + x];
            row += (uint32_t)(difference * difference);
        }
        sum += row;
    }
    double error = (double)sum / ((double)width * (height - strip_height));
    return error < 1e-6 ? 99 : 10 * log10(255.0 * 255.0 / error);
}

static double window_ssim(const uint8_t *a, const uint8_t *b, int stride) {
    int sum_a = 0, sum_b = 0, aa = 0, bb = 0, ab = 0;
    for (int j = 0; j < 8; j++) {
        for (int i = 0; i < 8; i++) {
            int p = a[(size_t)j * stride + i], q = b[(size_t)j * stride + i];
            sum_a += p, sum_b += q, aa += p * p, bb += q * q, ab += p * q;
        }
    }
    double mean_a = sum_a / 64.0, mean_b = sum_b / 64.0;
    double var_a = aa / 64.0 - mean_a * mean_a, var_b = bb / 64.0 - mean_b * mean_b, both = ab / 64.0 - mean_a * mean_b;
    return (2 * mean_a * mean_b + 6.5025) * (2 * both + 58.5225)
        / ((mean_a * mean_a + mean_b * mean_b + 6.5025) * (var_a + var_b + 58.5225));
}

static double ssim(const uint8_t *a, const uint8_t *b, int width, int height) {
    double sum = 0;
    long windows = 0;
    for (int y = strip_height; y + 8 <= height; y += 4) {
        for (int x = 0; x + 8 <= width; x += 4, windows++)
            sum += window_ssim(a + (size_t)y * width + x, b + (size_t)y * width + x, width);
    }
    return windows ? sum / (double)windows : -1;
}
