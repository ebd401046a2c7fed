/* doppel index build, add, remove, search, knn and info of vectors. */
#include "tools/verbs/index/vectors.h"

#include <doppel/embed_vectors.h>
#include <stdlib.h>
#include <string.h>

#include "core/digest.h"
#include "core/try.h"
#include "tools/args/commands.h"
#include "tools/memory.h"
#include "tools/output/messages.h"
#include "tools/output/output.h"
#include "tools/output/search_stats.h"
#include "tools/output/rows/vector_rows.h"
#include "tools/signals.h"
#include "tools/verbs/index/folder.h"

enum { QUERIES_AT_ONCE = 256 };

bool index_options_fit(const struct settings *settings, bool vectors, struct report *report)
{
    static const char *const of_codes[] = {"radius", "bits", "compact", "input", NULL},
                             *const of_vectors[] = {"min-cosine", "exact",  "recall", "model",
                                                    "ids",        "tensor", NULL};
    const char *given = option_given(settings, vectors ? of_codes : of_vectors);
    if (!given)
        return true;
    const char *hint = "";
    if (vectors && strcmp(given, "radius") == 0 && settings->verb->bit != VERB_INDEX_BUILD)
        hint = ": how near is said with '--min-cosine'";
    else if (!vectors && strcmp(given, "min-cosine") == 0)
        hint = ": how near is said with '--radius'";
    else if (!vectors && settings->verb->bit == VERB_INDEX_BUILD)
        hint = ", which '--vectors' builds";
    report_fatal(report, "'--%s' is for an index of %s%s", given, vectors ? "codes" : "vectors",
                 hint);
    return false;
}

static enum doppel_status open_vector_file(const struct settings *settings, struct report *report,
                                           size_t operand, struct doppel_vector_file **out,
                                           struct doppel_error *error)
{
    const struct doppel_vector_file_options options = {.path = settings->operands.items[operand],
                                                       .ids = settings->ids,
                                                       .tensor = settings->tensor};
    return doppel_vector_file_open(&options, report->run, out, error);
}

static enum doppel_status open_vector_index(const struct settings *settings, bool write,
                                            struct doppel_vector_index **out,
                                            struct doppel_error *error)
{
    const struct doppel_vector_index_options options = {
        .folder = settings->operands.items[0], .write = write, .durable = settings->durable};
    return doppel_vector_index_open(&options, out, error);
}

/* Only a name is known of who made them: by that they are distinguished. */
static enum doppel_status check_model(const struct settings *settings,
                                      const struct doppel_vector_index *index,
                                      struct doppel_error *error)
{
    const char *name = doppel_vector_index_identity(index)->name;
    if (!settings->model || strcmp(settings->model, name) == 0)
        return DOPPEL_OK;
    return *name ? doppel_fail(error, DOPPEL_E_VERSION,
                               "%s: its vectors are of the model '%s', not of '%s': those of two "
                               "models cannot be compared",
                               settings->operands.items[0], name, settings->model)
                 : doppel_fail(error, DOPPEL_E_VERSION,
                               "%s: it does not say of which model its vectors are: it was built "
                               "without '--model'",
                               settings->operands.items[0]);
}

static int end_vector_verb(enum doppel_status status, const struct doppel_error *error,
                           struct report *report)
{
    if (!status || (status == DOPPEL_E_CANCELLED && signals_stopped()))
        return EXIT_DONE;
    return report_refusal(report, status, error);
}

/* ---- build and add ---- */

static const char *id_of_row(void *context, size_t row)
{
    return doppel_vector_file_id(context, row);
}

static enum doppel_status add_vector_file(struct doppel_vector_index *index,
                                          struct doppel_vector_file *file, struct report *report,
                                          struct doppel_error *error)
{
    const struct doppel_vector_index_rows rows = {doppel_vector_file_vectors(file), id_of_row,
                                                  file};
    return doppel_vector_index_add(index, &rows, report->run, error);
}

static void name_model(const char *name, struct doppel_embedder_identity *out)
{
    if (!name)
        return;
    const struct doppel_digest digest = doppel_digest_bytes(name, strlen(name));
    snprintf(out->name, sizeof out->name, "%s", name);
    doppel_hex_encode(digest.bytes, sizeof digest.bytes, out->revision);
}

