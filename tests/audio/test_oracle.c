/* The whole analysis against a slow one: a plain DFT in double precision, every maximum by looking
 * at its 7 × 17 neighbours (a faint one: 5 × 7), every background by summing it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/audio.h>

#include "audio/synth.h"

enum { COUNT = 7 * 11025, HOPS = (COUNT - 1024) / 256 + 1, BINS = 480, TOP = 471, SECOND = 43 };

static const double PI = 3.14159265358979323846;
static const double STEPS = 128; /* of a level an octave */

/* A spectrogram, and of each row what is heard. */
static double levels[HOPS][BINS], floors[HOPS];

static void transform(const float *samples, double out[BINS])
{
    static double cosines[1024];
    for (int i = 0; i < 1024; i++)
        cosines[i] = cos(2 * PI * i / 1024);
    double windowed[1024];
    for (int i = 0; i < 1024; i++)
        windowed[i] = samples[i] * (.5 - .5 * cos(2 * PI * (i + .5) / 1024));
    for (int bin = 0; bin < BINS; bin++) {
        double re = 0, im = 0;
        for (int i = 0; i < 1024; i++) {
            re += windowed[i] * cosines[bin * i & 1023];
            im -= windowed[i] * cosines[(bin * i - 256) & 1023];
        }
        double power = re * re + im * im;
        out[bin] = power < 1e-36 ? 0 : (log2(power) + 127) * STEPS;
    }
}

static double highest(const double *row, int from, int to)
{
    double top = 0;
    for (int i = from; i < to; i++)
        top = fmax(top, row[i]);
    return top;
}

static void make_spectrogram(const float *samples)
{
    for (int hop = 0; hop < HOPS; hop++) {
        transform(samples + hop * 256, levels[hop]);
        double loudest = highest(levels[hop], 3, TOP), offset = highest(levels[hop], 0, 3);
        double octave = STEPS / (20 * log10(2) / 2); /* steps a dB */
        floors[hop] = fmax(0, fmax(loudest - 80 * octave, offset - 120 * octave));
        if (loudest <= floors[hop])
            floors[hop] = INFINITY;
    }
}

static double level_at(int hop, int bin)
{
    bool inside = hop >= 0 && hop < HOPS && bin >= 3 && bin < TOP;
    return inside ? levels[hop][bin] : 0;
}

static bool heard(int hop)
{
    return hop >= 0 && hop < HOPS && isfinite(floors[hop]);
}

static bool is_highest(int hop, int bin, int hops, int bins)
{
    for (int t = hop - hops; t <= hop + hops; t++)
        for (int f = bin - bins; f <= bin + bins; f++)
            if ((t != hop || f != bin) && level_at(t, f) >= level_at(hop, bin))
                return false;
    return true;
}

static bool is_peak(int hop, int bin)
{
    double level = level_at(hop, bin), lowest = level;
    if (!heard(hop) || level <= floors[hop] || !is_highest(hop, bin, 2, 3))
        return false;
    for (int t = hop - 3; t <= hop + 3; t++)
        if (heard(t))
            lowest = fmin(lowest, level_at(t, bin));
    return level - lowest >= 4;
}

static double top_of(double before, double middle, double after, double half)
{
    double curve = 2 * middle - before - after;
    return curve > 0 ? half * (after - before) / curve : 0;
}

static double background(int hop, int bin)
{
    int border = (bin - 8 + 8) / 16, from = border < 4 ? 0 : border - 4;
    int to = border + 4 > 29 ? 29 : border + 4;
    double sum = 0, count = 0;
    for (int t = hop - 15; t <= hop + 15; t++)
        for (int f = 8 + 16 * from; heard(t) && f < 8 + 16 * to; f++, count++)
            sum += fmax(levels[t][f], floors[t]);
    return sum / count;
}

struct found {
    double time, frequency, value;
    int hop, rank;
    bool faint;
};

static int quota(int hop, double a_second)
{
    int first = hop / SECOND * SECOND, hops = HOPS - first < SECOND ? HOPS - first : SECOND;
    return (int)ceil(a_second * hops * 256 / 11025);
}

