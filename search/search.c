/* A library, queried by records and codes. */
#include <doppel/search.h>

#include <stdio.h>
#include <stdlib.h>

#include "compare/audio.h"
#include "compare/image.h"
#include "compare/video.h"
#include "core/array.h"
#include "core/digest.h"
#include "core/try.h"
#include "search/images.h"
#include "search/other_schemes.h"
#include "search/parts.h"
#include "search/texts.h"
#include "search/videos.h"
#include "search/wanted.h"

struct doppel_search {
    struct doppel_search_options options;
    struct doppel_run *run;
    struct doppel_library *library;
    struct doppel_match_options match;
    struct search_texts *texts; /* NULL: not wanted */
    bool noticed;               /* what is left out was told */
    ARRAY(uint64_t) unreadable; /* items of which the run was told that they are */
    struct other_schemes others;
    struct list_limits limits;

    /* of the call in flight */
    const struct search_query *query;
    struct doppel_search_results *results;
    struct doppel_error *error;
    enum doppel_status status;
};

/* A query: an image, a text, a recording or a video. All borrowed. */
struct search_query {
    enum doppel_kind kind;
    const struct doppel_match_item *image;
    const struct text_view *text;
    const struct doppel_record *record; /* NULL: of a code */
};

/* What a kind of content does in its own way; a function that is NULL does nothing. */
struct searched_kind {
    /* Make what a search needs; nothing where the kind is not wanted. */
    enum doppel_status (*begin)(struct doppel_search *search, struct doppel_error *error);
    bool (*is_searched)(const struct doppel_search *search); /* NULL: whoever asks knows */
    enum doppel_status (*find)(struct doppel_search *search, const struct search_query *query,
                               struct doppel_error *error);
};

enum doppel_status doppel_search_refresh(struct doppel_search *search, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (!search->noticed)
        other_versions_report(&search->options, search->library, search->run);
    search->noticed = true;
    TRY(list_limits_load(&search->limits, search->library, &search->options.compare, error));
    for (size_t i = 0; i < DOPPEL_SEARCH_SCHEMES; i++)
        if (search->others.searches[i])
            TRY(doppel_search_refresh(search->others.searches[i], error));
done:
    return status;
}

/* ---- what is found ---- */

static bool is_taken(const struct doppel_search *search, uint64_t id)
{
    const struct doppel_search_result *result = doppel_search_results_find(search->results, id);
    return result && result->comparison.match.verified == DOPPEL_VERIFIED_EXACT;
}

static enum doppel_status append_identical_item(struct doppel_search *search, uint64_t id)
{
    struct doppel_search_result result = {.id = id};
    if (is_taken(search, id))
        return DOPPEL_OK;
    enum doppel_status status =
        doppel_compare_same(search->query->record, &result.comparison, search->error);
    if (!status && !results_append(search->results, &result))
        status = doppel_fail(search->error, DOPPEL_E_MEMORY, "no memory for the matches");
    return status;
}

static enum doppel_status append_same_bytes(struct doppel_search *search,
                                            const struct doppel_digest *digest)
{
    bool finds;
    enum doppel_status status = DOPPEL_OK;
    for (uint64_t id = 0; !digest_is_none(digest);) {
        TRY(doppel_library_next_by_bytes(search->library, digest, id, &id, search->error));
        if (!id)
            break;
        TRY(search_finds_bytes_of(&search->options, search->library, id, &finds, search->error));
        if (finds)
            TRY(append_identical_item(search, id));
    }
done:
    return status;
}

static enum doppel_status append_same_pixels(struct doppel_search *search,
                                             const struct doppel_digest *pixels)
{
    enum doppel_status status = DOPPEL_OK;
    for (uint64_t id = 0; !digest_is_none(pixels);) {
        TRY(doppel_library_by_pixels(search->library, pixels, id, &id, search->error));
        if (!id)
            break;
        TRY(append_identical_item(search, id));
    }
done:
    return status;
}

static bool keep_found(struct doppel_search *search, const struct doppel_found *found)
{
    if (!is_taken(search, found->id) && list_limits_allow(&search->limits, found) &&
        !results_append_match(search->results, found))
        search->status = DOPPEL_E_MEMORY;
    return search->status == DOPPEL_OK && !doppel_run_cancelled(search->run);
}

