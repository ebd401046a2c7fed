/* Judges every edit against every original of its half and counts how near unrelated items come. */
#include "rates.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "edits.h"

#include "image/pixels.h"

/* ---- one pair ---- */

struct outcome {
    double strength[RULES];
    struct view_pair best[JUDGE_CLASSES];
    struct doppel_image_verdict verdict;
    uint16_t registered; /**< score of the pixels; UINT16_MAX: not borderline, or no fit */
    bool poor;           /**< of a quality under 100, so that its rates are weighed */
};

static const struct doppel_code *full_frame(const struct doppel_fingerprint *fingerprint)
{
    return &fingerprint->codes[0]; /* positions ascend, and DOPPEL_VIEW_FULL is always there */
}

static double strength_of(double rate)
{
    return -log10(fmax(rate, 1e-79));
}

/** As the programs do: either picture may be the one that was cropped. */
static void best_both_ways(const struct doppel_fingerprint *a, const struct doppel_fingerprint *b,
                           const struct doppel_image_verify_options *options,
                           struct view_pair best[JUDGE_CLASSES])
{
    struct view_pair back[JUDGE_CLASSES];
    verify_best_pairs(a, b, options, best);
    verify_best_pairs(b, a, options, back);
    for (int i = 0; i < JUDGE_CLASSES; i++)
        if (back[i].score < best[i].score)
            best[i] = back[i];
}

static void view_pair(const struct doppel_image_features *query,
                      const struct doppel_image_features *item,
                      const struct doppel_image_verify_options *options,
                      const struct calibration *calibration, struct outcome *out)
{
    best_both_ways(&query->fingerprint, &item->fingerprint, options, out->best);
    out->verdict = verify_by(calibration, out->best);
    uint8_t quality = query->quality < item->quality ? query->quality : item->quality;
    out->poor = quality < 100;
    doppel_image_weigh(quality, &out->verdict);
    out->strength[RULE_ONE_HASH] = 64 - doppel_code_distance(full_frame(&query->fingerprint),
                                                             full_frame(&item->fingerprint), 64);
    out->strength[RULE_VIEWS] = strength_of(out->verdict.false_positive_rate);
    out->strength[RULE_PIXELS] = out->strength[RULE_VIEWS];
    out->registered = UINT16_MAX;
    if (out->verdict.false_positive_rate > DOPPEL_IMAGE_BORDERLINE_FPR)
        return;
    struct registered nearest = pixels_register(query, item, options);
    out->registered = nearest.score;
    out->strength[RULE_PIXELS] =
        strength_of(pixels_rate(calibration, &nearest, out->verdict.false_positive_rate, quality));
}

void judge_strengths(const struct doppel_image_features *query,
                     const struct doppel_image_features *item,
                     const struct calibration *calibration, double strength[RULES])
{
    const struct doppel_image_verify_options options = doppel_image_verify_options_default();
    struct outcome outcome = {0};
    if (query->fingerprint.count && item->fingerprint.count)
        view_pair(query, item, &options, calibration, &outcome);
    for (int rule = 0; rule < RULES; rule++)
        strength[rule] = outcome.strength[rule];
}

void judge_tiers(const struct doppel_image_features *query,
                 const struct doppel_image_features *item, double strength[TIERS])
{
    const struct doppel_image_verify_options tiers[TIERS - 1] = {
        [TIER_FULL] = {DOPPEL_VIEWS_FULL, false},
        [TIER_TRIMMED] = {DOPPEL_VIEWS_TRIM, false},
        [TIER_CROPS] = {DOPPEL_VIEWS_ALL, false},
        [TIER_TURNED] = {DOPPEL_VIEWS_ALL, true}};
    for (int tier = 0; tier < TIERS; tier++)
        strength[tier] = 0;
    if (!query->fingerprint.count || !item->fingerprint.count)
        return;
    for (int tier = 0; tier < TIER_PIXELS; tier++) {
        struct outcome outcome = {0};
        view_pair(query, item, &tiers[tier], &calibration_builtin, &outcome);
        strength[tier] = outcome.strength[RULE_VIEWS];
        strength[TIER_PIXELS] = outcome.strength[RULE_PIXELS];
    }
}

/* ---- all pairs ---- */

static size_t bin_of(double strength)
{
    double bin = floor(strength * STRENGTH_STEPS + 1e-6);
    return bin < 0 ? 0 : bin >= STRENGTH_BINS ? STRENGTH_BINS - 1 : (size_t)bin;
}

static void count_stranger(const struct outcome *outcome, struct half *half)
{
    half->strangers.pairs++;
    for (int rule = 0; rule < RULES; rule++)
        half->strangers.count[rule][bin_of(outcome->strength[rule])]++;
    half->rich_pairs += !outcome->poor;
    if (outcome->poor) /* curves are made of pictures with all the structure one may ask for */
        return;
    for (int i = 0; i < JUDGE_CLASSES; i++)
        if (outcome->best[i].score <= JUDGE_SCORE_MAX)
            half->class_count[i][outcome->best[i].score]++;
    if (outcome->registered <= JUDGE_SCORE_MAX)
        half->registered_count[outcome->registered]++;
}

