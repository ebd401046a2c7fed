/* Candidates of a picture by its views: a scan of all kept codes of phash64. */
#include "core/scratch.h"
#include "match/images/kept_search.h"
#include "match/images/pair.h"

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

enum doppel_status scan_views(struct kept_search *search, struct doppel_error *error)
{
    const struct doppel_image_request *request = search->request;
    const struct doppel_image_gate views = doppel_image_gate_make(&request->options->image, 0, 2);
    search->query_views = views.query_views;
    search->item_views = views.item_views;
    seek_views(search);
    return doppel_index_scan(request->tables[DOPPEL_IMAGE_TABLE_CODES], request->threads, scan_run,
                             search, error);
}
