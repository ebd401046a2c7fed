/* Texts compared: what is known of each, and whether two match. */
#include "compare/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/pages.h"
#include "core/try.h"

enum { LANE_BITS = 16, LANES_A_WORD = 64 / LANE_BITS, LANE_DIGITS = LANE_BITS / 4 };

/* ---- lanes and codes ---- */

static bool is_minhash(enum doppel_scheme_id scheme)
{
    return scheme == DOPPEL_SCHEME_MINHASH128 || scheme == DOPPEL_SCHEME_MINHASH256;
}

uint32_t lanes_of(const struct doppel_fingerprint *fingerprint, uint16_t out[DOPPEL_TEXT_MAX_LANES])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < fingerprint->count; i++)
        for (uint32_t lane = 0; lane < fingerprint->code_bits / LANE_BITS; lane++) {
            if (count == DOPPEL_TEXT_MAX_LANES)
                return count;
            uint64_t word = fingerprint->codes[i].word[lane / LANES_A_WORD];
            out[count++] = (uint16_t)(word >> LANE_BITS * (lane % LANES_A_WORD));
        }
    return count;
}

uint32_t distance_bits(enum doppel_scheme_id id)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(id);
    if (id == DOPPEL_SCHEME_WINNOW32 || id == DOPPEL_SCHEME_DATASKETCH ||
        id == DOPPEL_SCHEME_PEAKS32 || id == DOPPEL_SCHEME_VPDQ)
        return 0;
    if (!scheme)
        return 0;
    return is_minhash(id) ? scheme->code_bits / LANE_BITS : scheme->code_bits;
}

uint32_t code_count(const struct doppel_fingerprint *fingerprint)
{
    bool one = is_minhash(fingerprint->scheme) || fingerprint->scheme == DOPPEL_SCHEME_DATASKETCH;
    return one && fingerprint->count ? 1 : fingerprint->count;
}

char *lanes_in_hex(const uint16_t *lanes, uint32_t count)
{
    char *hex = calloc((size_t)count * LANE_DIGITS + 1, 1);
    for (uint32_t i = 0; hex && i < count; i++) {
        uint8_t bytes[2] = {(uint8_t)(lanes[i] >> 8), (uint8_t)lanes[i]};
        doppel_hex_encode(bytes, sizeof bytes, hex + (size_t)i * LANE_DIGITS);
    }
    return hex;
}

char *code_in_hex(const struct doppel_fingerprint *fingerprint, uint32_t number)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(fingerprint->scheme);
    uint16_t lanes[DOPPEL_TEXT_MAX_LANES];
    if (is_minhash(fingerprint->scheme))
        return lanes_in_hex(lanes, lanes_of(fingerprint, lanes));
    char *hex = calloc(scheme->code_bits / 4u + 1, 1);
    if (!hex)
        return NULL;
    if (fingerprint->scheme == DOPPEL_SCHEME_WINNOW32) {
        snprintf(hex, 9, "%08x", (unsigned)(uint32_t)fingerprint->codes[number].word[0]);
        return hex;
    }
    if (fingerprint->scheme == DOPPEL_SCHEME_DATASKETCH) {
        for (uint32_t i = 0; i < fingerprint->count; i++)
            doppel_code_to_hex(&fingerprint->codes[i], fingerprint->code_bits,
                               hex + i * (fingerprint->code_bits / 4u));
        return hex;
    }
    doppel_code_to_hex(&fingerprint->codes[number], scheme->code_bits, hex);
    return hex;
}

enum doppel_status doppel_fingerprint_from_hex(const struct doppel_scheme *scheme, const char *hex,
                                               struct doppel_fingerprint *out,
                                               struct doppel_error *error)
{
    bool lanes = is_minhash(scheme->id);
    uint16_t code_bits = lanes ? 256 : scheme->code_bits;
    struct doppel_fingerprint fingerprint;
    enum doppel_status status = doppel_fingerprint_make(
        scheme, code_bits, scheme->code_bits / code_bits, &fingerprint, error);
    if (status)
        return status;
    uint8_t bytes[DOPPEL_TEXT_MAX_LANES * sizeof(uint16_t)];
    bool good = lanes ? doppel_hex_decode(hex, bytes, scheme->code_bits / 8u) == DOPPEL_OK
                      : doppel_code_from_hex(hex, code_bits, fingerprint.codes) == DOPPEL_OK;
    for (uint32_t i = 0; good && lanes && i < scheme->code_bits / LANE_BITS; i++) {
        uint64_t lane = (uint64_t)bytes[2 * i] << 8 | bytes[2 * i + 1];
        uint32_t a_code = code_bits / LANE_BITS;
        fingerprint.codes[i / a_code].word[i % a_code / LANES_A_WORD] |=
            lane << LANE_BITS * (i % LANES_A_WORD);
    }
    for (uint32_t i = 0; i < fingerprint.count; i++)
        fingerprint.positions[i] = i;
    if (!good) {
        doppel_fingerprint_free(&fingerprint);
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a code of %s has %u hex digits", scheme->name,
                           scheme->code_bits / 4u);
    }
    *out = fingerprint;
    return DOPPEL_OK;
}