/** Keep the nearest, one for each pair of originals, nearest first. */
static void keep_near(struct near_pair nearest[NEAREST], const struct near_pair *pair)
{
    int at = 0;
    while (at < NEAREST && nearest[at].query && nearest[at].strength >= pair->strength) {
        if (nearest[at].query == pair->query && nearest[at].item == pair->item)
            return;
        at++;
    }
    if (at == NEAREST)
        return;
    int end = at;
    while (end < NEAREST - 1 && nearest[end].query &&
           (nearest[end].query != pair->query || nearest[end].item != pair->item))
        end++;
    memmove(&nearest[at + 1], &nearest[at], (size_t)(end - at) * sizeof *nearest);
    nearest[at] = *pair;
}

static void note_finding(const struct outcome *outcome, struct finding *finding)
{
    for (int rule = 0; rule < RULES; rule++)
        finding->strength[rule] = (float)outcome->strength[rule];
    finding->distance64 = (uint8_t)outcome->verdict.distance64;
    uint32_t distance256 = outcome->verdict.distance256;
    finding->distance256 = (uint8_t)(distance256 < 255 ? distance256 : 255);
}

static bool takes_part(const struct subject *subject, bool held)
{
    return subject->readable && !subject->gated && subject->held == held;
}

struct crew {
    const struct collection *list;
    const bool *variants;
    const struct rate_options *options;
    struct half *half;
    atomic_size_t next;
    pthread_mutex_t lock;
};

/** All edits of one subject against all originals. */
static void rate_subject(const struct crew *crew, size_t i, struct half *mine)
{
    const struct doppel_image_verify_options options = doppel_image_verify_options_default();
    const struct collection *list = crew->list;
    for (int e = 0; e < edit_count; e++) {
        const struct doppel_image_features *query = &list->subjects[i].edits[e];
        for (size_t j = 0; query->fingerprint.count && j < list->count; j++) {
            if (!takes_part(&list->subjects[j], mine->held) || crew->variants[i * list->count + j])
                continue;
            struct outcome outcome;
            view_pair(query, &list->subjects[j].original, &options, crew->options->calibration,
                      &outcome);
            if (i == j)
                note_finding(&outcome, &crew->half->findings[i * (size_t)edit_count + (size_t)e]);
            else
                count_stranger(&outcome, mine);
            if (i != j)
                keep_near(mine->nearest,
                          &(struct near_pair){outcome.strength[RULE_VIEWS], list->subjects[i].name,
                                              edits[e].name, list->subjects[j].name});
        }
    }
}

static void add_counts(const uint64_t *from, uint64_t *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] += from[i];
}

static void add_half(const struct half *from, struct half *to)
{
    to->strangers.pairs += from->strangers.pairs;
    to->rich_pairs += from->rich_pairs;
    add_counts(from->strangers.count[0], to->strangers.count[0], (size_t)RULES * STRENGTH_BINS);
    add_counts(from->class_count[0], to->class_count[0],
               (size_t)JUDGE_CLASSES * (JUDGE_SCORE_MAX + 1));
    add_counts(from->registered_count, to->registered_count, JUDGE_SCORE_MAX + 1);
    for (int i = 0; i < NEAREST && from->nearest[i].query; i++)
        keep_near(to->nearest, &from->nearest[i]);
}

static void *work(void *context)
{
    struct crew *crew = context;
    struct half *mine = calloc(1, sizeof *mine);
    mine->held = crew->half->held;
    for (size_t i; (i = atomic_fetch_add(&crew->next, 1)) < crew->list->count;)
        if (takes_part(&crew->list->subjects[i], mine->held))
            rate_subject(crew, i, mine);
    pthread_mutex_lock(&crew->lock);
    add_half(mine, crew->half);
    pthread_mutex_unlock(&crew->lock);
    free(mine);
    return NULL;
}

void rate_half(const struct collection *list, const bool *variants,
               const struct rate_options *options, struct half *half)
{
    struct crew crew = {.list = list, .variants = variants, .options = options, .half = half};
    pthread_mutex_init(&crew.lock, NULL);
    half->findings = calloc(list->count * (size_t)edit_count, sizeof *half->findings);
    pthread_t threads[64];
    unsigned count = options->jobs < 64 ? options->jobs : 64;
    for (unsigned i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, work, &crew);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&crew.lock);
}

/* ---- limits ---- */

double limit_at(const struct strangers *strangers, enum rule rule, double rate)
{
    uint64_t reached = 0, allowed = (uint64_t)(rate * (double)strangers->pairs);
    size_t bin = STRENGTH_BINS;
    while (bin > 0 && reached + strangers->count[rule][bin - 1] <= allowed)
        reached += strangers->count[rule][--bin];
    return (double)bin / STRENGTH_STEPS;
}

double rate_at(const struct strangers *strangers, enum rule rule, double strength)
{
    uint64_t reached = 0;
    for (size_t bin = bin_of(strength); bin < STRENGTH_BINS; bin++)
        reached += strangers->count[rule][bin];
    return strangers->pairs ? (double)reached / (double)strangers->pairs : 0;
}