enum doppel_status build_vectors(const struct settings *settings, struct report *report,
                                 const char *folder, struct doppel_error *error)
{
    struct doppel_vector_file *file = NULL;
    struct doppel_vector_index *index = NULL;
    struct doppel_embedder_identity identity = {0};
    enum doppel_status status;
    TRY(open_vector_file(settings, report, 0, &file, error));
    name_model(settings->model, &identity);
    identity.dimension = doppel_vector_file_vectors(file)->dimension;
    const struct doppel_vector_index_options options = {.folder = folder,
                                                        .make = &identity,
                                                        .named = doppel_vector_file_id(file, 0),
                                                        .write = true,
                                                        .durable = settings->durable};
    TRY(doppel_vector_index_open(&options, &index, error));
    TRY(add_vector_file(index, file, report, error));
    if (doppel_run_cancelled(report->run)) /* while they were divided into cells */
        TRY(doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted"));
done:
    doppel_vector_index_close(index);
    doppel_vector_file_close(file);
    return status;
}

int add_index_vectors(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_vector_file *file = NULL;
    struct doppel_vector_index *index = NULL;
    enum doppel_status status = open_vector_index(settings, true, &index, &error);
    if (status)
        return report_fatal(report, "%s", error.message);
    TRY(check_model(settings, index, &error));
    TRY(open_vector_file(settings, report, 1, &file, &error));
    if (!doppel_vector_index_is_named(index) && doppel_vector_file_id(file, 0))
        report_notice(report,
                      "%s: the ids of the vectors are left out, as those of the index have "
                      "none: they are known by their numbers",
                      settings->operands.items[0]);
    TRY(add_vector_file(index, file, report, &error));
    /* They are there: who is told that it failed would add them twice. */
    struct doppel_error later;
    if (doppel_store_index_compact(doppel_vector_index_codes(index), false, &later))
        report_notice(report, "%s: all vectors were added; to be merged by a later run: %s",
                      settings->operands.items[0], later.message);
done:
    doppel_vector_index_close(index);
    doppel_vector_file_close(file);
    return end_vector_verb(status, &error, report);
}

int remove_vectors(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_vector_index *index = NULL;
    enum doppel_status status = open_vector_index(settings, true, &index, &error);
    if (status)
        return report_fatal(report, "%s", error.message);
    for (size_t i = 1; i < settings->operands.count && !status; i++) {
        status = doppel_vector_index_remove(index, settings->operands.items[i], &error);
        if (status == DOPPEL_E_NOT_FOUND) {
            report_input(report, settings->operands.items[i], "the index has no such id");
            status = DOPPEL_OK;
        }
    }
    doppel_vector_index_close(index);
    return status ? report_fatal(report, "%s", error.message) : EXIT_DONE;
}

/* ---- search and knn ---- */

struct vector_search_command {
    const struct settings *settings;
    const struct doppel_vector_file *file;
    struct vector_rows *rows;
    struct search_stats *stats; /* NULL: not asked for */
    size_t first;               /* query of this batch */
    uint64_t *hits;             /* of --count: of each query of it */
};

static struct vector_name name_of_query(const struct vector_search_command *search, size_t query)
{
    return (struct vector_name){doppel_vector_file_id(search->file, query), query};
}

static bool take_found_vector(void *context, const struct doppel_vector_found *found)
{
    struct vector_search_command *search = context;
    if (search->settings->count)
        return ++search->hits[found->query] && !signals_stopped();
    return vector_rows_add(search->rows, name_of_query(search, search->first + found->query),
                           (struct vector_name){found->id, found->number}, (double)found->cosine);
}

static bool print_vector_counts(const struct vector_search_command *search, size_t count)
{
    bool wanted = true;
    for (size_t i = 0; i < count && search->settings->count && wanted; i++)
        wanted = vector_rows_add(search->rows, name_of_query(search, search->first + i),
                                 (struct vector_name){NULL, search->hits[i]}, 0);
    return wanted;
}

static enum doppel_status search_some(struct vector_search_command *search,
                                      struct doppel_vector_index *index,
                                      const struct doppel_vector_index_request *request,
                                      struct doppel_error *error)
{
    const size_t count = request->queries->count;
    memset(search->hits, 0, QUERIES_AT_ONCE * sizeof *search->hits);
    if (search->stats)
        search_stats_start(search->stats);
    enum doppel_status status =
        doppel_vector_index_search(index, request, take_found_vector, search, error);
    if (search->stats)
        search_stats_stop(search->stats, count);
    if (!status && !print_vector_counts(search, count))
        status = DOPPEL_E_CANCELLED;
    search->first += count;
    return status;
}

static struct doppel_vector_index_request request_of(const struct settings *settings,
                                                     size_t nearest, struct search_stats *stats)
{
    return (struct doppel_vector_index_request){
        .min_cosine = (float)(nearest ? settings->nearest_cosine : settings->min_cosine),
        .nearest = nearest,
        .recall = settings->exact ? 0 : (float)settings->recall,
        .threads = settings->jobs,
        .counts = stats ? search_stats_counts(stats) : NULL};
}

static enum doppel_status search_all_vectors(struct vector_search_command *search,
                                             struct doppel_vector_index *index, size_t nearest,
                                             struct doppel_error *error)
{
    const struct settings *settings = search->settings;
    const struct doppel_vectors *all = doppel_vector_file_vectors(search->file);
    const size_t batch = search->stats && settings->jobs <= 1 ? 1 : QUERIES_AT_ONCE;
    struct doppel_vector_index_request request = request_of(settings, nearest, search->stats);
    enum doppel_status status = DOPPEL_OK;
    /* Else the first to touch a page would pay for reading and checking it. */
    if (search->stats)
        status =
            doppel_index_verify(doppel_store_index_get(doppel_vector_index_codes(index)), error);
    for (size_t first = 0; first < all->count && !status; first += batch) {
        const size_t left = all->count - first;
        const struct doppel_vectors some = {all->rows + first * all->dimension,
                                            left < batch ? left : batch, all->dimension};
        request.queries = &some;
        status = search_some(search, index, &request, error);
    }
    return status;
}

int search_for_vectors(const struct settings *settings, struct report *report, size_t nearest)
{
    struct doppel_error error;
    struct doppel_vector_file *file = NULL;
    struct doppel_vector_index *index = NULL;
    struct vector_search_command search = {.settings = settings};
    uint64_t hits[QUERIES_AT_ONCE];
    enum doppel_status status = open_vector_index(settings, false, &index, &error);
    if (status)
        return report_fatal(report, "%s", error.message);
    TRY(check_model(settings, index, &error));
    TRY(open_vector_file(settings, report, 1, &file, &error));
    search.file = file;
    search.hits = hits;
    search.rows = vector_rows_new(settings, settings->count ? ROWS_OF_COUNTS : ROWS_OF_HITS,
                                  doppel_vector_file_id(file, 0) != NULL,
                                  !settings->count && doppel_vector_index_is_named(index), report);
    search.stats = settings->stats ? search_stats_new() : NULL;
    status = search_all_vectors(&search, index, nearest, &error);
    if (!vector_rows_finish(search.rows))
        status = DOPPEL_E_CANCELLED;
    if (search.stats && !status)
        search_stats_print(search.stats);
done:
    search_stats_free(search.stats);
    doppel_vector_file_close(file);
    doppel_vector_index_close(index);
    if (status == DOPPEL_E_CANCELLED)
        return signals_stopped() ? EXIT_DONE : EXIT_WRONG_USE; /* the output said why */
    return status ? report_refusal(report, status, &error) : EXIT_DONE;
}

/* ---- info ---- */

static const struct column vector_info_columns[] = {
    {"vectors", "vectors", CELL_NUMBER},
    {"removed", "removed", CELL_NUMBER},
    {"dimension", "dimension", CELL_NUMBER},
    {"model", "model", CELL_TEXT},
    {"bytes", "size", CELL_SIZE},
    {"segments", "segments", CELL_NUMBER},
    {"log_codes", "pending", CELL_NUMBER},
    {"next_id", "next id", CELL_NUMBER},
    {"build_seconds", "built in", CELL_SECONDS},
};
static const struct layout vector_info_layout = {
    vector_info_columns, sizeof vector_info_columns / sizeof *vector_info_columns, NULL, NULL,
    NULL};

int print_vectors_info(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_vector_index *index;
    enum doppel_status status = open_vector_index(settings, false, &index, &error);
    if (status)
        return report_fatal(report, "%s", error.message);
    uint64_t live;
    status = doppel_vector_index_count(index, &live, &error);
    if (status) {
        doppel_vector_index_close(index);
        return report_fatal(report, "%s", error.message);
    }
    struct output *output = output_new(settings, &vector_info_layout, report);
    struct doppel_store_index *codes = doppel_vector_index_codes(index);
    const struct doppel_index_info info = doppel_index_info(doppel_store_index_get(codes));
    const struct doppel_embedder_identity *identity = doppel_vector_index_identity(index);
    struct doppel_store_index_info store;
    doppel_store_index_info(codes, &store);
    struct doppel_json *row = output_begin(output);
    doppel_json_integer(row, "vectors", live);
    if (doppel_vector_index_is_named(index))
        doppel_json_integer(row, "removed", info.codes > live ? info.codes - live : 0);
    doppel_json_integer(row, "dimension", identity->dimension);
    if (*identity->name)
        doppel_json_text(row, "model", identity->name);
    doppel_json_integer(row, "bytes", index_folder_bytes(settings->operands.items[0]));
    doppel_json_integer(row, "segments", info.segments);
    doppel_json_integer(row, "log_codes", store.log_codes);
    doppel_json_integer(row, "next_id", store.next_payload);
    doppel_json_number(row, "build_seconds", store.build_seconds, 3);
    output_end(output);
    const bool printed = output_finish(output);
    doppel_vector_index_close(index);
    return printed ? EXIT_DONE : EXIT_WRONG_USE;
}
