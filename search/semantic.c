/* A library's texts by their meaning: opened, searched, added to. */
#include "search/semantic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"

enum { HITS_A_CHUNK = 100 };

struct doppel_semantic_options doppel_semantic_options_default(void)
{
    return (struct doppel_semantic_options){
        .text = doppel_text_options_default(), .max_fp_rate = 1e-5, .nearest = 10};
}

/* ---- life ---- */

/* And what to do. */
static enum doppel_status check_library_model(const struct doppel_embedder_identity *kept,
                                              const struct doppel_embedder_identity *now,
                                              const char *folder, struct doppel_error *error)
{
    struct doppel_error reason;
    if (!doppel_embedder_check_identity(kept, now, &reason))
        return DOPPEL_OK;
    return doppel_fail(error, reason.status,
                       "%.220s. To give the library that one: remove %.60s, then 'doppel verify "
                       "--repair' forgets its vectors, and 'doppel ingest --semantic' of the texts "
                       "embeds them again",
                       reason.message, folder);
}

static enum doppel_status open_semantic_index(struct doppel_semantic *semantic, const char *folder,
                                              struct doppel_error *error)
{
    const struct doppel_semantic_options *options = &semantic->options;
    const struct doppel_embedder_identity *identity =
        options->embedder ? doppel_embedder_identity(options->embedder) : NULL;
    const struct doppel_vector_index_options index = {.folder = folder,
                                                      .make = options->write ? identity : NULL,
                                                      .named = true,
                                                      .write = options->write,
                                                      .shared = true,
                                                      .durable = options->durable};
    enum doppel_status status;
    TRY(semantic_open_known(semantic->library, &index, &semantic->index, error));
    if (identity)
        TRY(check_library_model(doppel_vector_index_identity(semantic->index), identity, folder,
                                error));
    if (options->write)
        TRY(semantic_settle(semantic->library, semantic->index, error));
done:
    return status;
}

enum doppel_status doppel_semantic_new(struct doppel_run *run, struct doppel_library *library,
                                       const struct doppel_semantic_options *options,
                                       struct doppel_semantic **out, struct doppel_error *error)
{
    struct doppel_semantic *semantic = calloc(1, sizeof *semantic);
    char *folder = NULL;
    if (options->directory && asprintf(&folder, "%s/vectors", options->directory) < 0)
        folder = NULL;
    enum doppel_status status = DOPPEL_OK;
    if (!semantic || (options->directory && !folder))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory to search by meaning"));
    *semantic = (struct doppel_semantic){.run = run, .library = library, .options = *options};
    TRY(doppel_text_new(&options->text, &semantic->text, error));
    if (folder)
        TRY(open_semantic_index(semantic, folder, error));
    *out = semantic;
    semantic = NULL;
done:
    doppel_semantic_free(semantic);
    free(folder);
    return status;
}

void doppel_semantic_free(struct doppel_semantic *semantic)
{
    if (!semantic)
        return;
    doppel_vector_index_close(semantic->index);
    semantic_weigh_no_more(semantic);
    doppel_text_free(semantic->text);
    array_free(&semantic->chunks);
    array_free(&semantic->hits);
    array_free(&semantic->levels);
    free(semantic->rows);
    free(semantic);
}

/* ---- searching ---- */

static enum doppel_status no_semantic_memory(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to search by meaning");
}

struct chunks_search {
    struct doppel_semantic *semantic;
    float least; /* value */
};

static bool note_semantic_hit(void *context, const struct doppel_vector_found *found)
{
    struct chunks_search *search = context;
    struct doppel_semantic *semantic = search->semantic;
    struct semantic_hit hit = {.query = (uint32_t)found->query, .cosine = found->cosine};
    hit.value = semantic_hit_value(semantic, hit.query, hit.cosine);
    return hit.value < search->least || !semantic_parse_id(found->id, &hit.item, &hit.chunk) ||
           array_push(&semantic->hits, hit);
}

static enum doppel_status find_near_chunks(struct doppel_semantic *semantic,
                                           struct doppel_error *error)
{
    const struct doppel_vectors queries = {
        semantic->rows, semantic->chunks.count,
        doppel_embedder_identity(semantic->options.embedder)->dimension};
    struct chunks_search search = {semantic, semantic_threshold(semantic, (double)queries.count)};
    float lowest;
    enum doppel_status status = DOPPEL_OK;
    semantic->hits.count = 0;
    if (!queries.count || search.least > 1)
        return DOPPEL_OK;
    TRY(semantic_find_levels(semantic, &lowest, error));
    const float least = search.least + lowest / 2;
    const struct doppel_vector_index_request request = {.queries = &queries,
                                                        .min_cosine = least > -1 ? least : -1,
                                                        .nearest = HITS_A_CHUNK,
                                                        .recall = 0.99F};
    if (least > 1)
        return DOPPEL_OK;
    TRY(doppel_vector_index_search(semantic->index, &request, note_semantic_hit, &search, error));
done:
    return status == DOPPEL_E_CANCELLED ? no_semantic_memory(error) : status;
}

