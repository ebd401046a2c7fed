/* The lowest shingles of a library's files of text (MinHash), each a code of its own: by them one
 * finds which texts a text is a part of, and which are parts of it, however much longer one is; and
 * documents without text by their pages. */
#include <stdlib.h>
#include <string.h>

#include <doppel/image.h>

#include "core/array.h"
#include "library/derived/codes.h"
#include "library/items/rows.h"

bool is_shingle_table(enum code_table which)
{
    return code_tables[which].part == CODES_OF_SHINGLES;
}

/* ---- of a text ---- */

/* Texts that were read in another way have other codes. */
static uint64_t shingle_code(uint16_t version, uint32_t shingle)
{
    return (uint64_t)version << 32 | shingle;
}

static size_t count_held(const uint32_t *shingles, size_t count)
{
    size_t held = 0;
    while (held < count && shingles[held] < DOPPEL_TEXT_HELD_BELOW)
        held++;
    return held;
}

/* Of a document without text the keys of its pages, which are looked up likewise. @param out
 * ascending; given (free). False without memory. */
static bool read_held_keys(const struct doppel_text_extra *extra, uint32_t **out, size_t *out_count)
{
    struct doppel_page *pages = NULL;
    size_t count = 0;
    if (extra->drawn_size &&
        doppel_pages_read(extra->drawn, extra->drawn_size, &pages, &count) == DOPPEL_E_MEMORY)
        return false;
    const size_t held = extra->drawn_size ? 0 : count_held(extra->shingles, extra->shingle_count);
    *out = malloc((held + count * DOPPEL_PAGE_KEYS + 1) * sizeof **out);
    if (*out && held)
        memcpy(*out, extra->shingles, held * sizeof **out);
    if (*out)
        *out_count = held + doppel_pages_keys(pages, count, *out + held);
    free(pages);
    return *out;
}

static bool make_shingle_codes(uint64_t id, uint16_t version, const struct doppel_text_extra *extra,
                               struct item_codes *out)
{
    uint32_t *keys = NULL;
    size_t count = 0;
    if (!read_held_keys(extra, &keys, &count))
        return false;
    *out = (struct item_codes){.codes = malloc((count + 1) * sizeof *out->codes),
                               .payloads = malloc((count + 1) * sizeof *out->payloads)};
    const bool there = out->codes && out->payloads;
    for (; there && out->count < count; out->count++) {
        out->codes[out->count] = shingle_code(version, keys[out->count]);
        out->payloads[out->count] = id;
    }
    free(keys);
    return there;
}

/* A code that was imported has no shingles. @param out given (item_codes_free), also on failure
 * @return DOPPEL_E_CORRUPT: the attachment is damaged; DOPPEL_E_MEMORY */
static enum doppel_status shingle_codes_of(uint64_t id, const struct doppel_record *record,
                                           struct item_codes *out)
{
    struct doppel_text_extra extra = {0};
    enum doppel_status status = DOPPEL_OK;
    *out = (struct item_codes){0};
    if (record->attachment_size)
        status = doppel_text_attachment_read(record->attachment, record->attachment_size, &extra);
    if (!status && !make_shingle_codes(id, record->version, &extra, out))
        status = DOPPEL_E_MEMORY;
    doppel_text_extra_free(&extra);
    return status;
}

enum doppel_status shingles_put(struct doppel_library *library, uint64_t id,
                                const struct doppel_record *record, struct doppel_error *error)
{
    struct item_codes codes;
    enum doppel_status status = DOPPEL_OK;
    for (int i = 0; i < CODE_TABLES && !status; i++) {
        const enum code_table which = (enum code_table)i;
        if (!is_shingle_table(which) || code_tables[i].scheme != record->scheme)
            continue;
        status = shingle_codes_of(id, record, &codes);
        if (status == DOPPEL_E_MEMORY)
            status = doppel_fail(error, status, "no memory for the shingles of a text");
        else if (status)
            status = DOPPEL_OK; /* whoever reads it will say so */
        else
            status = codes_put_in(library, which, &codes, error);
        item_codes_free(&codes);
    }
    return status;
}

/* ---- of all ---- */

static enum doppel_status visit_shingle_row(sqlite3_stmt *statement, codes_visitor *visitor,
                                            void *context, bool *go_on)
{
    struct text_file file;
    struct item_codes codes;
    enum doppel_status status = text_file_read(statement, &file);
    if (status)
        return status;
    status = shingle_codes_of(file.id, &file.record, &codes);
    if (!status && codes.count)
        *go_on = visitor(context, &codes);
    item_codes_free(&codes);
    text_file_free(&file);
    return status;
}

