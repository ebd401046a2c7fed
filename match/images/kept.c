/* All that matches one picture of those whose codes lie in tables that others keep. */
#include <stdlib.h>

#include "core/order.h"
#include "core/scratch.h"
#include "match/images/images_internal.h"
#include "match/images/pair.h"

/* The payload of a code of phash64, from bit 0 on: its view, whether it has 64 bits alone, the
 * views of the picture, and its id. */
enum { BARE_BIT = 4, VIEWS_BIT = 5, ID_BIT = VIEWS_BIT + DOPPEL_VIEW_COUNT };

bool doppel_image_table_options(enum doppel_scheme_id scheme, enum doppel_image_table table,
                                struct doppel_index_options *out)
{
    const struct doppel_scheme *known = doppel_scheme_by_id(scheme);
    const bool views = scheme == DOPPEL_SCHEME_PHASH64;
    if (!known || known->kind != DOPPEL_KIND_IMAGE || (table != DOPPEL_IMAGE_TABLE_CODES && !views))
        return false;
    *out = doppel_index_options_default();
    out->bits = views ? 256 : known->code_bits;
    out->design_radius = table == DOPPEL_IMAGE_TABLE_FULL ? DOPPEL_IMAGE_FULL_RADIUS
                         : views                          ? out->bits
                                                          : known->max_distance;
    return true;
}

static size_t codes_of_views(const struct doppel_fingerprint *fingerprint, uint64_t *out)
{
    const bool bare = fingerprint->code_bits < 256;
    uint32_t count =
        fingerprint->count < DOPPEL_VIEW_COUNT ? fingerprint->count : DOPPEL_VIEW_COUNT;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t *words = fingerprint->codes[i].word;
        out[4 * i] = doppel_image_sort_bits(words[0]);
        for (uint32_t word = 1; word < 4; word++)
            out[4 * i + word] = bare ? 0 : words[word];
    }
    return count;
}

size_t doppel_image_table_codes(enum doppel_image_table table, const struct doppel_match_item *item,
                                uint64_t out[DOPPEL_IMAGE_TABLE_WORDS])
{
    const struct doppel_match_options all = doppel_match_options_default();
    const struct doppel_fingerprint *fingerprint = item->fingerprint;
    if (!is_distinctive(item) || !fingerprint->count)
        return 0;
    if (table == DOPPEL_IMAGE_TABLE_FULL)
        return lookups_of_full(fingerprint, out);
    return fingerprint->scheme == DOPPEL_SCHEME_PHASH64 ? codes_of_views(fingerprint, out)
                                                        : lookups_of_item(fingerprint, &all, out);
}

static uint32_t views_of_codes(const struct doppel_fingerprint *fingerprint)
{
    uint32_t views = 0;
    for (uint32_t i = 0; i < fingerprint->count; i++)
        views |= UINT32_C(1) << (fingerprint->positions[i] % 32);
    return views & ((UINT32_C(1) << DOPPEL_VIEW_COUNT) - 1);
}

uint64_t doppel_image_table_payload(const struct doppel_fingerprint *fingerprint, uint64_t id,
                                    size_t number)
{
    if (fingerprint->scheme != DOPPEL_SCHEME_PHASH64)
        return id;
    return id << ID_BIT | (uint64_t)views_of_codes(fingerprint) << VIEWS_BIT |
           (uint64_t)(fingerprint->code_bits < 256) << BARE_BIT |
           fingerprint->positions[number] % DOPPEL_VIEW_COUNT;
}

uint64_t doppel_image_table_id(enum doppel_scheme_id scheme, uint64_t payload)
{
    return scheme == DOPPEL_SCHEME_PHASH64 ? payload >> ID_BIT : payload;
}

/* ---- candidates ---- */

/* Views that only the other's full frame may look like, where both have them. */
#define CROPS (UINT32_MAX << DOPPEL_VIEW_CENTRE)

typedef ARRAY(uint64_t) id_array;

