/* Pairs of rows that are near, by a join; of many of one meaning no more than are needed. */
#include <stdlib.h>
#include <string.h>

#include "search/semantic_links.h"

enum {
    EARLIEST_KEPT = 128, /* texts that are near one, where there are more pairs than: */
    NEAREST_KEPT = 128,
    THIN_FROM = 1 << 20
};

/* By the later text, then the earlier. */
static int compare_near_rows(const void *a, const void *b)
{
    const struct near_rows *x = a, *y = b;
    if (x->text != y->text)
        return x->text < y->text ? -1 : 1;
    if (x->of != y->of)
        return x->of < y->of ? -1 : 1;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->of_row > y->of_row) - (x->of_row < y->of_row);
}

/* Pairs of rows of two texts. */
struct near_run {
    size_t first, count; /* of pairs */
    float value;         /* of the nearest */
};

struct near_runs {
    struct near_run *items;
    size_t count, capacity; /* as an ARRAY */
};

static int compare_run_values(const void *a, const void *b)
{
    const struct near_run *x = a, *y = b;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static int compare_run_places(const void *a, const void *b)
{
    const struct near_run *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Of the runs of one text, in order, those that stay: the earliest, and of the others the nearest.
 * @return how many */
static size_t choose_runs(struct near_run *runs, size_t count)
{
    if (count <= EARLIEST_KEPT + NEAREST_KEPT)
        return count;
    qsort(runs + EARLIEST_KEPT, count - EARLIEST_KEPT, sizeof *runs, compare_run_values);
    qsort(runs + EARLIEST_KEPT, NEAREST_KEPT, sizeof *runs, compare_run_places);
    return EARLIEST_KEPT + NEAREST_KEPT;
}

static bool find_runs(const struct near_rows *pairs, size_t first, size_t end,
                      struct near_runs *out)
{
    out->count = 0;
    for (size_t i = first; i < end; i++) {
        const struct near_run begun = {i, 0, pairs[i].value};
        if ((i == first || pairs[i].of != pairs[i - 1].of) && !array_push(out, begun))
            return false;
        struct near_run *run = &out->items[out->count - 1];
        run->count++;
        run->value = pairs[i].value > run->value ? pairs[i].value : run->value;
    }
    return true;
}

/* Where thousands mean the same there are millions of pairs, and a text needs few of them: one that
 * leads others comes before these, so that it is among the earliest. */
static bool thin_near_rows(struct semantic_linking *linking)
{
    struct near_rows *pairs = linking->pairs.items;
    struct near_runs runs = {0};
    size_t kept = 0;
    bool room = true;
    qsort(pairs, linking->pairs.count, sizeof *pairs, compare_near_rows);
    for (size_t i = 0, end; i < linking->pairs.count && room; i = end) {
        for (end = i + 1; end < linking->pairs.count && pairs[end].text == pairs[i].text; end++)
            ;
        room = find_runs(pairs, i, end, &runs);
        const size_t chosen = room ? choose_runs(runs.items, runs.count) : 0;
        for (size_t run = 0; run < chosen; run++) {
            memmove(pairs + kept, pairs + runs.items[run].first,
                    runs.items[run].count * sizeof *pairs);
            kept += runs.items[run].count;
        }
    }
    array_free(&runs);
    linking->pairs.count = kept;
    linking->thin_at = 2 * kept > THIN_FROM ? 2 * kept : THIN_FROM;
    return room;
}

static float value_of_rows(const struct semantic_linking *linking,
                           const struct doppel_vector_pair *pair)
{
    const float *levels = linking->levels;
    return levels ? doppel_vector_cohort_normalise(pair->cosine, levels[pair->a], levels[pair->b])
                  : pair->cosine;
}

static bool note_near_pairs(void *context, const struct doppel_vector_pair *pairs, size_t count)
{
    struct semantic_linking *linking = context;
    bool room = linking->pairs.count < linking->thin_at || thin_near_rows(linking);
    for (size_t i = 0; i < count && room; i++) {
        const uint32_t a = linking->text_of[pairs[i].a], b = linking->text_of[pairs[i].b];
        const float cosine = pairs[i].cosine, value = value_of_rows(linking, &pairs[i]);
        const struct near_rows near =
            a < b ? (struct near_rows){b, a, pairs[i].b, pairs[i].a, cosine, value}
                  : (struct near_rows){a, b, pairs[i].a, pairs[i].b, cosine, value};
        room = a == b || array_push(&linking->pairs, near);
    }
    if (!room)
        semantic_linking_no_memory(linking->error);
    return room;
}

bool semantic_linking_stopped(void *context)
{
    const struct semantic_linking *linking = context;
    return doppel_run_cancelled(linking->semantic->run);
}

static void show_linking(void *context, uint64_t done, uint64_t total)
{
    const struct semantic_linking *linking = context;
    (void)total;
    doppel_run_advance(linking->semantic->run, done);
}

enum doppel_status semantic_linking_join(struct semantic_linking *linking,
                                         struct doppel_error *error)
{
    struct doppel_run *run = linking->semantic->run;
    const struct doppel_vectors vectors = {linking->rows, linking->chunks.count,
                                           linking->dimension};
    struct doppel_vector_join_options options = doppel_vector_join_options_default();
    struct doppel_error none = {0};
    const float least = semantic_threshold(linking->semantic, 1);
    options.levels = linking->levels;
    options.min_score = least;
    options.min_cosine = linking->levels ? -1 : least;
    options.threads = doppel_run_jobs(run);
    options.context = linking;
    options.stopped = semantic_linking_stopped;
    options.progress = show_linking;
    linking->error = error ? error : &none;
    linking->thin_at = THIN_FROM;
    if (least > 1 || vectors.count < 2)
        return DOPPEL_OK;
    doppel_run_begin(run, "vectors compared", vectors.count);
    enum doppel_status status =
        doppel_vectors_join(&vectors, &options, note_near_pairs, linking, NULL, error);
    doppel_run_end(run);
    if (status == DOPPEL_E_CANCELLED && !doppel_run_cancelled(run))
        status = semantic_linking_no_memory(error);
    if (linking->pairs.count)
        qsort(linking->pairs.items, linking->pairs.count, sizeof *linking->pairs.items,
              compare_near_rows);
    return status;
}