/* Ranks among those of a second, of faint ones among these. */
static void rank_found(struct found *found, size_t count, bool faint)
{
    for (size_t i = 0; i < count; i++) {
        if (found[i].faint != faint)
            continue;
        found[i].rank = 0;
        for (size_t j = 0; j < count; j++)
            found[i].rank += found[j].faint == faint &&
                             found[j].hop / SECOND == found[i].hop / SECOND &&
                             found[j].value > found[i].value;
    }
}

static size_t find_peaks(struct found *out)
{
    size_t count = 0;
    for (int hop = 0; hop < HOPS; hop++)
        for (int bin = 8; bin < 470; bin++) {
            if (!is_peak(hop, bin))
                continue;
            double level = level_at(hop, bin), time = 0;
            if (heard(hop - 1) && heard(hop + 1))
                time = top_of(level_at(hop - 1, bin), level, level_at(hop + 1, bin), 8);
            double frequency = top_of(level_at(hop, bin - 1), level, level_at(hop, bin + 1), 32);
            out[count++] = (struct found){hop * 16 + time,
                                          bin * 64 + frequency,
                                          3 * level - 2 * background(hop, bin),
                                          hop,
                                          0,
                                          !is_highest(hop, bin, 3, 8)};
        }
    rank_found(out, count, false);
    for (size_t i = 0; i < count; i++)
        out[i].faint |= out[i].rank >= quota(out[i].hop, 80);
    rank_found(out, count, true);
    return count;
}

/* How many of the oracle's peaks up to this rank a second the analysis has, and of how many. */
struct agreement {
    size_t met, all, flags;
};

static struct agreement compare(const struct found *found, size_t found_count,
                                const struct doppel_audio_peak *peaks, size_t count)
{
    struct agreement agreement = {0};
    for (size_t i = 0; i < found_count; i++) {
        if (found[i].rank >= quota(found[i].hop, found[i].faint ? 240 : 80))
            continue;
        agreement.all++;
        for (size_t j = 0; j < count; j++)
            if (fabs(peaks[j].time - found[i].time) <= 1.5 &&
                fabs(peaks[j].frequency - found[i].frequency) <= 1.5) {
                agreement.met++;
                bool strong = !found[i].faint && found[i].rank < quota(found[i].hop, 40);
                agreement.flags += peaks[j].strong == strong && peaks[j].faint == found[i].faint;
                break;
            }
    }
    return agreement;
}

static void check(const float *samples)
{
    static struct found found[20000];
    make_spectrogram(samples);
    size_t found_count = find_peaks(found);
    struct doppel_audio *audio;
    assert_int_equal(doppel_audio_new(&audio, NULL), DOPPEL_OK);
    assert_int_equal(doppel_audio_expect_clip(audio, NULL), DOPPEL_OK);
    assert_int_equal(doppel_audio_push(audio, samples, COUNT, NULL), DOPPEL_OK);
    assert_int_equal(doppel_audio_finish(audio, NULL), DOPPEL_OK);
    size_t count;
    const struct doppel_audio_peak *peaks = doppel_audio_peaks(audio, &count);
    struct agreement agreement = compare(found, found_count, peaks, count);
    print_message("%zu peaks, %zu of the oracle, %zu the same, %zu with the same flag\n", count,
                  agreement.all, agreement.met, agreement.flags);
    assert_true(agreement.all > 500);
    assert_true(agreement.met * 100 >= agreement.all * 98);
    assert_true(agreement.met * 100 >= count * 98);
    assert_true(agreement.flags * 100 >= agreement.met * 98);
    doppel_audio_free(audio);
}

static void test_music(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        float *samples = make_music(COUNT, seed, seed == 3 ? .2 : .005);
        check(samples);
        free(samples);
    }
}

static void test_music_with_gaps_and_offset(void **state)
{
    (void)state;
    float *samples = make_music(COUNT, 4, .01);
    memset(samples, 0, 9000 * sizeof *samples);
    memset(samples + 40000, 0, 12000 * sizeof *samples);
    for (int i = 60000; i < COUNT; i++)
        samples[i] += .3f;
    check(samples);
    free(samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_music),
        cmocka_unit_test(test_music_with_gaps_and_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
