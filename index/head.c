/* The head: codes appended and marked, payloads noted, and all of it read for a flush. */
#include "index/head_internal.h"

#include <stdlib.h>
#include <string.h>

#include "core/order.h"
#include "index/scan_codes.h"
#include "index/table.h"
#include "index/vectors.h"

enum { LEAST_CAPACITY = 64 };

struct head *head_new(const struct doppel_index_options *options)
{
    struct head *head = calloc(1, sizeof *head);
    if (!head)
        return NULL;
    atomic_init(&head->references, 1);
    head->options = *options;
    head->words = table_words(options);
    if (options->table == DOPPEL_INDEX_POSTINGS) {
        head->items = calloc(1, sizeof *head->items);
        if (!head->items) {
            free(head);
            return NULL;
        }
    }
    return head;
}

struct head *head_retain(struct head *head)
{
    atomic_fetch_add_explicit(&head->references, 1, memory_order_relaxed);
    return head;
}

void head_release(struct head *head)
{
    if (!head || atomic_fetch_sub_explicit(&head->references, 1, memory_order_acq_rel) > 1)
        return;
    free(head->codes);
    free(head->payloads);
    free(head->deaths);
    free(head->older);
    number_map_free(&head->removed);
    number_map_free(&head->newest);
    slots_free(&head->slots);
    head_bands_free(head->bands);
    head_items_free(head->items);
    free(head);
}

uint64_t head_alive(const struct head *head)
{
    return head->items ? head->items->alive : head->alive;
}

uint64_t head_size(const struct head *head)
{
    return head->items ? head->items->postings_count : head->count;
}

/* ---- inserting ---- */

bool head_grow(void **items, size_t count, size_t item_bytes)
{
    void *grown = realloc(*items, count * item_bytes + 1);
    if (grown)
        *items = grown;
    return grown != NULL;
}

/* In whole groups. */
bool head_reserve(struct head *head, size_t count)
{
    if (count <= head->capacity - head->count)
        return true;
    if (count > UINT32_MAX / 2 - head->count)
        return false;
    size_t wanted = head->capacity ? head->capacity : LEAST_CAPACITY;
    while (wanted < head->count + count)
        wanted += wanted / 2 / LEAST_CAPACITY * LEAST_CAPACITY + LEAST_CAPACITY;
    if (!head_grow((void **)&head->codes, wanted * head->words, sizeof *head->codes) ||
        !head_grow((void **)&head->payloads, wanted, sizeof *head->payloads) ||
        !head_grow((void **)&head->deaths, wanted, sizeof *head->deaths) ||
        !head_grow((void **)&head->older, wanted, sizeof *head->older) ||
        (head->items && !head_grow((void **)&head->items->list, wanted, sizeof *head->items->list)))
        return false;
    head->capacity = (uint32_t)wanted;
    return true;
}

static bool in_groups(const struct head *head)
{
    return head->options.table == DOPPEL_INDEX_HAMMING;
}

static void head_put_code(struct head *head, uint32_t at, const uint64_t *code)
{
    if (head->items)
        return;
    if (!in_groups(head)) {
        memcpy(head->codes + at * head->words, code, head->words * sizeof *code);
        return;
    }
    uint64_t *place = head->codes + scan_place(at, head->words);
    /* A new group is begun with zeros: scans read whole groups. */
    if (at % SCAN_GROUP == 0)
        memset(place, 0, SCAN_GROUP * head->words * sizeof *place);
    place[0] = head->options.bits == 32 ? code[0] & UINT32_MAX : code[0];
    for (size_t word = 1; word < head->words; word++)
        place[word * SCAN_GROUP] = code[word];
}

void head_read_code(const struct head *head, uint32_t at, uint64_t *out)
{
    const uint64_t *place = head->codes + at * head->words;
    size_t step = 1;
    if (in_groups(head)) {
        place = head->codes + scan_place(at, head->words);
        step = SCAN_GROUP;
    }
    for (size_t word = 0; word < head->words; word++)
        out[word] = place[word * step];
}