struct kept_search {
    const struct doppel_image_request *request;
    struct doppel_image_codes query;
    struct doppel_image_probe probes[2 * DOPPEL_VIEW_COUNT]; /* as it is, and transposed */
    uint32_t probe_views[2 * DOPPEL_VIEW_COUNT];
    size_t probe_count;
    size_t frame_count;               /* the first ones: not of crops */
    uint32_t query_views, item_views; /* that are looked up, and that are found */
    uint32_t radius;
    bool gated; /* of pictures whose codes have 256 bits */
    struct doppel_image_gate gate;
    bool by_default; /* no distance or similarity is wanted */
    pthread_mutex_t lock;
    id_array candidates;
    bool no_memory;
};

static void push_candidate(struct kept_search *search, uint64_t id)
{
    pthread_mutex_lock(&search->lock);
    search->no_memory |= !array_push(&search->candidates, id);
    pthread_mutex_unlock(&search->lock);
}

/* Crops of both that look alike make up for full frames that do not quite. */
static bool has_crops_alike(const struct kept_search *search, uint64_t payload)
{
    return search->request->options->image.views == DOPPEL_VIEWS_ALL &&
           (uint32_t)(payload >> VIEWS_BIT) & search->query.views & CROPS &
               ((UINT32_C(1) << DOPPEL_VIEW_COUNT) - 1);
}

static bool note_hit(void *context, const struct doppel_index_hit *hit)
{
    struct kept_search *search = context;
    const enum doppel_scheme_id scheme = search->request->query->fingerprint->scheme;
    const bool too_far = scheme == DOPPEL_SCHEME_PHASH64 && search->gated &&
                         (int32_t)hit->distance > search->gate.most[0] &&
                         !has_crops_alike(search, hit->payload);
    if (!too_far)
        push_candidate(search, doppel_image_table_id(scheme, hit->payload));
    return !search->no_memory;
}

static enum doppel_status look_up_codes(struct kept_search *search,
                                        const struct doppel_index *table, const uint64_t *codes,
                                        size_t count, uint32_t radius, struct doppel_error *error)
{
    const struct doppel_index_request request = {
        .queries = codes, .count = count, .radius = radius, .threads = search->request->threads};
    enum doppel_status status = doppel_index_search(table, &request, note_hit, search, error);
    return status == DOPPEL_E_CANCELLED ? DOPPEL_OK : status;
}

/* ---- candidates of phash64 ---- */

/* Views are what payloads have in their lowest bits, and crops meet none of their own kind. */
_Static_assert((int)DOPPEL_INDEX_SCANNED_MARKED == (int)DOPPEL_VIEW_CENTRE, "crops are not marked");

/* The picture that a code belongs to, whose codes lie side by side. @return false: they do not */
static bool read_views(const struct doppel_index_scanned *run, uint64_t number, uint64_t payload,
                       struct doppel_code out[DOPPEL_VIEW_COUNT], uint32_t *out_views)
{
    const uint32_t views = (uint32_t)(payload >> VIEWS_BIT) & ((1u << DOPPEL_VIEW_COUNT) - 1);
    const uint32_t before = views & ((1u << (payload & 15)) - 1);
    const uint32_t count = (uint32_t)__builtin_popcount(views);
    number -= (uint64_t)__builtin_popcount(before);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t other;
        if (!doppel_index_scanned_get(run, number + i, out[i].word, &other) ||
            (other ^ payload) >> 4)
            return false;
        out[i].word[0] = doppel_image_unsort_bits(out[i].word[0]);
    }
    *out_views = views;
    return true;
}

/* Whether both, whole, may match. */
static bool passes_gate(const struct kept_search *search, const struct doppel_index_scanned *run,
                        uint64_t number, uint64_t payload)
{
    struct doppel_code codes[DOPPEL_VIEW_COUNT];
    struct doppel_image_codes item = {.codes = codes};
    return !read_views(run, number, payload, codes, &item.views) ||
           doppel_image_gate_passes(&search->gate, &search->query, &item);
}

