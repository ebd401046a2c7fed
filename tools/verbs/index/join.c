/* doppel index join: all pairs of vectors above a cosine. */
#include <doppel/embed_vectors.h>

#include "tools/args/commands.h"
#include "tools/output/messages.h"
#include "tools/output/rows/vector_rows.h"
#include "tools/signals.h"

struct join_command {
    struct report *report;
    const struct doppel_vector_file *file;
    struct vector_rows *rows;
    uint64_t vectors, found;
};

static bool join_is_stopped(void *context)
{
    const struct join_command *join = context;
    return doppel_run_cancelled(join->report->run);
}

static void show_join(void *context, uint64_t done, uint64_t total)
{
    const struct join_command *join = context; /* it counts places, of which some are empty */
    const double share = total ? (double)done / (double)total : 1;
    doppel_run_advance(join->report->run,
                       share < 1 ? (uint64_t)(share * (double)join->vectors) : join->vectors);
}

static struct vector_name name_of_row(const struct doppel_vector_file *file, uint32_t row)
{
    return (struct vector_name){doppel_vector_file_id(file, row), row};
}

static bool print_vector_pairs(void *context, const struct doppel_vector_pair *pairs, size_t count)
{
    struct join_command *join = context;
    join->found += count;
    for (size_t i = 0; i < count; i++)
        if (!vector_rows_add(join->rows, name_of_row(join->file, pairs[i].a),
                             name_of_row(join->file, pairs[i].b), (double)pairs[i].cosine))
            return false;
    return true;
}

static enum doppel_status join_vectors(const struct settings *settings, struct report *report,
                                       const struct doppel_vector_file *file, uint64_t *out_found,
                                       struct doppel_error *error)
{
    const struct doppel_vectors *vectors = doppel_vector_file_vectors(file);
    const bool named = doppel_vector_file_id(file, 0) != NULL;
    struct join_command join = {.report = report,
                                .file = file,
                                .rows =
                                    vector_rows_new(settings, ROWS_OF_PAIRS, named, named, report),
                                .vectors = vectors->count};
    struct doppel_vector_join_options options = doppel_vector_join_options_default();
    options.min_cosine = (float)settings->min_cosine;
    options.exact = settings->exact;
    options.recall = (float)settings->recall;
    options.threads = settings->jobs ? settings->jobs : 1;
    options.context = &join;
    options.stopped = join_is_stopped;
    options.progress = show_join;
    doppel_run_begin(report->run, "vectors", vectors->count);
    enum doppel_status status =
        doppel_vectors_join(vectors, &options, print_vector_pairs, &join, NULL, error);
    doppel_run_end(report->run);
    if (!vector_rows_finish(join.rows))
        status = DOPPEL_E_CANCELLED;
    *out_found = join.found;
    return status;
}

int cmd_index_join(const struct settings *settings, struct report *report)
{
    const struct doppel_vector_file_options options = {
        .path = settings->operands.items[0], .ids = settings->ids, .tensor = settings->tensor};
    struct doppel_error error;
    struct doppel_vector_file *file = NULL;
    uint64_t found = 0;
    enum doppel_status status = doppel_vector_file_open(&options, report->run, &file, &error);
    if (!status)
        status = join_vectors(settings, report, file, &found, &error);
    doppel_vector_file_close(file);
    if (status == DOPPEL_E_CANCELLED)
        return signals_stopped() ? EXIT_DONE : EXIT_WRONG_USE; /* the output said why */
    if (status)
        return report_refusal(report, status, &error); /* no VECTORS */
    return found ? EXIT_DONE : EXIT_NO_MATCH;
}