bool head_insert(struct head *head, const uint64_t *codes, const uint64_t *payloads, size_t count)
{
    if (!head_reserve(head, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        head_put_code(head, head->count, codes + i * head->words);
        head->payloads[head->count] = payloads[i];
        head->deaths[head->count] = 0;
        head->count++;
    }
    head->alive += (uint32_t)count;
    if (head->unsearched)
        return true;
    if (in_groups(head) && !table_is_linear(&head->options, head->count) &&
        !slots_add(&head->slots, head->options.bits, head->codes, head->count))
        slots_free(&head->slots); /* without memory for them, codes are scanned */
    if (head->options.table == DOPPEL_INDEX_BANDS)
        (void)head_bands_add(head);
    return true;
}

/* ---- removing ---- */

/* Most heads are never asked which codes a payload has: noted when it is asked. */
static bool map_payloads(struct head *head)
{
    if (!number_map_reserve(&head->newest, head->count - head->mapped))
        return false;
    for (; head->mapped < head->count; head->mapped++) {
        uint64_t *newest = number_map_place(&head->newest, head->payloads[head->mapped]);
        head->older[head->mapped] = (uint32_t)*newest;
        *newest = head->mapped + 1;
    }
    return true;
}

static void kill_codes(struct head *head, uint64_t payload)
{
    for (uint64_t at = number_map_find(&head->newest, payload); at; at = head->older[at - 1]) {
        /* All older ones died with this one. */
        if (head->deaths[at - 1])
            break;
        head->deaths[at - 1] = head->clock;
        head->alive--;
        if (head->items)
            head->items->alive -= head->items->list[at - 1].count;
    }
}

bool head_remove(struct head *head, const uint64_t *payloads, size_t count, bool remember)
{
    if (head->clock == UINT32_MAX || !map_payloads(head) ||
        (remember && !number_map_reserve(&head->removed, count)))
        return false;
    head->clock++;
    for (size_t i = 0; i < count; i++) {
        kill_codes(head, payloads[i]);
        if (!remember)
            continue;
        uint64_t *clock = number_map_place(&head->removed, payloads[i]);
        if (!*clock)
            *clock = head->clock;
    }
    return true;
}

/* ---- searching ---- */

/* The codes from number `first` on, which begins a group. */
static struct scan_codes codes_from(const struct scan_codes *codes, uint32_t first)
{
    struct scan_codes rest = *codes;
    rest.groups += scan_place(first, code_words(codes->bits));
    rest.payloads = (const uint64_t *)codes->payloads + first;
    rest.deaths += first;
    rest.count -= first;
    return rest;
}

/* The k nearest, too, are first looked for in the slots: that takes a radius which they suit. */
static bool head_search_one(const struct head *head, const struct scan_codes *codes,
                            struct query *query, size_t k, struct doppel_index_counts *counts)
{
    bool failed = false;
    if (!slots_search(&head->slots, codes, query, counts, &failed))
        return k ? scan_nearest(codes, query, 1, k) : scan_within(codes, query, 1);
    if (!failed && codes->count > head->slots.codes) {
        struct scan_codes rest = codes_from(codes, SLOTS_MAX_CODES);
        failed = !scan_within(&rest, query, 1);
    }
    if (k && !failed)
        hits_keep_nearest(query->hits, k);
    return !failed;
}

static bool search_codes(const struct head_view *view, struct query *queries, size_t count,
                         size_t k, struct doppel_index_counts *counts)
{
    const struct head *head = view->head;
    struct scan_codes codes = {.groups = head->codes,
                               .payloads = head->payloads,
                               .bits = head->options.bits,
                               .count = view->count,
                               .deaths = head->deaths,
                               .clock = view->clock};
    if (k && count > 1) /* together, the codes are read but once */
        return scan_nearest(&codes, queries, count, k);
    for (size_t i = 0; i < count; i++)
        if (!head_search_one(head, &codes, &queries[i], k, counts))
            return false;
    return true;
}

static bool search_head_vectors(const struct head_view *view, struct query *queries, size_t count,
                                size_t k)
{
    const struct head *head = view->head;
    const struct vector_run run = {head->codes, head->payloads, head->deaths,
                                   view->count, view->clock,    head->options.bits / 32};
    for (size_t i = 0; i < count; i++)
        if (!vectors_scan(&run, &queries[i], k))
            return false;
    return true;
}

enum doppel_status head_search(const struct head_view *view, struct query *queries, size_t count,
                               size_t k, struct doppel_index_counts *counts,
                               struct doppel_error *error)
{
    bool done = true;
    if (in_groups(view->head))
        done = search_codes(view, queries, count, k, counts);
    else if (view->head->options.table == DOPPEL_INDEX_VECTORS)
        done = search_head_vectors(view, queries, count, k);
    else
        for (size_t i = 0; i < count && done; i++) {
            done = queries[i].bands ? head_bands_scan(view, &queries[i], &counts->candidates)
                                    : head_bands_search(view, &queries[i], &counts->candidates);
            if (k)
                hits_keep_nearest(queries[i].hits, k);
        }
    return done ? DOPPEL_OK
                : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the hits of a search");
}

/* ---- flushing ---- */

static size_t read_living_head(void *context, uint64_t *codes, uint64_t *payloads, size_t max)
{
    struct head_stream *stream = context;
    const struct head *head = stream->head;
    size_t n = 0;
    for (; n < max && stream->at < head->count; stream->at++)
        if (!head->deaths[stream->at]) {
            head_read_code(head, stream->at, codes + n * head->words);
            payloads[n++] = head->payloads[stream->at];
        }
    return n;
}

static void rewind_head(void *context)
{
    ((struct head_stream *)context)->at = 0;
}

void head_stream_init(struct head_stream *stream, const struct head *head)
{
    *stream = (struct head_stream){
        .codes = {stream, head->alive, read_living_head, rewind_head},
        .items = {stream, head->alive, head_alive(head), head_next_item, rewind_head},
        .head = head};
}

uint64_t *head_removed(const struct head *head, size_t *out_count)
{
    const struct number_map *removed = &head->removed;
    uint64_t *out = malloc((removed->count + 1) * sizeof *out);
    size_t n = 0;
    for (size_t i = 0; out && i < removed->cell_count; i++)
        if (removed->cells[i].number)
            out[n++] = removed->cells[i].key;
    if (n > 1)
        qsort(out, n, sizeof *out, compare_u64);
    *out_count = n;
    return out;
}

uint64_t head_bytes(const struct head *head)
{
    uint64_t code = head->words * sizeof *head->codes + sizeof *head->payloads +
                    sizeof *head->deaths + sizeof *head->older;
    return head->capacity * code + slots_bytes(&head->slots) + head_bands_bytes(head) +
           (head->items ? head_items_bytes(head->items) : 0) +
           (head->removed.cell_count + head->newest.cell_count) * sizeof(struct number_cell);
}