/* ---- from records ---- */

static bool read_winnowed_keys(const struct doppel_fingerprint *fingerprint, struct text_view *view)
{
    view->keys = calloc(fingerprint->count + 1, sizeof *view->keys);
    view->key_starts = calloc(fingerprint->count + 1, sizeof *view->key_starts);
    if (!view->keys || !view->key_starts)
        return false;
    for (uint32_t i = 0; i < fingerprint->count; i++) {
        uint64_t code = fingerprint->codes[i].word[0];
        struct doppel_text_key key = {(uint32_t)code, (uint32_t)(code >> 32)};
        bool ascends = i == 0 || key.word > view->keys[view->key_count - 1].word;
        if (key.word >= view->extra.words || !ascends)
            break; /* no worker says so */
        view->key_starts[view->key_count] = fingerprint->positions[i];
        view->keys[view->key_count++] = key;
    }
    return true;
}

enum doppel_status text_view_load(const struct doppel_record *record,
                                  const struct doppel_text_options *options, struct text_view *out,
                                  struct doppel_error *error)
{
    struct text_view view = {.scheme = record->scheme};
    bool good = true;
    if (record->kind != DOPPEL_KIND_TEXT)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "no record of a text");
    if (!record->attachment_size && record->fingerprint.count &&
        record->scheme != DOPPEL_SCHEME_WINNOW32) { /* its code came from elsewhere */
        *out = text_view_of_code(&record->fingerprint);
        out->extra.content = record->digest;
        return DOPPEL_OK;
    }
    enum doppel_status status =
        doppel_text_attachment_read(record->attachment, record->attachment_size, &view.extra);
    if (status)
        return doppel_fail(error, status, "what is known of a text cannot be read");
    if (is_minhash(record->scheme))
        view.lane_count = lanes_of(&record->fingerprint, view.lanes);
    else if (record->scheme == DOPPEL_SCHEME_WINNOW32)
        good = read_winnowed_keys(&record->fingerprint, &view);
    else if (record->fingerprint.count)
        view.simhash = record->fingerprint.codes[0].word[0];
    view.too_short = doppel_text_is_short(options, view.extra.words, view.extra.characters);
    if (good)
        *out = view;
    else
        text_view_free(&view);
    return good ? DOPPEL_OK : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a text");
}

bool text_view_read(const struct doppel_record *record, const struct doppel_text_options *options,
                    struct text_view *out)
{
    return text_view_load(record, options, out, NULL) == DOPPEL_OK;
}

struct text_view text_view_of_code(const struct doppel_fingerprint *fingerprint)
{
    struct text_view view = {.scheme = fingerprint->scheme, .extra.words = 1};
    if (is_minhash(fingerprint->scheme))
        view.lane_count = lanes_of(fingerprint, view.lanes);
    else if (fingerprint->count)
        view.simhash = fingerprint->codes[0].word[0];
    return view;
}

bool text_view_of_record(const struct doppel_library_text *text, struct text_view *out)
{
    *out = (struct text_view){
        .extra = {.words = text->words,
                  .content = text->content,
                  .shingle_total = text->shingle_total},
        .scheme = text->lane_count == 256 ? DOPPEL_SCHEME_MINHASH256 : DOPPEL_SCHEME_MINHASH128,
        .lane_count = text->lane_count,
        .too_short = text->too_short,
        .kept = true,
    };
    memcpy(out->lanes, text->lanes, text->lane_count * sizeof *text->lanes);
    if (!text->shingles)
        return true;
    out->extra.shingles = malloc((size_t)text->shingle_total * sizeof *text->shingles + 1);
    if (!out->extra.shingles)
        return false;
    memcpy(out->extra.shingles, text->shingles,
           (size_t)text->shingle_total * sizeof *text->shingles);
    out->extra.shingle_count = (size_t)text->shingle_total;
    return true;
}