/* 64 bits alone match by their nearest pair of views: where one has but one, by this pair. */
static bool is_bare_too_far(const struct kept_search *search,
                            const struct doppel_image_probe *probe, const uint64_t code[4],
                            uint64_t payload)
{
    const uint32_t views = (uint32_t)(payload >> VIEWS_BIT) & ((1u << DOPPEL_VIEW_COUNT) - 1);
    return search->by_default && (__builtin_popcount(views) == 1 || search->query.views == 1) &&
           !doppel_image_probe_is_near(probe, code[0], BARE_MAX_DISTANCE);
}

static void take_scanned_code(struct kept_search *search, size_t sought,
                              const struct doppel_index_scanned *run, uint64_t number)
{
    const struct doppel_image_probe *probe = &search->probes[sought];
    uint64_t code[4], payload;
    if (!doppel_index_scanned_get(run, number, code, &payload))
        return;
    const uint32_t asked = UINT32_C(1) << search->probe_views[sought];
    const uint32_t found = UINT32_C(1) << (payload & 15);
    const bool bare = payload >> BARE_BIT & 1;
    const bool meet = (asked & search->query_views && found & search->item_views) ||
                      (asked & search->item_views && found & search->query_views);
    const bool full = asked == 1 && found == 1 && !probe->transposed;
    if (!meet)
        return;
    if (search->gated && !bare) {
        if (!doppel_image_probe_reaches(probe, code, &search->gate, full) &&
            !has_crops_alike(search, payload))
            return;
        if (!passes_gate(search, run, number, payload))
            return;
    } else if ((bare || search->request->query->fingerprint->code_bits < 256) &&
               is_bare_too_far(search, probe, code, payload)) {
        return;
    }
    if (!doppel_index_scanned_removed(run, number, payload))
        push_candidate(search, payload >> ID_BIT);
}

/* A run that is being scanned. What lies near is fetched ahead while the rest is looked through;
 * words that crops of the query may look like are gathered from those that they may not. */
struct run_scan {
    struct kept_search *search;
    const struct doppel_index_scanned *run;
    struct {
        uint64_t number;
        size_t probe;
    } near[512];
    size_t near_count;
    uint64_t words[DOPPEL_IMAGE_NEAR_WORDS], numbers[DOPPEL_IMAGE_NEAR_WORDS];
    uint32_t word_count;
    struct doppel_image_near found[2 * DOPPEL_VIEW_COUNT * DOPPEL_IMAGE_NEAR_WORDS];
};

static void take_near_codes(struct run_scan *scan)
{
    for (size_t i = 0; i < scan->near_count; i++)
        take_scanned_code(scan->search, scan->near[i].probe, scan->run, scan->near[i].number);
    scan->near_count = 0;
}

static void note_near_code(struct run_scan *scan, size_t probe, uint64_t number)
{
    doppel_index_scanned_prefetch(scan->run, number);
    if (scan->near_count == sizeof scan->near / sizeof *scan->near)
        take_near_codes(scan);
    scan->near[scan->near_count].number = number;
    scan->near[scan->near_count++].probe = probe;
}

static void scan_gathered(struct run_scan *scan)
{
    const struct kept_search *search = scan->search;
    const size_t frames = search->frame_count;
    const struct doppel_image_words words = {scan->words, 8, scan->word_count};
    for (uint32_t i = scan->word_count; i % 8; i++)
        scan->words[i] = 0;
    const size_t count = doppel_image_probes_scan(
        search->probes + frames, search->probe_count - frames, &words, search->radius, scan->found);
    for (size_t i = 0; i < count; i++)
        note_near_code(scan, frames + scan->found[i].probe, scan->numbers[scan->found[i].word]);
    scan->word_count = 0;
}

