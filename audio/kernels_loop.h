/* The loops over a row, compiled once for each instruction set: the same operations in the same
 * order, so the same bits. */
#ifndef DOPPEL_AUDIO_KERNELS_LOOP_H
#define DOPPEL_AUDIO_KERNELS_LOOP_H

#include <math.h>
#include <string.h>

#include <doppel/audio.h>

#include "audio/rows.h"

/* So loud that squares of a transform are still finite. */
static const float LOUDEST = 0x1p50f;

static void take_row_samples(const float *restrict from, size_t count, float *restrict to)
{
    for (size_t i = 0; i < count; i++) {
        float value = fabsf(from[i]) <= __FLT_MAX__ ? from[i] : 0;
        value = value > LOUDEST ? LOUDEST : value;
        to[i] = value < -LOUDEST ? -LOUDEST : value;
    }
}

static void window_row(const float *restrict samples, const float *restrict window,
                       float *restrict out)
{
    for (int i = 0; i < DOPPEL_AUDIO_WINDOW; i++)
        out[i] = samples[i] * window[i];
}

/* Powers under 2^-120 are silence: no audio, and no rounding of one that is heard. */
static inline int16_t level_of(float power)
{
    uint32_t bits;
    memcpy(&bits, &power, sizeof bits);
    uint32_t mantissa_bits = (bits & 0x7fffff) | 0x3f800000;
    float m;
    memcpy(&m, &mantissa_bits, sizeof m);
    /* log2 of 1 to 2, exact at both ends, else within 1.2e-4: fitted by least squares. */
    float curve = .75991254f + m * (-.40331676f + m * .08212975f);
    float logarithm = (m - 1) * (1 + (2 - m) * curve);
    int32_t level =
        (int32_t)(bits >> 23) * LEVEL_OCTAVE + (int32_t)(logarithm * LEVEL_OCTAVE + .5f);
    return (int16_t)(level < 7 * LEVEL_OCTAVE ? 0 : level);
}

static void levels_row(const float *restrict spectrum, int16_t *restrict row)
{
    float power[BINS];
    for (int i = 0; i < BINS; i++)
        power[i] = spectrum[2 * i] * spectrum[2 * i] + spectrum[2 * i + 1] * spectrum[2 * i + 1];
    memset(row, 0, ROW_PAD * sizeof *row);
    for (int i = 0; i < BINS; i++)
        row[ROW_PAD + i] = level_of(power[i]);
    memset(row + ROW_PAD + BINS, 0, ROW_PAD * sizeof *row);
}

static inline int16_t higher(int16_t a, int16_t b)
{
    return a > b ? a : b;
}

static inline int16_t highest(const int16_t *levels, int count)
{
    int16_t top = 0;
    for (int i = 0; i < count; i++)
        top = higher(top, levels[i]);
    return top;
}

/* 80 dB under the loudest of the row nothing is looked for, nor 120 dB under its offset. */
static void facts_row(int16_t *restrict row, struct row_facts *restrict out)
{
    enum { UNDER_LOUDEST = 3402, UNDER_OFFSET = 5103 };
    int16_t *levels = row + ROW_PAD;
    int loudest = highest(levels + LOWEST_BIN, END_BIN - LOWEST_BIN);
    int offset = highest(levels, LOWEST_BIN);
    int floor = loudest - UNDER_LOUDEST > offset - UNDER_OFFSET ? loudest - UNDER_LOUDEST
                                                                : offset - UNDER_OFFSET;
    floor = floor < 0 ? 0 : floor;
    out->floor = (int16_t)(loudest > floor ? floor : SILENT);
    for (int band = 0; band < BANDS; band++) {
        const int16_t *first = levels + FIRST_BIN + band * BAND_BINS;
        int32_t sum = 0;
        for (int i = 0; i < BAND_BINS; i++)
            sum += higher(first[i], (int16_t)floor);
        out->bands[band] = sum;
    }
    memset(levels, 0, LOWEST_BIN * sizeof *levels);
    memset(levels + END_BIN, 0, (BINS - END_BIN) * sizeof *levels);
}