void text_view_free(struct text_view *view)
{
    doppel_text_extra_free(&view->extra);
    free(view->keys);
    free(view->key_starts);
    view->keys = NULL;
    view->key_starts = NULL;
}

/* ---- comparing ---- */

struct doppel_text_limits text_limits_from(const struct doppel_compare_options *compare)
{
    struct doppel_text_limits limits = doppel_text_limits_default();
    if (compare->preset)
        limits.min_similarity = compare->preset->min_similarity;
    if (compare->min_similarity >= 0)
        limits.min_similarity = compare->min_similarity;
    if (compare->text_similarity >= 0)
        limits.min_similarity = compare->text_similarity;
    return limits;
}

bool same_words(const struct text_view *a, const struct text_view *b)
{
    return a->extra.words && memcmp(a->extra.content.bytes, b->extra.content.bytes,
                                    sizeof a->extra.content.bytes) == 0;
}

static bool is_sample(const struct text_view *view)
{
    return view->extra.shingle_count < view->extra.shingle_total;
}

/* The highest shingle of a sample: above it, it knows nothing. */
static uint32_t last_known(const struct text_view *view)
{
    return is_sample(view) && view->extra.shingle_count
               ? view->extra.shingles[view->extra.shingle_count - 1]
               : UINT32_MAX;
}

static size_t count_shingles_up_to(const struct text_view *view, uint32_t most)
{
    size_t low = 0, high = view->extra.shingle_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (view->extra.shingles[middle] <= most)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* @param sets whether the shingles of both texts are known; of samples, those up to `last` */
static struct doppel_text_evidence evidence_of(const struct text_view *view, bool sets,
                                               uint32_t last)
{
    return (struct doppel_text_evidence){
        .content = view->extra.content,
        .too_short = view->too_short,
        .lanes = view->lane_count ? view->lanes : NULL,
        .lane_count = view->lane_count,
        .shingles = sets ? view->extra.shingles : NULL,
        .shingle_count = sets ? count_shingles_up_to(view, last) : view->extra.shingle_total,
        .shingles_kept = view->kept,
    };
}

/* SimHash knows no sets: the bits decide. */
static bool simhashes_match(const struct doppel_compare_options *compare,
                            const struct text_view *query, const struct text_view *item,
                            struct doppel_match *out)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(query->scheme);
    uint32_t distance = (uint32_t)__builtin_popcountll(query->simhash ^ item->simhash);
    *out = (struct doppel_match){
        .kind = DOPPEL_KIND_TEXT,
        .scheme = scheme->id,
        .relation = DOPPEL_RELATION_SAME,
        .verified = DOPPEL_VERIFIED_CODES,
        .distance = distance,
        .bits = scheme->code_bits,
        .similarity = doppel_simhash_similarity(query->simhash, item->simhash).value,
        .false_positive_rate = -1,
    };
    if (query->too_short || item->too_short)
        return false;
    if (compare->min_similarity >= 0)
        return out->similarity >= compare->min_similarity;
    uint32_t most =
        compare->max_distance >= 0 ? (uint32_t)compare->max_distance : scheme->max_distance;
    return distance <= most;
}

static bool sets_match(const struct doppel_compare_options *compare, const struct text_view *query,
                       const struct text_view *item, struct doppel_match *out)
{
    uint32_t a = last_known(query), b = last_known(item);
    bool sets = query->extra.shingle_count && item->extra.shingle_count;
    struct doppel_text_evidence left = evidence_of(query, sets, a < b ? a : b);
    struct doppel_text_evidence right = evidence_of(item, sets, a < b ? a : b);
    struct doppel_text_limits limits = text_limits_from(compare);
    bool match = doppel_match_texts(&left, &right, &limits, out);
    out->scheme = query->scheme;
    if (sets && (is_sample(query) || is_sample(item)))
        out->verified = DOPPEL_VERIFIED_SIGNATURE;
    if (compare->max_distance >= 0 && query->lane_count)
        return !query->too_short && !item->too_short &&
               out->distance <= (uint32_t)compare->max_distance;
    return match;
}

static void describe_same_words(const struct text_view *query, struct doppel_match *out)
{
    *out = (struct doppel_match){
        .kind = DOPPEL_KIND_TEXT,
        .scheme = query->scheme,
        .relation = DOPPEL_RELATION_SAME,
        .verified = DOPPEL_VERIFIED_EXACT,
        .bits = distance_bits(query->scheme),
        .similarity = 1,
        .false_positive_rate = -1,
        .has_coverage = true,
        .query_coverage = 1,
        .item_coverage = 1,
    };
}