static bool take_match(void *context, uint64_t id, const struct doppel_match *match)
{
    struct doppel_found found = {.id = id, .match = *match};
    return keep_found(context, &found);
}

static bool take_chromaprint(void *context, const struct doppel_found *found)
{
    struct doppel_search *search = context;
    return search_may_find(&search->options, search->library, found->id)
               ? keep_found(search, found)
               : !doppel_run_cancelled(search->run);
}

/* ---- the table of kinds ---- */

static struct track_search tracks_of(struct doppel_search *search)
{
    return (struct track_search){search->run, &search->options, search->library, search->results};
}

static bool images_are_searched(const struct doppel_search *search)
{
    return doppel_compare_scheme(&search->options.compare, DOPPEL_KIND_IMAGE);
}

/* Their codes lie in the library itself. */
static enum doppel_status find_images(struct doppel_search *search,
                                      const struct search_query *query, struct doppel_error *error)
{
    const struct track_search tracks = tracks_of(search);
    const struct doppel_scheme *scheme =
        doppel_compare_scheme(&search->options.compare, DOPPEL_KIND_IMAGE);
    if (query->image->fingerprint->scheme != scheme->id)
        return doppel_fail(error, DOPPEL_E_VERSION, "the image is not of %s, which is searched",
                           scheme->name);
    if (scheme->id == DOPPEL_SCHEME_LOCAL)
        return query->record ? search_by_parts(&tracks, query->record, error)
                             : doppel_fail(error, DOPPEL_E_ARGUMENT,
                                           "keypoints have no one code to be found by");
    const struct image_search images = {tracks, &search->match, &search->limits, query->image,
                                        query->record};
    enum doppel_status status = DOPPEL_OK;
    if (scheme->id == DOPPEL_SCHEME_PHASH64 && !search->options.compare.images_compared)
        TRY(doppel_library_count_images(search->library, &search->match.compared, error));
    TRY(search_by_views(&images, error));
    bool in_videos = doppel_compare_scheme(&search->options.compare, DOPPEL_KIND_VIDEO) &&
                     query->image->fingerprint->scheme == DOPPEL_SCHEME_PHASH64 &&
                     query->image->fingerprint->code_bits == 256; /* a bare code has 64 */
    if (in_videos)
        TRY(search_by_image(&tracks, query->image, query->record, error));
done:
    return status;
}

static enum doppel_status begin_texts(struct doppel_search *search, struct doppel_error *error)
{
    return doppel_compare_scheme(&search->options.compare, DOPPEL_KIND_TEXT)
               ? search_texts_new(&search->options, search->library, search->run, &search->texts,
                                  error)
               : DOPPEL_OK;
}

static bool texts_are_searched(const struct doppel_search *search)
{
    return search->texts;
}

static enum doppel_status find_texts(struct doppel_search *search, const struct search_query *query,
                                     struct doppel_error *error)
{
    return search_texts_find(search->texts, query->text, take_match, search, error);
}

static enum doppel_status find_audio(struct doppel_search *search, const struct search_query *query,
                                     struct doppel_error *error)
{
    const struct track_search tracks = tracks_of(search);
    const struct doppel_scheme *scheme =
        doppel_compare_scheme(&search->options.compare, DOPPEL_KIND_AUDIO);
    return scheme && scheme->id == DOPPEL_SCHEME_CHROMAPRINT
               ? doppel_library_find_chromaprints(search->library, &query->record->fingerprint,
                                                  chromaprint_limit(&search->options.compare),
                                                  take_chromaprint, search, error)
               : search_by_audio(&tracks, query->record, error);
}

static enum doppel_status find_videos(struct doppel_search *search,
                                      const struct search_query *query, struct doppel_error *error)
{
    const struct track_search tracks = tracks_of(search);
    const struct doppel_scheme *scheme =
        doppel_compare_scheme(&search->options.compare, DOPPEL_KIND_VIDEO);
    return scheme && scheme->id == DOPPEL_SCHEME_FRAMES128
               ? search_by_parts(&tracks, query->record, error)
               : search_by_video(&tracks, query->record, error);
}

