/*
 * The gate before the judge: the same views, orientations and scores, but only the question whether
 * any pair of views is near enough for its class. Most candidates of a search are unrelated items
 * that meet in one pair of views at the edge of the radius: of them it has to look at one score.
 */
#include <doppel/image.h>

#include <string.h>

#include "core/cpu.h"
#include "image/gate_loop.h"

_Static_assert(sizeof((struct doppel_image_gate *)0)->most / sizeof(int32_t) == JUDGE_CLASSES,
               "a gate has a limit for each class");

static gate_kernel *choose_kernel(void)
{
#if defined(__x86_64__)
    if (cpu_flags() & CPU_AVX512_POPCNT)
        return gate_avx512;
    if (cpu_flags() & CPU_AVX2)
        return gate_avx2;
#endif
    return gate_portable;
}

/** The highest score that, alone in its class, is judged well enough. */
static int32_t most_of(enum judge_class class, double max_rate, double min_similarity)
{
    const double rounding = 1e-9;
    struct view_pair best[JUDGE_CLASSES];
    for (int i = 0; i < JUDGE_CLASSES; i++)
        best[i] = (struct view_pair){.score = UINT16_MAX};
    for (int32_t score = JUDGE_SCORE_MAX; score >= 0; score--) {
        best[class].score = (uint16_t)score;
        struct doppel_image_verdict verdict = verify_by(&calibration_builtin, best);
        if (verdict.false_positive_rate <= max_rate * (1 + rounding) ||
            verdict.similarity >= min_similarity - rounding)
            return score;
    }
    return -1;
}

/** What orientations do to codes, told by doing it to single bits. */
static void learn_turns(struct doppel_image_gate *gate)
{
    struct doppel_code all;
    memset(&all, 0xff, sizeof all);
    struct doppel_code mirrored = doppel_image_orient(&all, 1);
    struct doppel_code flipped = doppel_image_orient(&all, 2);
    for (unsigned i = 0; i < 4; i++) {
        gate->mirrored[i] = ~mirrored.word[i];
        gate->flipped[i] = ~flipped.word[i];
    }
    for (unsigned o = 0; o < DOPPEL_IMAGE_ORIENTATIONS; o++)
        gate->turns[o] = (o & 1 ? gate->mirrored[0] : 0) ^ (o & 2 ? gate->flipped[0] : 0);
    for (unsigned i = 0; i < 64; i++) {
        struct doppel_code bit = {{UINT64_C(1) << i}};
        uint64_t moved = doppel_image_orient(&bit, 4).word[0];
        uint64_t *where = moved == bit.word[0]  ? &gate->kept
                          : moved > bit.word[0] ? &gate->moved_up
                                                : &gate->moved_down;
        *where |= bit.word[0];
    }
}

struct doppel_image_gate doppel_image_gate_make(const struct doppel_image_verify_options *options,
                                                double max_rate, double min_similarity)
{
    struct doppel_image_gate gate = {.options = *options, .passes = choose_kernel()};
    for (int class = 0; class < JUDGE_CLASSES; class ++)
        gate.most[class] = most_of((enum judge_class) class, max_rate, min_similarity);
    for (uint32_t view = 0; view < DOPPEL_VIEW_COUNT; view++) {
        gate.query_views |= (uint32_t)rate_view_counts(view, options->views, true) << view;
        gate.item_views |= (uint32_t)rate_view_counts(view, options->views, false) << view;
    }
    learn_turns(&gate);
    return gate;
}

void gate_turn_slowly(const struct doppel_code *code, struct turned_word *out)
{
    for (unsigned o = 0; o < DOPPEL_IMAGE_ORIENTATIONS; o++)
        out->low[o] = doppel_image_orient(code, o).word[0];
}

bool gate_portable(const struct doppel_image_gate *gate, const struct doppel_image_codes *a,
                   const struct doppel_image_codes *b)
{
    return gate_loop(gate, a, b, turn_each, count_turns);
}

bool doppel_image_gate_passes(const struct doppel_image_gate *gate,
                              const struct doppel_image_codes *a,
                              const struct doppel_image_codes *b)
{
    return gate->passes(gate, a, b);
}
