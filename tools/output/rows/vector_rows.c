/* Rows of vectors: JSON Lines by the million, else through the usual output. */
#include "tools/output/rows/vector_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/args/options.h"
#include "tools/memory.h"
#include "tools/output/messages.h"
#include "tools/output/output.h"
#include "tools/output/write_stdout.h"
#include "tools/signals.h"

enum { GATHERED_BYTES = 64 * 1024, COSINE_DECIMALS = 6, COLUMNS = 3 };

struct vector_rows {
    enum vector_rows_of what;
    struct report *report;
    struct output *output; /* NULL: JSON Lines */
    struct column columns[COLUMNS];
    struct layout layout;
    struct doppel_json json; /* lines that are held back */
    int failed;              /* errno */
};

static const char *const keys[][COLUMNS] = {[ROWS_OF_PAIRS] = {"a", "b", "cosine"},
                                            [ROWS_OF_HITS] = {"query", "id", "cosine"},
                                            [ROWS_OF_COUNTS] = {"query", "hits", NULL}};

struct vector_rows *vector_rows_new(const struct settings *settings, enum vector_rows_of what,
                                    bool first, bool second, struct report *report)
{
    struct vector_rows *rows = must_allocate(sizeof *rows);
    const size_t columns = keys[what][COLUMNS - 1] ? COLUMNS : COLUMNS - 1;
    *rows = (struct vector_rows){.what = what, .report = report};
    for (size_t i = 0; i < columns; i++) {
        const bool text = (i == 0 && first) || (i == 1 && second);
        rows->columns[i] =
            (struct column){keys[what][i], keys[what][i], text ? CELL_TEXT : CELL_NUMBER};
    }
    rows->layout = (struct layout){rows->columns, columns, NULL, NULL, NULL};
    if (!wants_json_lines(settings))
        rows->output = output_new(settings, &rows->layout, report);
    return rows;
}

static bool write_gathered(struct vector_rows *rows)
{
    if (rows->json.failed)
        no_memory();
    if (!rows->failed && rows->json.size)
        rows->failed = write_stdout(rows->json.bytes, rows->json.size);
    doppel_json_clear(&rows->json);
    return !rows->failed;
}

static void put_vector_name(struct doppel_json *json, const char *key, struct vector_name name)
{
    if (name.id)
        doppel_json_text(json, key, name.id);
    else
        doppel_json_integer(json, key, name.number);
}

static void put_vector_row(const struct vector_rows *rows, struct doppel_json *json,
                           struct vector_name first, struct vector_name second, double cosine)
{
    put_vector_name(json, keys[rows->what][0], first);
    put_vector_name(json, keys[rows->what][1], second);
    if (rows->what != ROWS_OF_COUNTS)
        doppel_json_number(json, keys[rows->what][2], cosine, COSINE_DECIMALS);
}

bool vector_rows_add(struct vector_rows *rows, struct vector_name first, struct vector_name second,
                     double cosine)
{
    if (rows->output) {
        put_vector_row(rows, output_begin(rows->output), first, second, cosine);
        output_end(rows->output);
        return !signals_stopped();
    }
    doppel_json_object_begin(&rows->json, NULL);
    put_vector_row(rows, &rows->json, first, second, cosine);
    doppel_json_object_end(&rows->json);
    doppel_json_end_line(&rows->json);
    return rows->json.size < GATHERED_BYTES || (write_gathered(rows) && !signals_stopped());
}

bool vector_rows_finish(struct vector_rows *rows)
{
    bool written = true;
    if (rows->output) {
        written = output_finish(rows->output);
    } else {
        written = write_gathered(rows);
        if (rows->failed && rows->failed != EPIPE)
            report_fatal(rows->report, "standard output: %s", strerror(rows->failed));
    }
    doppel_json_free(&rows->json);
    free(rows);
    return written;
}
