/* From rows of levels to peaks: local maxima, refined, and of these the ones that stand out. */
#include "audio/audio_internal.h"

#include <string.h>

enum {
    FLAT = 4, /* levels, .1 dB: what varies by less within its reach in time is a steady tone */
    REACH_BANDS = 4,
    MOST_CANDIDATES = 2048 /* of a second: 116 × 15 faint ones fit */
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
    return (2 * n + (n >= 0 ? d : -d)) / (2 * d);
}

/* The top of the parabola through three levels of which the middle one is highest: by how many
 * steps it lies beside the middle, when it can lie `half` beside it at most. */
static int parabola_top(int before, int middle, int after, int half)
{
    int curve = 2 * middle - before - after;
    return curve > 0 ? divide_round(half * (after - before), curve) : 0;
}

/* A row that peaks are looked for in, and which of those around it are heard: bit REACH_HOPS is its
 * own. */
struct searched_row {
    int row;
    int64_t hop;
    unsigned heard;
};

static bool is_heard_beside(const struct searched_row *searched, int hops)
{
    return searched->heard >> (REACH_HOPS + hops) & 1;
}

/* Of equal levels within reach the first one counts. No branches, here and below: little of it can
 * be foretold. */
static bool is_first(const struct doppel_audio *audio, int row, int place, bool faint)
{
    const int16_t(*spread)[ROW] = (const int16_t(*)[ROW])(faint ? audio->near : audio->spread);
    int16_t level = audio->levels[row][place];
    bool same = false;
    for (int i = 1; i <= (faint ? NEAR_HOPS : REACH_HOPS); i++)
        same |= spread[row - i][place] == level;
    for (int i = 1; i <= (faint ? NEAR_BINS : REACH_BINS); i++)
        same |= audio->levels[row][place - i] == level;
    return !same;
}

static bool is_steady(const struct doppel_audio *audio, const struct searched_row *searched,
                      int place)
{
    int level = audio->levels[searched->row][place], lowest = level;
    for (int i = -REACH_HOPS; i <= REACH_HOPS; i++) {
        int other = audio->levels[searched->row + i][place];
        other = is_heard_beside(searched, i) ? other : level;
        lowest = other < lowest ? other : lowest;
    }
    return level - lowest < FLAT;
}

/* Where between the hops and the bins a maximum lies. Times of two rows never meet: peaks of
 * different hops are in order. */
static struct doppel_audio_peak refine_audio(const struct doppel_audio *audio,
                                             const struct searched_row *searched, int place)
{
    const int16_t *levels = audio->levels[searched->row] + place;
    int time = 0;
    if (is_heard_beside(searched, -1) && is_heard_beside(searched, 1))
        time = parabola_top(levels[-ROW], levels[0], levels[ROW], DOPPEL_AUDIO_TIME_STEPS / 2);
    if (time == -DOPPEL_AUDIO_TIME_STEPS / 2)
        time++;
    int frequency = parabola_top(levels[-1], levels[0], levels[1], DOPPEL_AUDIO_BIN_STEPS / 2);
    return (struct doppel_audio_peak){
        (uint32_t)(searched->hop * DOPPEL_AUDIO_TIME_STEPS + time),
        (uint16_t)((place - ROW_PAD) * DOPPEL_AUDIO_BIN_STEPS + frequency), false, false};
}

/* A maximum of what is within reach, or of what is near. */
static bool pick_place(struct doppel_audio *audio, const struct searched_row *searched, int place,
                       bool within)
{
    int row = searched->row;
    bool in_range = place >= ROW_PAD + FIRST_BIN && place <= ROW_PAD + LAST_BIN;
    bool faint = !within || !is_first(audio, row, place, false);
    if (!in_range || (faint && !(audio->clip && is_first(audio, row, place, true))) ||
        is_steady(audio, searched, place))
        return true;
    struct peak_candidate candidate = {(uint32_t)searched->hop, audio->levels[row][place],
                                       refine_audio(audio, searched, place)};
    candidate.peak.faint = faint;
    return array_push(&audio->candidates, candidate);
}

