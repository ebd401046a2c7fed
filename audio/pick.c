/* From rows of levels to peaks: local maxima, refined, and of these the ones that stand out. */
#include "audio/audio_internal.h"

#include <string.h>

enum {
    FLAT = 4, /* levels, .1 dB: what varies by less within its reach in time is a steady tone */
    REACH_BANDS = 4,
    MOST_CANDIDATES = 1024 /* of a second: 52 × 11 fit */
};

static const struct row_facts *facts_of(const struct doppel_audio *audio, int64_t hop)
{
    static const struct row_facts nothing = {.floor = SILENT};
    return hop < 0 || hop >= audio->hops ? &nothing : &audio->facts[hop % FACTS];
}

static bool is_heard(const struct doppel_audio *audio, int64_t hop)
{
    return facts_of(audio, hop)->floor != SILENT;
}

/* n / d to the nearest number; d > 0. */
static int divide_round(int n, int d)
{
    return n >= 0 ? (2 * n + d) / (2 * d) : -((-2 * n + d) / (2 * d));
}

/* The top of the parabola through three levels of which the middle one is highest: by how many
 * steps it lies beside the middle, when it can lie `half` beside it at most. */
static int parabola_top(int before, int middle, int after, int half)
{
    int curve = 2 * middle - before - after;
    return curve > 0 ? divide_round(half * (after - before), curve) : 0;
}

/* Of equal levels within reach the first one counts. */
static bool is_first(const struct doppel_audio *audio, int row, int place)
{
    int16_t level = audio->levels[row][place];
    for (int i = 1; i <= REACH_HOPS; i++)
        if (audio->spread[row - i][place] == level)
            return false;
    for (int i = 1; i <= REACH_BINS; i++)
        if (audio->levels[row][place - i] == level)
            return false;
    return true;
}

static bool is_steady(const struct doppel_audio *audio, int row, int place, int64_t hop)
{
    int lowest = audio->levels[row][place], level = lowest;
    for (int i = -REACH_HOPS; i <= REACH_HOPS; i++)
        if (audio->levels[row + i][place] < lowest && is_heard(audio, hop + i))
            lowest = audio->levels[row + i][place];
    return level - lowest < FLAT;
}

/* Where between the hops and the bins a maximum lies. Times of two rows never meet: peaks of
 * different hops are in order. */
static struct doppel_audio_peak refine_audio(const struct doppel_audio *audio, int row, int place,
                                             int64_t hop)
{
    const int16_t *levels = audio->levels[row] + place;
    int time = 0;
    if (is_heard(audio, hop - 1) && is_heard(audio, hop + 1))
        time = parabola_top(levels[-ROW], levels[0], levels[ROW], DOPPEL_AUDIO_TIME_STEPS / 2);
    if (time == -DOPPEL_AUDIO_TIME_STEPS / 2)
        time++;
    int frequency = parabola_top(levels[-1], levels[0], levels[1], DOPPEL_AUDIO_BIN_STEPS / 2);
    return (struct doppel_audio_peak){
        (uint32_t)(hop * DOPPEL_AUDIO_TIME_STEPS + time),
        (uint16_t)((place - ROW_PAD) * DOPPEL_AUDIO_BIN_STEPS + frequency), false};
}

static bool pick_place(struct doppel_audio *audio, int row, int place, int64_t hop)
{
    bool in_range = place >= ROW_PAD + FIRST_BIN && place <= ROW_PAD + LAST_BIN;
    if (!in_range || !is_first(audio, row, place) || is_steady(audio, row, place, hop))
        return true;
    struct peak_candidate candidate = {(uint32_t)hop, audio->levels[row][place],
                                       refine_audio(audio, row, place, hop)};
    return array_push(&audio->candidates, candidate);
}

static bool pick_row(struct doppel_audio *audio, int row, int64_t hop)
{
    if (!is_heard(audio, hop))
        return true;
    uint64_t bits[ROW / 64];
    audio->kernels->maxima(audio->levels[row], audio->spread[row - REACH_HOPS],
                           facts_of(audio, hop)->floor, bits);
    for (int word = 0; word < ROW / 64; word++)
        for (; bits[word]; bits[word] &= bits[word] - 1)
            if (!pick_place(audio, row, word * 64 + __builtin_ctzll(bits[word]), hop))
                return false;
    return true;
}