static void gather_marked(struct run_scan *scan, uint64_t first, uint64_t end)
{
    const struct doppel_index_scanned *run = scan->run;
    for (uint64_t from = first; from < end; from += 64)
        for (uint64_t marks = run->marks[from / 64]; marks; marks &= marks - 1) {
            const uint64_t i = from + (uint64_t)__builtin_ctzll(marks);
            if (i >= end)
                break;
            if (scan->word_count == DOPPEL_IMAGE_NEAR_WORDS)
                scan_gathered(scan);
            scan->words[scan->word_count] = run->low[i / 8 * run->step + i % 8];
            scan->numbers[scan->word_count++] = run->first + i;
        }
}

/* Views of whole frames are sought everywhere, crops only where not all are crops. */
static void scan_words_of_run(struct run_scan *scan, uint64_t first, uint32_t count)
{
    const struct kept_search *search = scan->search;
    const struct doppel_index_scanned *run = scan->run;
    const struct doppel_image_words words = {run->low + first / 8 * run->step, run->step, count};
    uint64_t marked = 0;
    for (uint64_t i = first; run->marks && i < first + count; i += 64)
        marked += (uint64_t)__builtin_popcountll(run->marks[i / 64]);
    const bool apart = run->marks && 2 * marked < count;
    const size_t near =
        doppel_image_probes_scan(search->probes, apart ? search->frame_count : search->probe_count,
                                 &words, search->radius, scan->found);
    for (size_t i = 0; i < near; i++)
        note_near_code(scan, scan->found[i].probe, run->first + first + scan->found[i].word);
    if (apart && search->frame_count < search->probe_count)
        gather_marked(scan, first, first + count);
}

static void scan_run(void *context, const struct doppel_index_scanned *run)
{
    enum { MOST = DOPPEL_IMAGE_NEAR_WORDS };
    SCRATCH struct run_scan scan;
    scan.search = context;
    scan.run = run;
    scan.near_count = 0;
    scan.word_count = 0;
    for (uint64_t first = 0; first < run->count; first += MOST)
        scan_words_of_run(&scan, first,
                          run->count - first < MOST ? (uint32_t)(run->count - first) : MOST);
    if (scan.word_count)
        scan_gathered(&scan);
    take_near_codes(&scan);
}

static void seek_views(struct kept_search *search)
{
    const struct doppel_fingerprint *fingerprint = search->request->query->fingerprint;
    const bool turn = search->request->options->image.orientations;
    for (int crops = 0; crops < 2; crops++) {
        for (uint32_t i = 0; i < fingerprint->count && i < DOPPEL_VIEW_COUNT; i++) {
            const uint32_t view = fingerprint->positions[i] % DOPPEL_VIEW_COUNT;
            if ((view >= DOPPEL_VIEW_CENTRE) != crops ||
                !((search->query_views | search->item_views) >> view & 1))
                continue;
            for (int transposed = 0; transposed <= turn; transposed++) {
                search->probe_views[search->probe_count] = view;
                doppel_image_probe_make(&fingerprint->codes[i], transposed,
                                        &search->probes[search->probe_count++]);
            }
        }
        if (!crops)
            search->frame_count = search->probe_count;
    }
}

static enum doppel_status scan_views(struct kept_search *search, struct doppel_error *error)
{
    const struct doppel_image_request *request = search->request;
    const struct doppel_image_gate views = doppel_image_gate_make(&request->options->image, 0, 2);
    search->query_views = views.query_views;
    search->item_views = views.item_views;
    seek_views(search);
    return doppel_index_scan(request->tables[DOPPEL_IMAGE_TABLE_CODES], request->threads, scan_run,
                             search, error);
}

static void begin_kept_search(struct kept_search *search)
{
    const struct doppel_image_request *request = search->request;
    const struct doppel_fingerprint *fingerprint = request->query->fingerprint;
    const struct doppel_match_options *options = request->options;
    search->radius = lookup_radius(doppel_scheme_by_id(fingerprint->scheme), options);
    search->by_default = options->max_distance < 0 && options->min_similarity < 0;
    search->query = (struct doppel_image_codes){fingerprint->codes, views_of_codes(fingerprint)};
    search->gated = fingerprint->scheme == DOPPEL_SCHEME_PHASH64 && fingerprint->code_bits == 256 &&
                    gate_of_options(options, &search->gate);
    pthread_mutex_init(&search->lock, NULL);
}