struct doppel_passage_text passage_text_of(const struct text_view *view)
{
    bool placed = view->extra.place_count > 0;
    return (struct doppel_passage_text){
        .words = view->extra.places,
        .word_count = (uint32_t)view->extra.words,
        .keys = placed ? view->extra.keys : view->keys,
        .key_count = placed ? view->extra.key_count : view->key_count,
        .key_starts = placed ? NULL : view->key_starts,
        .pages = view->extra.pages,
        .page_count = view->extra.page_count,
    };
}

bool texts_match(const struct doppel_compare_options *compare, const struct text_view *query,
                 const struct text_view *item, struct doppel_match *out)
{
    if (same_words(query, item)) {
        describe_same_words(query, out);
        return true;
    }
    if (query->scheme == DOPPEL_SCHEME_SIMHASH64)
        return simhashes_match(compare, query, item, out);
    if (query->scheme == DOPPEL_SCHEME_WINNOW32) { /* what else they share are passages */
        *out = (struct doppel_match){.kind = DOPPEL_KIND_TEXT,
                                     .scheme = query->scheme,
                                     .relation = DOPPEL_RELATION_OVERLAPS,
                                     .bits = distance_bits(query->scheme),
                                     .false_positive_rate = -1};
        return false;
    }
    bool match = sets_match(compare, query, item, out);
    return match && query->extra.words && item->extra.words;
}

bool text_records_match(const struct doppel_compare_options *compare, const struct doppel_record *a,
                        const struct doppel_record *b, struct doppel_match *match)
{
    struct text_view query = {0}, item = {0};
    bool matches = text_view_read(a, &compare->text, &query) &&
                   text_view_read(b, &compare->text, &item) &&
                   texts_match(compare, &query, &item, match);
    text_view_free(&query);
    text_view_free(&item);
    return matches;
}

/* A threshold that was given is of the whole: then a passage alone is no match. */
static bool passages_count(const struct doppel_compare_options *compare)
{
    return compare->min_similarity < 0 && compare->max_distance < 0;
}

/* Add the passages that two texts share; those without places share them by their keys. */
static enum doppel_status match_passages(const struct text_view *query,
                                         const struct text_view *item,
                                         struct doppel_comparison *out, struct doppel_error *error)
{
    struct doppel_passage_text a = passage_text_of(query), b = passage_text_of(item);
    struct doppel_passage_options options = doppel_passage_options_default();
    struct doppel_match passages;
    if (!a.key_count || !b.key_count)
        return DOPPEL_OK;
    enum doppel_status status = doppel_match_passages(&a, &b, &options, &passages, error);
    if (status)
        return status;
    if (!passages.segment_count) {
        free((void *)passages.segments);
        return DOPPEL_OK;
    }
    if (!out->matches)
        out->match = passages;
    out->match.segments = passages.segments;
    out->match.segment_count = passages.segment_count;
    out->matches = true;
    return DOPPEL_OK;
}

/* Texts that are not alike as a whole may share passages; those that hold each other say where. */
static enum doppel_status match_text_views(const struct doppel_compare_options *compare,
                                           const struct text_view *query,
                                           const struct text_view *item,
                                           struct doppel_comparison *out,
                                           struct doppel_error *error)
{
    bool winnowed = query->scheme == DOPPEL_SCHEME_WINNOW32;
    if (query->extra.drawn_size && item->extra.drawn_size)
        return drawn_pages_match(compare, query, item, passages_count(compare), out)
                   ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the pages of a document")
                   : DOPPEL_OK;
    out->matches = texts_match(compare, query, item, &out->match);
    bool whole = out->matches && out->match.relation == DOPPEL_RELATION_SAME;
    if (whole || !(winnowed || passages_count(compare)))
        return DOPPEL_OK;
    return match_passages(query, item, out, error);
}

enum doppel_status texts_or_passages_match(const struct doppel_compare_options *compare,
                                           const struct doppel_record *a,
                                           const struct doppel_record *b,
                                           struct doppel_comparison *out,
                                           struct doppel_error *error)
{
    struct text_view query = {0}, item = {0};
    enum doppel_status status;
    TRY(text_view_load(a, &compare->text, &query, error));
    TRY(text_view_load(b, &compare->text, &item, error));
    TRY(match_text_views(compare, &query, &item, out, error));
done:
    text_view_free(&query);
    text_view_free(&item);
    return status;
}
