/* Pairs of vectors on stdout: JSON Lines by the million, else through the usual output. */
#include "tools/output/vector_pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/args/options.h"
#include "tools/memory.h"
#include "tools/output/messages.h"
#include "tools/output/output.h"
#include "tools/output/write_stdout.h"
#include "tools/signals.h"

enum { GATHERED_BYTES = 64 * 1024, COSINE_DECIMALS = 6 };

struct vector_pairs {
    const struct doppel_vector_file *file;
    struct report *report;
    struct output *output;   /* NULL: JSON Lines */
    struct doppel_json json; /* lines that are held back */
    int failed;              /* errno */
};

static const struct column id_columns[] = {
    {"a", "a", CELL_TEXT}, {"b", "b", CELL_TEXT}, {"cosine", "cosine", CELL_NUMBER}};
static const struct layout id_layout = {id_columns, 3, NULL, NULL, NULL};

static const struct column row_columns[] = {
    {"a", "a", CELL_NUMBER}, {"b", "b", CELL_NUMBER}, {"cosine", "cosine", CELL_NUMBER}};
static const struct layout row_layout = {row_columns, 3, NULL, NULL, NULL};

struct vector_pairs *vector_pairs_new(const struct settings *settings,
                                      const struct doppel_vector_file *file, struct report *report)
{
    struct vector_pairs *pairs = must_allocate(sizeof *pairs);
    *pairs = (struct vector_pairs){.file = file, .report = report};
    if (!wants_json_lines(settings))
        pairs->output =
            output_new(settings, doppel_vector_file_id(file, 0) ? &id_layout : &row_layout, report);
    return pairs;
}

static bool write_gathered(struct vector_pairs *pairs)
{
    if (pairs->json.failed)
        no_memory();
    if (!pairs->failed && pairs->json.size)
        pairs->failed = write_stdout(pairs->json.bytes, pairs->json.size);
    doppel_json_clear(&pairs->json);
    return !pairs->failed;
}

static void put_row_id(struct doppel_json *json, const char *key,
                       const struct doppel_vector_file *file, uint32_t row)
{
    const char *id = doppel_vector_file_id(file, row);
    if (id)
        doppel_json_text(json, key, id);
    else
        doppel_json_integer(json, key, row);
}

static void put_pair(struct doppel_json *json, const struct doppel_vector_file *file,
                     const struct doppel_vector_pair *pair)
{
    put_row_id(json, "a", file, pair->a);
    put_row_id(json, "b", file, pair->b);
    doppel_json_number(json, "cosine", (double)pair->cosine, COSINE_DECIMALS);
}

bool vector_pairs_add(struct vector_pairs *pairs, const struct doppel_vector_pair *pair)
{
    if (pairs->output) {
        put_pair(output_begin(pairs->output), pairs->file, pair);
        output_end(pairs->output);
        return !signals_stopped();
    }
    doppel_json_object_begin(&pairs->json, NULL);
    put_pair(&pairs->json, pairs->file, pair);
    doppel_json_object_end(&pairs->json);
    doppel_json_end_line(&pairs->json);
    return pairs->json.size < GATHERED_BYTES || (write_gathered(pairs) && !signals_stopped());
}

bool vector_pairs_finish(struct vector_pairs *pairs)
{
    bool written = true;
    if (pairs->output) {
        written = output_finish(pairs->output);
    } else {
        written = write_gathered(pairs);
        if (pairs->failed && pairs->failed != EPIPE)
            report_fatal(pairs->report, "standard output: %s", strerror(pairs->failed));
    }
    doppel_json_free(&pairs->json);
    free(pairs);
    return written;
}
