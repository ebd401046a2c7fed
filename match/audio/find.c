/* The items that a recording shares something with, best first, and what was rejected. */
#include <math.h>
#include <stdlib.h>

#include "core/try.h"
#include "match/audio/describe.h"

/* Runs [first, end) of one item, and what is best of them. */
struct found_entry {
    uint64_t id;
    size_t first, end;
    double rate, evidence;
};

typedef ARRAY(struct found_entry) entry_array;

static bool make_entries(const run_array *runs, double max_rate, entry_array *out)
{
    for (size_t i = 0; i < runs->count; i++) {
        const struct run *run = &runs->items[i];
        if (!i || runs->items[i - 1].id != run->id) {
            struct found_entry entry = {.id = run->id, .first = i, .rate = 1};
            if (!array_push(out, entry))
                return false;
        }
        struct found_entry *entry = &out->items[out->count - 1];
        entry->end = i + 1;
        entry->rate = fmin(entry->rate, run->rate);
        if (run->rate <= max_rate)
            entry->evidence += run->evidence;
    }
    return true;
}

static int best_recording_first(const void *a, const void *b)
{
    const struct found_entry *x = a, *y = b;
    if (x->rate != y->rate)
        return x->rate < y->rate ? -1 : 1;
    if (x->evidence != y->evidence)
        return x->evidence > y->evidence ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static enum doppel_status visit_all_hunt(const struct hunt *hunt, const run_array *runs,
                                         const entry_array *entries, doppel_found_visitor *visitor,
                                         void *context)
{
    const struct doppel_audio_options *options = hunt->options;
    enum doppel_status status = DOPPEL_OK;
    segment_array segments = {0};
    matched_array better = {0};
    size_t missed = 0;
    for (size_t i = 0; i < entries->count && !status; i++) {
        const struct found_entry *entry = &entries->items[i];
        struct doppel_found found = {.id = entry->id};
        bool within;
        if (entry->rate > options->max_false_positives && missed++ >= options->near_misses)
            break;
        if (!runs_describe(runs->items + entry->first, entry->end - entry->first,
                           hunt->query->duration, options->max_false_positives, &segments,
                           &found.match, &within))
            status = DOPPEL_E_MEMORY;
        else if (matched_explain(&better, &found.match))
            found.match.relation = DOPPEL_RELATION_SHARED;
        else if (within && !matched_note(&better, &found.match))
            status = DOPPEL_E_MEMORY;
        found.borderline = !within;
        if (!status && !visitor(context, &found))
            status = DOPPEL_E_CANCELLED;
    }
    array_free(&better);
    array_free(&segments);
    return status;
}

bool audio_in_order(const struct doppel_recording *recording)
{
    for (size_t i = 1; i < recording->count; i++)
        if (recording->peaks[i].time < recording->peaks[i - 1].time)
            return false;
    return true;
}

struct doppel_recording audio_mended(const struct doppel_recording *recording)
{
    return (struct doppel_recording){recording->peaks, recording->count, audio_duration(recording)};
}

enum doppel_status doppel_recordings_find(const struct doppel_recordings *recordings,
                                          const struct doppel_recording *query,
                                          const struct doppel_audio_options *options,
                                          doppel_found_visitor *visitor, void *context,
                                          struct doppel_error *error)
{
    struct doppel_recording mended = audio_mended(query);
    struct hunt hunt = {.recordings = recordings, .query = &mended, .options = options};
    run_array runs = {0};
    entry_array entries = {0};
    if (!audio_in_order(query))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "peaks of a recording are not in order of time");
    enum doppel_status status;
    TRY(runs_find(&hunt, &runs, error));
    runs_settle(&runs);
    if (!make_entries(&runs, options->max_false_positives, &entries))
        TRY(DOPPEL_E_MEMORY);
    if (entries.count)
        qsort(entries.items, entries.count, sizeof *entries.items, best_recording_first);
    TRY(visit_all_hunt(&hunt, &runs, &entries, visitor, context));
done:
    if (status == DOPPEL_E_MEMORY)
        doppel_fail(error, status, "no memory to describe what was found");
    if (status == DOPPEL_E_CANCELLED)
        doppel_fail(error, status, "the search was ended");
    array_free(&entries);
    array_free(&runs);
    return status;
}