/* By item; the nearest first. */
static int compare_semantic_hits(const void *a, const void *b)
{
    const struct semantic_hit *x = a, *y = b;
    if (x->item != y->item)
        return x->item < y->item ? -1 : 1;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return x->query != y->query
               ? (x->query < y->query ? -1 : 1)
               : (x->chunk.number > y->chunk.number) - (x->chunk.number < y->chunk.number);
}

static int compare_segments(const void *a, const void *b)
{
    const struct doppel_semantic_segment *x = a, *y = b;
    return (x->a_start > y->a_start) - (x->a_start < y->a_start);
}

/* Each chunk with the nearest that no nearer pair has: hits are in that order. */
static size_t pair_chunks(const struct doppel_semantic *semantic, const struct semantic_hit *hits,
                          size_t count, struct doppel_semantic_segment *out)
{
    size_t pairs = 0;
    for (size_t i = 0; i < count; i++) {
        const struct semantic_chunk *own = &semantic->chunks.items[hits[i].query];
        bool taken = false;
        for (size_t j = 0; j < pairs && !taken; j++)
            taken = out[j].a_start == own->start || out[j].b_start == hits[i].chunk.start;
        if (!taken)
            out[pairs++] = (struct doppel_semantic_segment){
                own->start, own->end, hits[i].chunk.start, hits[i].chunk.end, hits[i].cosine};
    }
    qsort(out, pairs, sizeof *out, compare_segments);
    return pairs;
}

static void cover_texts(const struct doppel_semantic *semantic, const struct semantic_hit *hits,
                        struct doppel_semantic_link *link)
{
    const double all = (double)semantic->chunks.items[0].total, other = (double)hits[0].chunk.total;
    for (size_t i = 0; i < link->segment_count; i++) {
        const struct doppel_semantic_segment *segment = &link->segments[i];
        link->query_coverage += (double)(segment->a_end - segment->a_start) / (all > 0 ? all : 1);
        link->item_coverage +=
            (double)(segment->b_end - segment->b_start) / (other > 0 ? other : 1);
    }
    link->query_coverage = link->query_coverage < 1 ? link->query_coverage : 1;
    link->item_coverage = link->item_coverage < 1 ? link->item_coverage : 1;
    link->extent = doppel_semantic_extent_of(link->query_coverage, link->item_coverage);
}

/* The rarest by chance first. */
static int compare_links(const void *a, const void *b)
{
    const struct doppel_semantic_link *x = a, *y = b;
    if (x->false_positive_rate != y->false_positive_rate)
        return x->false_positive_rate < y->false_positive_rate ? -1 : 1;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    if (x->cosine != y->cosine)
        return x->cosine > y->cosine ? -1 : 1;
    return (x->of_item > y->of_item) - (x->of_item < y->of_item);
}

/* Where a cosine is asked for: the nearest first. */
static int compare_links_by_cosine(const void *a, const void *b)
{
    const struct doppel_semantic_link *x = a, *y = b;
    return x->cosine != y->cosine ? (x->cosine > y->cosine ? -1 : 1) : compare_links(a, b);
}

static enum doppel_status take_near_item(const struct doppel_semantic *semantic,
                                         const struct semantic_hit *hits, size_t count,
                                         struct doppel_semantic_results *results,
                                         struct doppel_error *error)
{
    struct doppel_semantic_link *link = &results->links[results->count];
    *link = (struct doppel_semantic_link){0};
    if (!semantic_weigh_item(semantic, hits, link))
        return DOPPEL_OK;
    struct doppel_semantic_segment *segments = calloc(count, sizeof *segments);
    if (!segments)
        return no_semantic_memory(error);
    link->segments = segments;
    link->segment_count = pair_chunks(semantic, hits, count, segments);
    cover_texts(semantic, hits, link);
    if (hits[0].chunk.count == 1 && semantic->chunks.count == 1)
        link->segment_count = 0; /* whole texts */
    results->count++;
    return DOPPEL_OK;
}

