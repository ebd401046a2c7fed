/* Pages of made-up letters, and scans of them: askew, shifted, with noise, in other tones. */
#ifndef TESTS_SCANNED_PAGE_H
#define TESTS_SCANNED_PAGE_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCANNED_WIDTH = 792,
    SCANNED_HEIGHT = 1120,
    SCANNED_PIXELS = SCANNED_WIDTH * SCANNED_HEIGHT,
    SCANNED_LINES = 48 /* of a page, at most */
};

static inline uint32_t scanned_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

static inline void scanned_letter(uint8_t *grey, uint32_t letter, int left, int top)
{
    uint64_t shape = letter * UINT64_C(0x9e3779b97f4a7c15) + 12345;
    for (int y = 0; y < 9; y++)
        for (int x = 0; x < 6; x++)
            if (scanned_random(&shape) % 5 < 2)
                grey[(top + y) * SCANNED_WIDTH + left + x] = 0;
}

/* A line of words; lines of the same seed are the same. */
static inline void scanned_line(uint8_t *grey, uint64_t seed, int line)
{
    uint64_t state = seed * 1000003 + 17;
    for (int x = 70; x < SCANNED_WIDTH - 150;) {
        const int letters = 2 + (int)(scanned_random(&state) % 8);
        for (int i = 0; i < letters; i++, x += 7)
            scanned_letter(grey, scanned_random(&state) % 26, x, 90 + line * 20);
        x += 6;
    }
}

/* A page of so many lines, the first `shared` of which all pages have. @return given (free) */
static inline uint8_t *drawn_page(uint64_t seed, int lines, int shared)
{
    uint8_t *grey = malloc(SCANNED_PIXELS);
    memset(grey, 255, SCANNED_PIXELS);
    for (int line = 0; line < lines; line++)
        scanned_line(grey, line < shared ? (uint64_t)line : seed * 100 + 1000 + (uint64_t)line,
                     line);
    return grey;
}

/* A scan of it. @param degrees clockwise. @return given (free) */
static inline uint8_t *scanned_page(const uint8_t *page, double degrees, int shift, uint64_t seed)
{
    uint8_t *grey = malloc(SCANNED_PIXELS);
    const double sine = sin(degrees * 3.14159265358979 / 180), cosine = sqrt(1 - sine * sine);
    for (int y = 0; y < SCANNED_HEIGHT; y++)
        for (int x = 0; x < SCANNED_WIDTH; x++) {
            const double dx = x - SCANNED_WIDTH / 2.0, dy = y - SCANNED_HEIGHT / 2.0;
            const int column = (int)lround(dx * cosine + dy * sine + SCANNED_WIDTH / 2.0) - shift;
            const int row = (int)lround(dy * cosine - dx * sine + SCANNED_HEIGHT / 2.0) - shift;
            int level = 235;
            if (column >= 0 && row >= 0 && column < SCANNED_WIDTH && row < SCANNED_HEIGHT)
                level = 40 + page[row * SCANNED_WIDTH + column] * 195 / 255;
            for (int i = 0; i < 4; i++)
                level += (int)(scanned_random(&seed) % 11) - 5;
            grey[y * SCANNED_WIDTH + x] = (uint8_t)(level < 0 ? 0 : level > 255 ? 255 : level);
        }
    return grey;
}

#endif
