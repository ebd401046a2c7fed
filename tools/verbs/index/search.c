/* doppel index search and knn: the codes near those of a file. */
#include <doppel/index.h>
#include <stdlib.h>

#include "exchange/code_reader.h"
#include "tools/args/commands.h"
#include "tools/output/rows/index_hits.h"
#include "tools/verbs/index/folder.h"
#include "tools/verbs/index/vectors.h"
#include "tools/memory.h"
#include "tools/output/messages.h"
#include "tools/output/search_stats.h"
#include "tools/signals.h"

/* Queries that are searched at once: enough to hide the latency of memory, and few where each has
 * many hits. */
enum { FEWEST = 1, MOST = 4096, FIRST = 64, MANY_HITS = 1 << 18 };

struct index_search_command {
    const struct settings *settings;
    struct doppel_index *index;
    struct doppel_index_request request;
    struct hit_rows *hits;
    struct search_stats *stats; /* NULL: not asked for */
    struct code_reader *queries;
    uint64_t done; /* queries before this batch */
};

static bool take_found_code(void *context, const struct doppel_index_hit *hit)
{
    struct index_search_command *search = context;
    return hits_add(search->hits, search->done + hit->query, hit->payload, hit->distance) &&
           !signals_stopped();
}

/* `count` queries, of which the request has the codes. */
static enum doppel_status search_batch(struct index_search_command *search, size_t count,
                                       struct doppel_error *error)
{
    search->request.count = count;
    hits_begin(search->hits, search->done, count);
    if (search->stats)
        search_stats_start(search->stats);
    enum doppel_status status =
        doppel_index_search(search->index, &search->request, take_found_code, search, error);
    if (search->stats)
        search_stats_stop(search->stats, count);
    search->done += count;
    return status || !hits_end(search->hits) ? (status ? status : DOPPEL_E_CANCELLED) : DOPPEL_OK;
}

/* One by one for the statistics of one thread, else in batches that follow the hits. */
static size_t next_query_batch(const struct index_search_command *search, size_t last)
{
    if (search->stats && search->request.threads <= 1)
        return 1;
    size_t hits = hits_of_batch(search->hits);
    if (hits > MANY_HITS && last > FEWEST)
        return last / 2;
    return hits < MANY_HITS / 4 && last < MOST ? last * 2 : last;
}

static enum doppel_status search_all(struct index_search_command *search, uint64_t *codes,
                                     struct doppel_error *error)
{
    enum doppel_status status;
    size_t count, batch = search->stats && search->request.threads <= 1 ? 1 : FIRST;
    search->request.queries = codes;
    while (!(status = code_reader_next(search->queries, codes, batch, &count, error)) && count) {
        status = search_batch(search, count, error);
        if (status)
            return status;
        batch = next_query_batch(search, batch);
    }
    return status;
}

static enum doppel_status search_queries(struct index_search_command *search, uint32_t bits,
                                         struct report *report, struct doppel_error *error)
{
    const struct settings *settings = search->settings;
    enum doppel_status status = code_reader_open(
        report->run, settings->operands.items[1], bits,
        settings->code_input == CODES_RAW ? LAYOUT_RAW : LAYOUT_HEX, &search->queries, error);
    if (status)
        return status;
    uint64_t *codes = must_allocate(MOST * words_of_bits(bits) * sizeof *codes);
    search->hits = hits_new(settings, report);
    if (settings->stats) {
        search->stats = search_stats_new();
        search->request.counts = search_stats_counts(search->stats);
    }
    /* Else the first to touch a page would pay for reading and checking it. */
    status = search->stats ? doppel_index_verify(search->index, error) : DOPPEL_OK;
    if (!status)
        status = search_all(search, codes, error);
    if (!hits_finish(search->hits))
        status = DOPPEL_E_CANCELLED;
    if (search->stats && !status)
        search_stats_print(search->stats);
    search_stats_free(search->stats);
    code_reader_close(search->queries);
    free(codes);
    return status;
}

static int search_index(const struct settings *settings, struct report *report, size_t nearest)
{
    struct doppel_error error;
    struct index_folder folder;
    const struct index_folder_options options = {0};
    const bool vectors = doppel_vector_index_is_there(settings->operands.items[0]);
    if (!index_options_fit(settings, vectors, report))
        return EXIT_WRONG_USE;
    if (vectors)
        return search_for_vectors(settings, report, nearest);
    if (!nearest && settings->radius < 0)
        return report_fatal(report,
                            "'index search' wants '--radius R'; for the nearest see 'index knn'");
    enum doppel_status status =
        index_folder_open(settings->operands.items[0], &options, &folder, &error);
    if (status)
        return report_fatal(report, "%s", error.message);
    struct doppel_store_index_info info;
    doppel_store_index_info(folder.index, &info);
    uint32_t bits = info.options.bits;
    bool any = settings->radius < 0 || (uint32_t)settings->radius > bits;
    struct index_search_command search = {
        .settings = settings,
        .index = doppel_store_index_get(folder.index),
        .request = {.radius = any ? bits : (uint32_t)settings->radius,
                    .nearest = nearest,
                    .threads = settings->jobs ? settings->jobs : 1},
    };
    status = search_queries(&search, bits, report, &error);
    index_folder_close(&folder);
    if (status == DOPPEL_E_CANCELLED)
        return signals_stopped() ? EXIT_DONE : EXIT_WRONG_USE;          /* the output said why */
    return status ? report_refusal(report, status, &error) : EXIT_DONE; /* no QUERIES */
}

int cmd_index_search(const struct settings *settings, struct report *report)
{
    return search_index(settings, report, 0);
}

int cmd_index_knn(const struct settings *settings, struct report *report)
{
    return search_index(settings, report, settings->nearest);
}