enum doppel_status semantic_take_near_items(struct doppel_semantic *semantic,
                                            struct doppel_semantic_results *results,
                                            struct doppel_error *error)
{
    const struct semantic_hit *hits = semantic->hits.items;
    const size_t count = semantic->hits.count;
    enum doppel_status status = DOPPEL_OK;
    results->links = calloc(count + 1, sizeof *results->links);
    if (!results->links)
        return no_semantic_memory(error);
    if (count)
        qsort(semantic->hits.items, count, sizeof *hits, compare_semantic_hits);
    for (size_t i = 0, end; i < count && !status; i = end) {
        for (end = i + 1; end < count && hits[end].item == hits[i].item; end++)
            ;
        status = take_near_item(semantic, hits + i, end - i, results, error);
    }
    if (results->count)
        qsort(results->links, results->count, sizeof *results->links,
              semantic->options.min_cosine != 0 ? compare_links_by_cosine : compare_links);
    return status;
}

static void drop_link(struct doppel_semantic_link *link)
{
    free((void *)link->segments);
}

/* Whose vectors these are by now. @param out given (doppel_name_free). @return DOPPEL_E_NOT_FOUND:
 * nobody's */
static enum doppel_status name_link(struct doppel_semantic *semantic,
                                    struct doppel_semantic_link *link, struct doppel_name *out,
                                    struct doppel_error *error)
{
    enum doppel_status status;
    TRY(doppel_library_vectors_of(semantic->library, link->of_item, &link->of_item, error));
    TRY(doppel_library_name(semantic->library, link->of_item, out, error));
done:
    return status;
}

/* What was removed from the library meanwhile, and what is beyond the wanted ones, goes. */
static enum doppel_status name_links(struct doppel_semantic *semantic,
                                     struct doppel_semantic_results *results,
                                     struct doppel_error *error)
{
    const size_t count = results->count;
    size_t kept = 0;
    enum doppel_status status = DOPPEL_OK;
    results->names = calloc(count + 1, sizeof *results->names);
    if (!results->names)
        return no_semantic_memory(error);
    for (size_t i = 0; i < count; i++) {
        struct doppel_semantic_link link = results->links[i];
        struct doppel_name name;
        enum doppel_status named = status || kept == semantic->options.nearest
                                       ? DOPPEL_E_NOT_FOUND
                                       : name_link(semantic, &link, &name, error);
        if (named) {
            status = named == DOPPEL_E_NOT_FOUND ? status : named;
            drop_link(&link);
            continue;
        }
        link.of = name.record_id;
        link.of_path = name.path;
        link.of_line = name.line;
        results->names[kept] = name;
        results->links[kept++] = link;
    }
    results->count = kept;
    return status;
}

void doppel_semantic_results_free(struct doppel_semantic_results *results)
{
    for (size_t i = 0; i < results->count; i++) {
        drop_link(&results->links[i]);
        if (results->names)
            doppel_name_free(&results->names[i]);
    }
    free(results->links);
    free(results->names);
    *results = (struct doppel_semantic_results){0};
}

enum doppel_status doppel_semantic_search(struct doppel_semantic *semantic, const char *bytes,
                                          size_t size, struct doppel_semantic_results *results,
                                          struct doppel_error *error)
{
    enum doppel_status status;
    if (!results)
        return semantic_embed(semantic, bytes, size, error);
    doppel_semantic_results_free(results);
    TRY(semantic_embed(semantic, bytes, size, error));
    TRY(semantic_weigh(semantic, error));
    TRY(find_near_chunks(semantic, error));
    TRY(semantic_take_near_items(semantic, results, error));
    TRY(name_links(semantic, results, error));
done:
    return status;
}

/* ---- state ---- */

/* So many have as many pairs as show 10 at this rate. */
static uint64_t chunks_for_rate(double rate)
{
    const double chunks = ceil(sqrt(20 / rate));
    return chunks < 1e18 ? (uint64_t)chunks : UINT64_C(1000000000000000000);
}

enum doppel_status doppel_semantic_state(struct doppel_semantic *semantic,
                                         struct doppel_semantic_state *out,
                                         struct doppel_error *error)
{
    enum doppel_status status = semantic_weigh(semantic, error);
    if (status)
        return status;
    *out = (struct doppel_semantic_state){
        .vectors = semantic_count(semantic->index),
        .pairs = semantic->background ? doppel_vector_background_pairs(semantic->background) : 0,
        .min_cosine = semantic_threshold(semantic, 1),
        .scored = semantic_is_scored(semantic),
        .wanted = chunks_for_rate(semantic->options.max_fp_rate)};
    return DOPPEL_OK;
}

/* ---- results ---- */

void doppel_semantic_result_to_json(struct doppel_json *json,
                                    const struct doppel_semantic_link *link)
{
    doppel_json_integer(json, "id", link->of_item);
    if (link->of_path)
        doppel_json_path(json, "path", link->of_path);
    if (link->of)
        doppel_json_text(json, "record", link->of);
    doppel_semantic_link_to_json(json, link);
}