static const struct searched_kind searched_kinds[] = {
    [DOPPEL_KIND_UNKNOWN] = {NULL, NULL, NULL}, /* only the same bytes */
    [DOPPEL_KIND_TEXT] = {begin_texts, texts_are_searched, find_texts},
    [DOPPEL_KIND_IMAGE] = {.is_searched = images_are_searched, .find = find_images},
    [DOPPEL_KIND_AUDIO] = {.find = find_audio},
    [DOPPEL_KIND_VIDEO] = {.find = find_videos},
};
enum { SEARCHED_KINDS = sizeof searched_kinds / sizeof *searched_kinds };

static const struct searched_kind *searched_kind_of(enum doppel_kind kind)
{
    return &searched_kinds[(size_t)kind < SEARCHED_KINDS ? kind : DOPPEL_KIND_UNKNOWN];
}

/* ---- one query ---- */

static bool is_told(const struct doppel_search *search, uint64_t id)
{
    for (size_t i = 0; i < search->unreadable.count; i++)
        if (search->unreadable.items[i] == id)
            return true;
    return false;
}

static enum doppel_status tell_unreadable(struct doppel_search *search, uint64_t id,
                                          struct doppel_error *error)
{
    struct doppel_name name;
    struct doppel_error reason;
    char number[32];
    enum doppel_status status = doppel_library_name(search->library, id, &name, error);
    if (status == DOPPEL_E_MEMORY)
        return status;
    if (status) /* it is gone, or damaged as a whole */
        name = (struct doppel_name){0};
    snprintf(number, sizeof number, "item %llu", (unsigned long long)id);
    doppel_fail(&reason, DOPPEL_E_CORRUPT,
                "what the library keeps of it is damaged, and was not compared; to add its file "
                "again mends it");
    doppel_run_failed(search->run, name.path ? name.path : number, &reason);
    doppel_name_free(&name);
    return array_push(&search->unreadable, id)
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the matches");
}

/* What could not be read may be what is sought. */
static enum doppel_status note_unreadable(struct doppel_search *search, struct doppel_error *error)
{
    const struct doppel_unreadable *items = &search->results->unreadable;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < items->count && !status; i++)
        if (!is_told(search, items->ids[i]))
            status = tell_unreadable(search, items->ids[i], error);
    return status;
}

static enum doppel_status run_query(struct doppel_search *search, const struct search_query *query,
                                    struct doppel_search_results *results,
                                    struct doppel_error *error)
{
    const struct searched_kind *kind = searched_kind_of(query->kind);
    results_clear(results);
    if (kind->is_searched && !kind->is_searched(search))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "no %s is searched",
                           doppel_kind_name(query->kind));
    enum doppel_status status = DOPPEL_OK;
    search->query = query;
    search->results = results;
    search->error = error;
    search->status = DOPPEL_OK;
    if (query->record && !search->options.representatives) {
        TRY(append_same_bytes(search, &query->record->digest));
        TRY(append_same_pixels(search, &query->record->pixels));
    }
    if (kind->find)
        TRY(kind->find(search, query, error));
    TRY(note_unreadable(search, error));
    TRY(doppel_library_read_failure(search->library, error)); /* then something may be left out */
    if (search->status)
        return doppel_fail(error, search->status, "no memory for the matches");
    results_order(results);
done:
    if (status) /* it is told now: the next query is to know nothing of it */
        (void)doppel_library_read_failure(search->library, NULL);
    return status;
}

/* @param scheme by which the query was asked; NULL: by its bytes alone */
static enum doppel_status search_other_schemes(struct doppel_search *search,
                                               const struct doppel_scheme *scheme,
                                               const struct doppel_record *record, const char *name,
                                               struct doppel_search_results *results,
                                               struct doppel_error *error)
{
    const struct other_schemes_query query = {search->run, search->library, &search->options,
                                              scheme,      record,          name};
    return scheme && search->options.other_schemes
               ? other_schemes_search(&search->others, &query, results, error)
               : DOPPEL_OK;
}

