/* Loading a library's texts into memory, and keeping up with it. */
#include "decide/records/memory.h"

#include <stdlib.h>
#include <string.h>

enum { LANES_A_WORD = 4, MAX_WORDS = DOPPEL_TEXT_MAX_LANES / LANES_A_WORD, LOAD_AT_ONCE = 4096 };

static enum doppel_status no_memory_for_texts(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the texts of the library");
}

/* ---- life ---- */

enum doppel_status memory_open(struct ingest_memory *memory, struct doppel_library *library,
                               const struct doppel_ingest_options *options,
                               const struct decider_host *host, struct doppel_error *error)
{
    struct doppel_index_options index = doppel_index_options_default();
    index.table = DOPPEL_INDEX_BANDS;
    index.lanes = memory->lanes = options->text.lanes;
    index.bands = options->bands;
    index.rows = options->rows;
    memory->library = library;
    enum doppel_status status = DOPPEL_OK;
    if (!index.bands || !index.rows)
        status =
            doppel_index_bands_choose(index.lanes, options->limits.min_similarity,
                                      DOPPEL_INDEX_BANDS_USUAL, &index.bands, &index.rows, error);
    if (!status)
        status = doppel_index_new(&index, &memory->index, error);
    if (!status)
        status = decider_new(host, options->on_same_id, &memory->decider, error);
    return status;
}

void memory_close(struct ingest_memory *memory)
{
    doppel_index_free(memory->index);
    decider_free(memory->decider);
    array_free(&memory->ids);
    array_free(&memory->sizes);
    array_free(&memory->hits);
    array_free(&memory->candidates);
    array_free(&memory->codes);
    array_free(&memory->payloads);
}

/* ---- the index ---- */

/* Lanes as a code of the index. */
static size_t to_words(const uint16_t *lanes, uint32_t count, uint64_t out[MAX_WORDS])
{
    size_t words = count / LANES_A_WORD;
    for (size_t i = 0; i < words; i++) {
        const uint16_t *four = lanes + LANES_A_WORD * i;
        out[i] =
            four[0] | (uint64_t)four[1] << 16 | (uint64_t)four[2] << 32 | (uint64_t)four[3] << 48;
    }
    return words;
}

static enum doppel_status insert_waiting(struct ingest_memory *memory, struct doppel_error *error)
{
    enum doppel_status status = doppel_index_insert(
        memory->index, memory->codes.items, memory->payloads.items, memory->payloads.count, error);
    memory->codes.count = memory->payloads.count = 0;
    return status;
}

static bool wait_in_line(struct ingest_memory *memory, const uint16_t *lanes, uint32_t number)
{
    uint64_t words[MAX_WORDS];
    size_t count = to_words(lanes, memory->lanes, words);
    for (size_t i = 0; i < count; i++)
        if (!array_push(&memory->codes, words[i]))
            return false;
    return array_push(&memory->payloads, number);
}

struct memory_search_hits {
    struct ingest_memory *memory;
    bool failed;
};

static bool take_hit(void *context, const struct doppel_index_hit *hit)
{
    struct memory_search_hits *search = context;
    search->failed |= !array_push(&search->memory->hits, *hit);
    return !search->failed;
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = ((const struct doppel_index_hit *)a)->payload;
    uint64_t y = ((const struct doppel_index_hit *)b)->payload;
    return (x > y) - (x < y);
}

enum doppel_status memory_search(struct ingest_memory *memory, const uint16_t *lanes,
                                 struct doppel_error *error)
{
    uint64_t words[MAX_WORDS];
    to_words(lanes, memory->lanes, words);
    const struct doppel_index_request request = {
        .queries = words, .count = 1, .radius = memory->lanes};
    struct memory_search_hits search = {.memory = memory};
    memory->candidates.count = memory->hits.count = 0;
    enum doppel_status status =
        doppel_index_search(memory->index, &request, take_hit, &search, error);
    if (memory->hits.count > 1)
        qsort(memory->hits.items, memory->hits.count, sizeof *memory->hits.items, compare_numbers);
    for (size_t i = 0; i < memory->hits.count && !search.failed; i++)
        search.failed = !array_push(&memory->candidates, (uint32_t)memory->hits.items[i].payload);
    return search.failed ? no_memory_for_texts(error) : status;
}