enum doppel_status codes_of_shingles(struct doppel_store *store, enum code_table which,
                                     codes_visitor *visitor, void *context,
                                     struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row, go_on = true;
    enum doppel_status status = doppel_store_statement(
        store, OF_BOTH(SELECT_TEXT_FILE " AND scheme = ?1"), &statement, error);
    if (status)
        return status;
    sqlite3_bind_int(statement, 1, (int)code_tables[which].scheme);
    while (go_on && !(status = doppel_store_step(store, statement, &row, error)) && row)
        if (visit_shingle_row(statement, visitor, context, &go_on) == DOPPEL_E_MEMORY) {
            status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a text of the library");
            break;
        }
    sqlite3_reset(statement);
    return status || go_on ? status : DOPPEL_E_CANCELLED;
}

/* ---- looking up ---- */

static int compare_payloads(const void *left, const void *right)
{
    const struct doppel_index_hit *a = left, *b = right;
    return (a->payload > b->payload) - (a->payload < b->payload);
}

static enum doppel_status tell_sharers(struct doppel_index_hit *hits, size_t count,
                                       doppel_text_candidate_visitor *visitor, void *context)
{
    if (count)
        qsort(hits, count, sizeof *hits, compare_payloads);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && hits[next].payload == hits[i].payload;)
            next++;
        if (!visitor(context, hits[i].payload, (uint32_t)(next - i)))
            return DOPPEL_E_CANCELLED;
    }
    return DOPPEL_OK;
}

struct sharer_list {
    ARRAY(struct doppel_index_hit) hits;
    uint32_t of_query, query; /* how many the last one has */
};

static bool take_sharer(void *context, const struct doppel_index_hit *hit)
{
    enum { MOST_OF_SHINGLE = 1024 };
    struct sharer_list *list = context;
    list->of_query = list->query == hit->query ? list->of_query + 1 : 1;
    list->query = hit->query;
    return list->of_query > MOST_OF_SHINGLE || array_push(&list->hits, *hit);
}

/* @param codes room for the shingles that are below DOPPEL_TEXT_HELD_BELOW */
static enum doppel_status look_up_sharers(struct doppel_library *library, enum code_table which,
                                          const struct doppel_shingle_lookup *lookup,
                                          uint64_t *codes, struct sharer_list *list,
                                          struct doppel_error *error)
{
    const struct doppel_index *index;
    struct doppel_index_request request = {.queries = codes,
                                           .count = count_held(lookup->shingles, lookup->count)};
    enum doppel_status status = codes_index(library, which, &index, error);
    for (size_t i = 0; i < request.count; i++)
        codes[i] = shingle_code(lookup->version, lookup->shingles[i]);
    if (!status && request.count)
        status = doppel_index_search(index, &request, take_sharer, list, error);
    return status == DOPPEL_E_CANCELLED
               ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for texts that share shingles")
               : status;
}

static bool is_wanted_table(enum code_table which, const void *wanted)
{
    return which == *(const enum code_table *)wanted;
}

static enum doppel_status look_up_sharers_whole(struct doppel_library *library,
                                                enum code_table which,
                                                const struct doppel_shingle_lookup *lookup,
                                                struct sharer_list *list,
                                                struct doppel_error *error)
{
    uint64_t *codes = malloc((lookup->count + 1) * sizeof *codes);
    struct doppel_error failure = {0};
    enum doppel_status status =
        codes ? look_up_sharers(library, which, lookup, codes, list, &failure)
              : doppel_fail(&failure, DOPPEL_E_MEMORY, "no memory for the shingles of a text");
    if (status == DOPPEL_E_CORRUPT) { /* met in a page that nobody had looked at */
        list->hits.count = 0;
        status = codes_mend(library, is_wanted_table, &which, &failure);
        if (!status)
            status = look_up_sharers(library, which, lookup, codes, list, &failure);
    }
    free(codes);
    return status ? doppel_fail(error, status, "%s", failure.message) : DOPPEL_OK;
}

enum doppel_status doppel_library_share_shingles(struct doppel_library *library,
                                                 const struct doppel_shingle_lookup *lookup,
                                                 doppel_text_candidate_visitor *visitor,
                                                 void *context, struct doppel_error *error)
{
    struct sharer_list list = {0};
    enum doppel_status status = DOPPEL_OK;
    for (int i = 0; i < CODE_TABLES && !status; i++)
        if (is_shingle_table((enum code_table)i) && code_tables[i].scheme == lookup->scheme)
            status = look_up_sharers_whole(library, (enum code_table)i, lookup, &list, error);
    if (!status)
        status = tell_sharers(list.hits.items, list.hits.count, visitor, context);
    array_free(&list.hits);
    return status;
}