/* Maxima of 4 levels from each on, then of the 17 around each. */
static void spread_row(const int16_t *restrict row, int16_t *restrict out)
{
    int16_t of_4[ROW];
    for (int i = 0; i < ROW - 3; i++)
        of_4[i] = higher(higher(row[i], row[i + 1]), higher(row[i + 2], row[i + 3]));
    memset(out, 0, ROW_PAD * sizeof *out);
    for (int i = ROW_PAD; i < ROW - ROW_PAD; i++) {
        int16_t below = higher(of_4[i - REACH_BINS], of_4[i - REACH_BINS + 4]);
        int16_t above = higher(of_4[i], of_4[i + REACH_BINS - 4]);
        out[i] = higher(higher(below, above), row[i + REACH_BINS]);
    }
    memset(out + ROW - ROW_PAD, 0, ROW_PAD * sizeof *out);
}

/* Maxima of four levels from each on, then of the seven around each. */
static void spread_near_row(const int16_t *restrict row, int16_t *restrict out)
{
    int16_t of_2[ROW], of_4[ROW];
    for (int i = 0; i < ROW - 1; i++)
        of_2[i] = higher(row[i], row[i + 1]);
    for (int i = 0; i < ROW - 3; i++)
        of_4[i] = higher(of_2[i], of_2[i + 2]);
    memset(out, 0, ROW_PAD * sizeof *out);
    for (int i = ROW_PAD; i < ROW - ROW_PAD; i++)
        out[i] = higher(of_4[i - NEAR_BINS], of_4[i]);
    memset(out + ROW - ROW_PAD, 0, ROW_PAD * sizeof *out);
}

static void pack_bits(const uint8_t found[ROW], uint64_t bits[ROW / 64])
{
    for (int i = 0; i < ROW / 64; i++) {
        bits[i] = 0;
        for (int byte = 0; byte < 8; byte++) {
            uint64_t eight;
            memcpy(&eight, found + 64 * i + 8 * byte, sizeof eight);
            bits[i] |= (eight * 0x0102040810204080u >> 56) << 8 * byte;
        }
    }
}

static void maxima_row(const int16_t *restrict row, const int16_t *restrict first_spread,
                       int16_t floor, uint64_t bits[ROW / 64])
{
    uint8_t found[ROW];
    const int16_t *s = first_spread;
    for (int i = 0; i < ROW; i++) {
        int16_t early = higher(higher(s[i], s[i + ROW]), s[i + 2 * ROW]);
        int16_t late = higher(higher(s[i + 4 * ROW], s[i + 5 * ROW]), s[i + 6 * ROW]);
        int16_t top = higher(higher(early, late), s[i + 3 * ROW]);
        found[i] = row[i] >= top && row[i] > floor;
    }
    pack_bits(found, bits);
}

static void maxima_near_row(const int16_t *restrict row, const int16_t *restrict first_spread,
                            int16_t floor, uint64_t bits[ROW / 64])
{
    uint8_t found[ROW];
    const int16_t *s = first_spread;
    for (int i = 0; i < ROW; i++) {
        int16_t early = higher(s[i], s[i + ROW]), late = higher(s[i + 3 * ROW], s[i + 4 * ROW]);
        int16_t top = higher(higher(early, late), s[i + 2 * ROW]);
        found[i] = row[i] >= top && row[i] > floor;
    }
    pack_bits(found, bits);
}

static int rank_value(const int32_t *values, int count, int32_t value)
{
    int rank = 0;
    for (int i = 0; i < count; i++)
        rank += values[i] > value;
    return rank;
}

#define ROW_KERNELS                                                                                \
    {                                                                                              \
        take_row_samples, window_row, levels_row, facts_row, spread_row, spread_near_row,          \
            maxima_row, maxima_near_row, rank_value                                                \
    }

#endif