uint32_t memory_equal_lanes(const struct ingest_memory *memory, uint32_t number)
{
    const struct doppel_index_hit key = {.payload = number}, *hit = NULL;
    if (memory->hits.count)
        hit = bsearch(&key, memory->hits.items, memory->hits.count, sizeof key, compare_numbers);
    return memory->lanes - (hit ? hit->distance : 0);
}

enum doppel_status memory_add(struct ingest_memory *memory, const struct decider_answer *answer,
                              const uint16_t *lanes, uint64_t id, uint32_t size,
                              struct doppel_error *error)
{
    if (!array_push(&memory->ids, id) || !array_push(&memory->sizes, size) ||
        (answer->leads && !wait_in_line(memory, lanes, answer->number)))
        return no_memory_for_texts(error);
    if (id)
        memory->last_id = id;
    return answer->leads ? insert_waiting(memory, error) : DOPPEL_OK;
}

enum doppel_status memory_insert(struct ingest_memory *memory, const uint16_t *lanes,
                                 uint32_t number, struct doppel_error *error)
{
    return wait_in_line(memory, lanes, number) ? insert_waiting(memory, error)
                                               : no_memory_for_texts(error);
}

/* ---- loading ---- */

struct memory_load {
    struct ingest_memory *memory;
    struct doppel_error *error;
    enum doppel_status status;
};

/* Ids ascend with the numbers but where they are 0. */
uint32_t memory_number_of(const struct ingest_memory *memory, uint64_t id)
{
    size_t low = 0, high = memory->ids.count;
    while (id && low < high) {
        size_t middle = low + (high - low) / 2, at = middle;
        while (at < high && memory->ids.items[at] == 0)
            at++;
        if (at < high && memory->ids.items[at] == id)
            return (uint32_t)at;
        if (at < high && memory->ids.items[at] < id)
            low = at + 1;
        else
            high = middle;
    }
    return NO_NUMBER;
}

/* One whose representative was removed leads, if it can. */
static bool remember_text(void *context, const struct doppel_library_text *text)
{
    struct memory_load *load = context;
    struct ingest_memory *memory = load->memory;
    memory->last_id = text->id;
    if (text->error.status || text->lane_count != memory->lanes) {
        memory->damaged++;
        return true;
    }
    struct decider_past past = {
        .id = text->record_id,
        .content = text->content,
        .leader = memory_number_of(memory, text->leader),
        .leads = text->leads,
    };
    if (past.leader == NO_NUMBER && !text->too_short)
        past.leads = true;
    uint32_t number;
    load->status = decider_restore(memory->decider, &past, &number, load->error);
    if (!load->status && (!array_push(&memory->ids, text->id) ||
                          !array_push(&memory->sizes, (uint32_t)text->shingle_total) ||
                          (past.leads && !wait_in_line(memory, text->lanes, number))))
        load->status = no_memory_for_texts(load->error);
    if (!load->status && memory->payloads.count >= LOAD_AT_ONCE)
        load->status = insert_waiting(memory, load->error);
    return load->status == DOPPEL_OK;
}

enum doppel_status memory_catch_up(struct ingest_memory *memory, uint64_t last_id,
                                   struct doppel_error *error)
{
    if (last_id && last_id <= memory->last_id)
        return DOPPEL_OK;
    if (!memory->last_id) /* the groups come with the texts */
        memory_regrouped(memory);
    const struct doppel_text_query query = {
        .first = memory->last_id + 1, .last = last_id, .files = true};
    struct memory_load load = {.memory = memory, .error = error};
    enum doppel_status status =
        doppel_library_each_text(memory->library, &query, remember_text, &load, error);
    if (load.status)
        return load.status;
    if (!status && memory->payloads.count)
        status = insert_waiting(memory, error);
    if (!status && last_id)
        memory->last_id = last_id;
    return status;
}