enum doppel_status doppel_search_code(struct doppel_search *search,
                                      const struct doppel_fingerprint *code,
                                      struct doppel_search_results *results,
                                      struct doppel_error *error)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(code->scheme);
    if (!scheme || !code->count ||
        (scheme->kind != DOPPEL_KIND_IMAGE && scheme->kind != DOPPEL_KIND_TEXT))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "a code is of an image or a text, and there is one at least");
    const struct doppel_scheme *searched =
        doppel_compare_scheme(&search->options.compare, scheme->kind);
    if (searched && searched->id != scheme->id)
        return doppel_fail(error, DOPPEL_E_VERSION, "the code is of %s, what is searched of %s",
                           scheme->name, searched->name);
    struct doppel_match_item image = {code, 100};
    struct text_view text = text_view_of_code(code);
    const struct search_query query = {.kind = scheme->kind, .image = &image, .text = &text};
    enum doppel_status status = run_query(search, &query, results, error);
    return status ? status : search_other_schemes(search, scheme, NULL, NULL, results, error);
}

enum doppel_status doppel_search_record(struct doppel_search *search,
                                        const struct doppel_record *record, const char *name,
                                        struct doppel_search_results *results,
                                        struct doppel_error *error)
{
    struct doppel_match_item image = {&record->fingerprint, record->quality};
    struct text_view text = {0};
    const struct search_query query = {
        .kind = record->kind, .image = &image, .text = &text, .record = record};
    enum doppel_status status = DOPPEL_OK;
    if (query.kind == DOPPEL_KIND_TEXT)
        status = text_view_load(record, &search->options.compare.text, &text, error);
    if (status == DOPPEL_E_CORRUPT)
        return doppel_fail(error, status, "%s: what is known of it is damaged", name);
    if (status)
        return status;
    TRY(run_query(search, &query, results, error));
    results->obstacle = doppel_compare_obstacle(record, &search->options.compare);
    TRY(search_other_schemes(search, doppel_compare_scheme(&search->options.compare, query.kind),
                             record, name, results, error));
done:
    text_view_free(&text);
    return status;
}

enum doppel_status doppel_search_exact(struct doppel_search *search,
                                       const struct doppel_exact_digests *digests,
                                       const struct doppel_record *record,
                                       struct doppel_search_results *results, bool *out_found,
                                       struct doppel_error *error)
{
    static const struct doppel_record nothing; /* of what could not be read */
    struct doppel_search_result result = {0};
    uint64_t ids[DOPPEL_EXACT_KINDS];
    enum doppel_status status;
    *out_found = false;
    TRY(doppel_library_by_any_exact(search->library, digests, ids, error));
    for (size_t i = 0; i < DOPPEL_EXACT_KINDS && !result.id; i++)
        result.id = ids[i];
    if (!result.id)
        return DOPPEL_OK;
    TRY(doppel_compare_same(record->error.status ? &nothing : record, &result.comparison, error));
    TRY(doppel_search_results_add(results, &result, error));
    *out_found = true;
done:
    return status;
}

/* ---- life ---- */

struct doppel_search_options doppel_search_options_default(void)
{
    return (struct doppel_search_options){.compare = doppel_compare_options_default()};
}

enum doppel_status doppel_search_new(struct doppel_run *run, struct doppel_library *library,
                                     const struct doppel_search_options *options,
                                     struct doppel_search **out, struct doppel_error *error)
{
    struct doppel_search *search = calloc(1, sizeof *search);
    if (!search)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the library");
    *search = (struct doppel_search){
        .options = options ? *options : doppel_search_options_default(),
        .run = run,
        .library = library,
    };
    search->match = match_options_from(&search->options.compare);
    doppel_run_watch(run, library);
    (void)doppel_library_read_failure(library, NULL); /* of what came before */
    enum doppel_status status =
        list_limits_load(&search->limits, library, &search->options.compare, error);
    for (size_t i = 0; i < SEARCHED_KINDS && !status; i++)
        status = searched_kinds[i].begin ? searched_kinds[i].begin(search, error) : DOPPEL_OK;
    if (status)
        doppel_search_free(search);
    else
        *out = search;
    return status;
}

void doppel_search_free(struct doppel_search *search)
{
    if (!search)
        return;
    doppel_library_set_watch(search->library, NULL);
    search_texts_free(search->texts);
    other_schemes_free(&search->others);
    array_free(&search->unreadable);
    free(search);
}
