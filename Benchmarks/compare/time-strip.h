// A strip of black and white squares at the top of a picture that says which picture it is and when it was made.
//
// Two rows of 48 squares of 16x16 pixels, from (16, 16) on, in the luma plane; white (235) is 1, black (16) is 0. Most
// significant bits first: 8 bits 0xA5, 24 bits number, 48 bits CLOCK_MONOTONIC in microseconds, 16 bits CRC of all before
// (CRC-16/CCITT-FALSE: polynomial 0x1021, start 0xFFFF). It needs 800x64 pixels, and survives any codec that leaves a
// picture worth looking at.
#pragma once
#include <stdint.h>
#include <string.h>
#include <time.h>

enum { strip_square = 16, strip_columns = 48, strip_bits = 96, strip_width = 800, strip_height = 64 };

static inline uint64_t now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static inline uint16_t strip_check(const uint8_t *bytes, int count) {
    uint16_t crc = 0xffff;
    for (int i = 0; i < count; i++) {
        crc ^= (uint16_t)(bytes[i] << 8);
        for (int bit = 0; bit < 8; bit++) crc = (uint16_t)(crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1);
    }
    return crc;
}

static inline size_t strip_origin(int bit, int stride) {
    size_t row = 16 + (size_t)(bit / strip_columns) * strip_square;
    size_t column = 16 + (size_t)(bit % strip_columns) * strip_square;
    return row * (size_t)stride + column;
}

static inline void strip_draw(uint8_t *luma, int stride, uint32_t number, uint64_t time) {
    uint8_t bytes[12] = {0xA5,       number >> 16, number >> 8, number,    time >> 40, time >> 32,
                         time >> 24, time >> 16,   time >> 8,   time};
    uint16_t check = strip_check(bytes, 10);
    bytes[10] = check >> 8;
    bytes[11] = check & 0xff;
    for (int bit = 0; bit < strip_bits; bit++) {
        int value = bytes[bit / 8] >> (7 - bit % 8) & 1 ? 235 : 16;
        uint8_t *square = luma + strip_origin(bit, stride);
        for (int row = 0; row < strip_square; row++) memset(square + (size_t)row * stride, value, strip_square);
    }
}

// Whether there is a strip whose CRC is right.
static inline int strip_read(const uint8_t *luma, int stride, uint32_t *number, uint64_t *time) {
    uint8_t bytes[12] = {0};
    for (int bit = 0; bit < strip_bits; bit++) {
        // The middle 8x8 pixels of the square.
        const uint8_t *square = luma + strip_origin(bit, stride) + (size_t)4 * stride + 4;
        int sum = 0;
        for (int row = 0; row < 8; row++)
            for (int column = 0; column < 8; column++) sum += square[(size_t)row * stride + column];
        if (sum > 64 * 126) bytes[bit / 8] |= (uint8_t)(1 << (7 - bit % 8));
    }
    uint16_t check = strip_check(bytes, 10);
    if (bytes[0] != 0xA5 || bytes[10] != check >> 8 || bytes[11] != (check & 0xff)) return 0;
    *number = (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
    *time = 0;
    for (int i = 4; i < 10; i++) *time = *time << 8 | bytes[i];
    return 1;
}