bool pick_candidates(struct doppel_audio *audio, int added)
{
    int64_t hop = (int64_t)audio->hops - added - REACH_HOPS;
    for (int i = 0; i < added; i++)
        if (!pick_row(audio, REACH_HOPS + i, hop + i))
            return false;
    return true;
}

/* Sums of the bands over the hops from..to-1, and how many of these are heard. */
struct background {
    int64_t from, to;
    int32_t hops, bands[BANDS];
};

static void background_add(const struct doppel_audio *audio, int64_t hop, int sign,
                           struct background *background)
{
    const struct row_facts *facts = facts_of(audio, hop);
    if (facts->floor == SILENT)
        return;
    background->hops += sign;
    for (int i = 0; i < BANDS; i++)
        background->bands[i] += sign * facts->bands[i];
}

/* Move on, so that `hop` is in the middle. */
static void background_move(const struct doppel_audio *audio, int64_t hop,
                            struct background *background)
{
    for (; background->to <= hop + BACKGROUND_HOPS; background->to++)
        background_add(audio, background->to, 1, background);
    for (; background->from < hop - BACKGROUND_HOPS; background->from++)
        background_add(audio, background->from, -1, background);
}

/* The mean level of the eight bands around a bin: 1.4 kHz. */
static int background_level(const struct background *background, int bin)
{
    int middle = (bin - FIRST_BIN + BAND_BINS / 2) / BAND_BINS; /* the border nearest to it */
    int from = middle < REACH_BANDS ? 0 : middle - REACH_BANDS;
    int to = middle + REACH_BANDS > BANDS ? BANDS : middle + REACH_BANDS;
    int64_t sum = 0;
    for (int i = from; i < to; i++)
        sum += background->bands[i];
    int heard = (to - from) * BAND_BINS * background->hops;
    /* Candidates are heard: so is the hop in the middle. */
    return (int)(sum / heard); // NOLINT(clang-analyzer-core.*)
}

/* What candidates are ranked by: twice by how much they stand out, and their level; of equal ones
 * the earlier first. No two are the same. */
static void rank_values(const struct doppel_audio *audio, int count, int32_t *out)
{
    struct background background = {.from = (int64_t)audio->chosen - BACKGROUND_HOPS,
                                    .to = (int64_t)audio->chosen - BACKGROUND_HOPS};
    for (int i = 0; i < count; i++) {
        const struct peak_candidate *candidate = &audio->candidates.items[i];
        background_move(audio, candidate->hop, &background);
        int bin = (candidate->peak.frequency + DOPPEL_AUDIO_BIN_STEPS / 2) / DOPPEL_AUDIO_BIN_STEPS;
        int value = 3 * candidate->level - 2 * background_level(&background, bin);
        out[i] = (value + 2 * SILENT) * MOST_CANDIDATES + (MOST_CANDIDATES - 1 - i);
    }
}

static bool emit_peak(struct doppel_audio *audio, struct doppel_audio_peak peak)
{
    if (!array_push(&audio->peaks, peak))
        return false;
    struct doppel_audio_peak *place = &audio->peaks.items[audio->peaks.count - 1];
    for (; place > audio->peaks.items && place[-1].time > peak.time; place--)
        place[0] = place[-1];
    *place = peak;
    return true;
}

/* Peaks that so many hops may have. */
static int quota(uint32_t hops, int a_second)
{
    uint32_t samples = hops * DOPPEL_AUDIO_HOP;
    return (int)((samples * (uint32_t)a_second + DOPPEL_AUDIO_RATE - 1) / DOPPEL_AUDIO_RATE);
}

bool pick_peaks(struct doppel_audio *audio, uint32_t hops)
{
    int count = 0;
    while (count < (int)audio->candidates.count && count < MOST_CANDIDATES &&
           audio->candidates.items[count].hop < audio->chosen + hops)
        count++;
    int32_t values[MOST_CANDIDATES];
    rank_values(audio, count, values);
    for (int i = 0; i < count; i++) {
        int rank = audio->kernels->rank(values, count, values[i]);
        struct doppel_audio_peak peak = audio->candidates.items[i].peak;
        peak.strong = rank < quota(hops, DOPPEL_AUDIO_ITEM_PEAKS);
        if (rank < quota(hops, DOPPEL_AUDIO_QUERY_PEAKS) && !emit_peak(audio, peak))
            return false;
    }
    if (count) {
        audio->candidates.count -= (size_t)count;
        memmove(audio->candidates.items, audio->candidates.items + count,
                audio->candidates.count * sizeof *audio->candidates.items);
    }
    audio->chosen += hops;
    return true;
}