static enum doppel_status look_up_plain(struct kept_search *search, struct doppel_error *error)
{
    const struct doppel_image_request *request = search->request;
    uint64_t codes[MAX_LOOKUP_WORDS];
    const size_t count = lookups_of_query(request->query->fingerprint, request->options, codes);
    return look_up_codes(search, request->tables[DOPPEL_IMAGE_TABLE_CODES], codes, count,
                         search->radius, error);
}

static enum doppel_status find_image_candidates(struct kept_search *search,
                                                struct doppel_error *error)
{
    const struct doppel_image_request *request = search->request;
    const struct doppel_fingerprint *fingerprint = request->query->fingerprint;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(fingerprint->scheme);
    const uint32_t full_radius = lookup_full_radius(scheme, request->options);
    uint64_t codes[MAX_LOOKUP_WORDS];
    enum doppel_status status = DOPPEL_OK;
    if (scheme->id == DOPPEL_SCHEME_PHASH64)
        status = scan_views(search, error);
    else
        status = look_up_plain(search, error);
    if (!status && full_radius && lookups_of_full(fingerprint, codes))
        status = look_up_codes(search, request->tables[DOPPEL_IMAGE_TABLE_FULL], codes, 1,
                               full_radius, error);
    return !status && search->no_memory
               ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the candidates of a search")
               : status;
}

static void sort_ids(id_array *ids)
{
    size_t kept = 0;
    if (ids->count)
        qsort(ids->items, ids->count, sizeof *ids->items, compare_u64);
    for (size_t i = 0; i < ids->count; i++)
        if (!i || ids->items[i] != ids->items[i - 1])
            ids->items[kept++] = ids->items[i];
    ids->count = kept;
}

/* ---- judging ---- */

static bool judge_kept(const struct doppel_image_request *request,
                       const struct doppel_match_item *item, struct doppel_found *out)
{
    const struct doppel_match_options *options = request->options;
    if (!is_distinctive(item) || !lookups_meet(request->query, item, options))
        return false;
    bool matches = doppel_match_pair(request->query, item, options, &out->match);
    out->borderline =
        !matches && options->check_pixels && doppel_match_borderline(&out->match, options);
    return matches || out->borderline;
}

static enum doppel_status judge_candidates(const struct doppel_image_request *request,
                                           const id_array *candidates, found_array *found,
                                           struct doppel_error *error)
{
    for (size_t i = 0; i < candidates->count; i++) {
        struct doppel_fingerprint fingerprint = {0};
        struct doppel_match_item item = {&fingerprint, 0};
        struct doppel_found one = {.id = candidates->items[i]};
        enum doppel_status status =
            request->source(request->context, one.id, &fingerprint, &item.quality, error);
        if (status == DOPPEL_E_NOT_FOUND)
            continue;
        if (status)
            return status;
        bool is_found = judge_kept(request, &item, &one);
        doppel_fingerprint_free(&fingerprint);
        if (is_found && !array_push(found, one))
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a search");
    }
    return DOPPEL_OK;
}

enum doppel_status doppel_images_find(const struct doppel_image_request *request,
                                      doppel_found_visitor *visitor, void *context,
                                      struct doppel_error *error)
{
    struct kept_search search = {.request = request};
    found_array found = {0};
    if (!is_distinctive(request->query))
        return DOPPEL_OK;
    begin_kept_search(&search);
    enum doppel_status status = find_image_candidates(&search, error);
    if (status)
        goto done;
    sort_ids(&search.candidates);
    status = judge_candidates(request, &search.candidates, &found, error);
    if (!status)
        status = found_visit_ranked(&found, visitor, context, error);
done:
    pthread_mutex_destroy(&search.lock);
    array_free(&search.candidates);
    array_free(&found);
    return status;
}