static bool pick_row(struct doppel_audio *audio, const struct searched_row *searched)
{
    int row = searched->row;
    if (!is_heard_beside(searched, 0))
        return true;
    uint64_t within[ROW / 64], near[ROW / 64];
    int16_t floor = facts_of(audio, searched->hop)->floor;
    audio->kernels->maxima(audio->levels[row], audio->spread[row - REACH_HOPS], floor, within);
    if (audio->clip)
        audio->kernels->maxima_near(audio->levels[row], audio->near[row - NEAR_HOPS], floor, near);
    for (int word = 0; word < ROW / 64; word++)
        for (uint64_t bits = audio->clip ? near[word] : within[word]; bits; bits &= bits - 1) {
            int place = word * 64 + __builtin_ctzll(bits);
            if (!pick_place(audio, searched, place, within[word] >> place % 64 & 1))
                return false;
        }
    return true;
}

bool pick_candidates(struct doppel_audio *audio, int added)
{
    struct searched_row searched = {.row = REACH_HOPS,
                                    .hop = (int64_t)audio->hops - added - REACH_HOPS};
    for (int i = -REACH_HOPS; i < REACH_HOPS; i++)
        searched.heard |= (unsigned)is_heard(audio, searched.hop + i) << (REACH_HOPS + 1 + i);
    for (int i = 0; i < added; i++, searched.row++, searched.hop++) {
        searched.heard >>= 1;
        searched.heard |= (unsigned)is_heard(audio, searched.hop + REACH_HOPS) << 2 * REACH_HOPS;
        if (!pick_row(audio, &searched))
            return false;
    }
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
        background->bands[i] += sign < 0 ? -facts->bands[i] : facts->bands[i];
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
    int32_t sum = 0; /* of 31 hops at most, 128 levels of 15 bits each */
    for (int i = from; i < to; i++)
        sum += background->bands[i];
    int heard = (to - from) * BAND_BINS * background->hops;
    /* Candidates are heard: so is the hop in the middle. */
    return sum / heard; // NOLINT(clang-analyzer-core.*)
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

/* What becomes of the candidates with these values: the 40 and 80 best of a second that are no
 * faint maxima are peaks; all others are faint, of which a clip has the best. */
static bool emit_peaks(struct doppel_audio *audio, const int32_t *values, int count, uint32_t hops)
{
    int32_t of[2][MOST_CANDIDATES]; /* those within reach, and all that are faint */
    int counts[2] = {0};
    for (int i = 0; i < count; i++) {
        of[0][counts[0]] = values[i];
        counts[0] += !audio->candidates.items[i].peak.faint;
    }
    for (int i = 0; i < count; i++) {
        struct doppel_audio_peak *peak = &audio->candidates.items[i].peak;
        int rank =
            peak->faint ? MOST_CANDIDATES : audio->kernels->rank(of[0], counts[0], values[i]);
        peak->strong = rank < quota(hops, DOPPEL_AUDIO_ITEM_PEAKS);
        peak->faint = rank >= quota(hops, DOPPEL_AUDIO_QUERY_PEAKS);
        of[1][counts[1]] = values[i];
        counts[1] += peak->faint;
    }
    int most = audio->clip ? quota(hops, DOPPEL_AUDIO_FAINT_PEAKS) : 0;
    for (int i = 0; i < count; i++) {
        struct doppel_audio_peak peak = audio->candidates.items[i].peak;
        bool wanted =
            !peak.faint || (most && audio->kernels->rank(of[1], counts[1], values[i]) < most);
        if (wanted && !emit_peak(audio, peak))
            return false;
    }
    return true;
}

bool pick_peaks(struct doppel_audio *audio, uint32_t hops)
{
    int count = 0;
    while (count < (int)audio->candidates.count && count < MOST_CANDIDATES &&
           audio->candidates.items[count].hop < audio->chosen + hops)
        count++;
    int32_t values[MOST_CANDIDATES];
    rank_values(audio, count, values);
    if (!emit_peaks(audio, values, count, hops))
        return false;
    if (count) {
        audio->candidates.count -= (size_t)count;
        memmove(audio->candidates.items, audio->candidates.items + count,
                audio->candidates.count * sizeof *audio->candidates.items);
    }
    audio->chosen += hops;
    return true;
}

void forget_faint(struct doppel_audio *audio)
{
    size_t kept = 0;
    for (size_t i = 0; i < audio->candidates.count; i++)
        if (!audio->candidates.items[i].peak.faint)
            audio->candidates.items[kept++] = audio->candidates.items[i];
    audio->candidates.count = kept;
    kept = 0;
    for (size_t i = 0; i < audio->peaks.count; i++)
        if (!audio->peaks.items[i].faint)
            audio->peaks.items[kept++] = audio->peaks.items[i];
    audio->peaks.count = kept;
    audio->clip = false;
}
