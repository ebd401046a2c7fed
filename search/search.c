/* A library, asked by files and codes. */
#include "search/search.h"

#include <stdlib.h>

#include "core/digest.h"
#include "search/videos.h"
#include "search/texts.h"
#include "compare/image.h"
#include "tools/output/item_name.h"
#include "tools/memory.h"
#include "search/other_schemes.h"
#include "compare/audio.h"
#include "compare/video.h"

struct library_search {
    const struct settings *settings;
    const struct doppel_compare_options *compare;
    struct doppel_run *run;
    struct doppel_library *library;
    struct doppel_match_options match;
    struct doppel_matcher *matcher;           /* of pictures; NULL: not wanted */
    struct find_texts *texts;                 /* NULL: not wanted */
    struct doppel_chromaprints *chromaprints; /* NULL: not wanted */
    struct find_known known;
    struct video_looks *looks; /* NULL: nothing is refined */
    uint64_t next, last;       /* ids: what is taken in next, and was last */
    uint64_t others;           /* items of another version */
    struct other_schemes schemes[DOPPEL_KIND_VIDEO + 1];
    bool records; /* those of corpora are searched, too */
    bool leaders; /* but for those who follow others */

    /* of the call under way */
    const struct search_query *query;
    struct answers *answers;
    struct doppel_error *error;
    enum doppel_status status;
};

/* What is asked for: a picture, a text, a recording or a video. All borrowed. */
struct search_query {
    enum doppel_kind kind;
    const struct doppel_match_item *image;
    const struct text_view *text;
    const struct doppel_record *record; /* NULL: of a code */
    const struct intake_file *file;     /* that was read; NULL: none */
};

/* ---- the library in memory ---- */

/* With --no-video videos of the library are wanted for their audio. */
static bool is_wanted(struct library_search *search, const struct doppel_record *record)
{
    const struct doppel_scheme *recordings =
        doppel_compare_scheme(search->compare, DOPPEL_KIND_AUDIO);
    bool by_audio =
        search->settings->no_video && recordings && recordings->id == DOPPEL_SCHEME_PEAKS32;
    return doppel_record_has_scheme(record, doppel_compare_scheme(search->compare, record->kind),
                                    &search->others) ||
           (by_audio && is_video(record));
}

/* Of texts those who follow others are wanted, too: they may have the same words as a query. */
static bool leads(struct library_search *search, uint64_t id)
{
    uint64_t leader;
    return !search->leaders || doppel_library_leader(search->library, id, &leader, NULL) ||
           leader == id;
}

static bool take_item(void *context, const struct doppel_item *item)
{
    struct library_search *search = context;
    const struct doppel_record *record = &item->record;
    search->last = item->id;
    if (record->error.status) {
        doppel_run_fail_input(search->run, item->path, record->error.message);
        return !doppel_run_cancelled(search->run);
    }
    if (record->scheme == DOPPEL_SCHEME_NONE && item_has_file(item) && !search->leaders)
        search->status = find_known_add(&search->known, item, search->error);
    other_schemes_note(search->schemes, search->settings, item);
    if (!is_wanted(search, record))
        return search->status == DOPPEL_OK;
    struct doppel_match_item entry = {&record->fingerprint, record->quality};
    bool leader = leads(search, item->id);
    if (record->kind == DOPPEL_KIND_TEXT)
        search->status = find_texts_add(search->texts, item, leader, search->run, search->error);
    else if (!leader)
        return !doppel_run_cancelled(search->run);
    else if (record->scheme == DOPPEL_SCHEME_CHROMAPRINT)
        search->status = doppel_chromaprints_add(search->chromaprints, item->id,
                                                 &record->fingerprint, search->error);
    else if (record->kind == DOPPEL_KIND_IMAGE)
        search->status = doppel_matcher_add(search->matcher, item->id, &entry, search->error);
    if (search->status == DOPPEL_OK)
        search->status = find_known_add(&search->known, item, search->error);
    return search->status == DOPPEL_OK && !doppel_run_cancelled(search->run);
}

/* Whether the library's texts were read as those that are asked for. */
static bool are_wanted_texts(struct library_search *search)
{
    struct doppel_text_options options;
    const struct doppel_scheme *scheme = doppel_compare_scheme(search->compare, DOPPEL_KIND_TEXT);
    if (!search->texts || doppel_library_text_options(search->library, &options, NULL, NULL))
        return false;
    enum doppel_scheme_id id =
        options.lanes == 256 ? DOPPEL_SCHEME_MINHASH256 : DOPPEL_SCHEME_MINHASH128;
    return scheme->id == id &&
           scheme->version == doppel_text_version(doppel_scheme_by_id(id)->version, &options);
}

static bool take_record(void *context, const struct doppel_library_text *text)
{
    struct library_search *search = context;
    search->last = text->id;
    if (text->error.status)
        doppel_run_fail_input(search->run, "the library", text->error.message);
    else if (search->records)
        search->status = find_texts_add_record(search->texts, text, !search->leaders || text->leads,
                                               search->error);
    return search->status == DOPPEL_OK && !doppel_run_cancelled(search->run);
}

static enum doppel_status make_sets(struct library_search *search, struct doppel_error *error)
{
    const struct doppel_scheme *images = doppel_compare_scheme(search->compare, DOPPEL_KIND_IMAGE);
    enum doppel_status status = DOPPEL_OK;
    if (images)
        status = doppel_matcher_new(images->id, &search->match, 1, &search->matcher, error);
    if (!status && doppel_compare_scheme(search->compare, DOPPEL_KIND_TEXT))
        status = find_texts_new(search->compare, search->library, &search->texts, error);
    const struct doppel_scheme *recordings =
        doppel_compare_scheme(search->compare, DOPPEL_KIND_AUDIO);
    if (!status && recordings && recordings->id == DOPPEL_SCHEME_CHROMAPRINT)
        status = doppel_chromaprints_new(&search->chromaprints, error);
    if (status)
        return status;
    return status;
}

static void notice_other_versions(const struct library_search *search)
{
    bool one = search->others == 1;
    if (search->others)
        doppel_run_notice(
            search->run,
            "%llu item%s of another version of the scheme, or of other options, left out; "
            "'doppel add --refresh' computes %s anew",
            (unsigned long long)search->others, one ? "" : "s", one ? "it" : "them");
}

enum doppel_status library_search_catch_up(struct library_search *search,
                                           struct doppel_error *error)
{
    const struct doppel_everything_visitor everything = {search->next, take_item, take_record,
                                                         search};
    search->status = DOPPEL_OK;
    search->error = error;
    search->records = are_wanted_texts(search);
    enum doppel_status status = doppel_library_each_of_all(search->library, &everything, error);
    if (search->next == 1)
        notice_other_versions(search);
    search->next = search->last + 1;
    return search->status ? search->status : status;
}

/* ---- one query ---- */

static bool is_taken(const struct library_search *search, uint64_t id)
{
    const struct answer *answer = answers_of(search->answers, id);
    return answer && answer->pair.match.verified == DOPPEL_VERIFIED_EXACT;
}

static void take_same(struct library_search *search, uint64_t id)
{
    struct answer answer = {.id = id};
    if (is_taken(search, id))
        return;
    search->status = doppel_compare_same(&search->query->file->record, &answer.pair, search->error);
    if (!search->status && !answers_keep(search->answers, &answer))
        search->status = DOPPEL_E_MEMORY;
}

/* What has the same bytes, or pixels. */
static void take_identical(struct library_search *search)
{
    const struct doppel_record *record = &search->query->file->record;
    size_t at = 0;
    uint64_t id;
    while ((id = find_known_next(&search->known, &record->digest, &at)))
        take_same(search, id);
    if (digest_is_none(&record->pixels))
        return;
    while (!doppel_library_by_pixels(search->library, &record->pixels, id, &id, NULL) && id)
        take_same(search, id);
}

static bool keep_found(struct library_search *search, const struct doppel_found *found)
{
    if (!is_taken(search, found->id) && !answers_keep_match(search->answers, found))
        search->status = DOPPEL_E_MEMORY;
    return search->status == DOPPEL_OK && !doppel_run_cancelled(search->run);
}

static bool take_match(void *context, uint64_t id, const struct doppel_match *match)
{
    struct doppel_found found = {.id = id, .match = *match};
    return keep_found(context, &found);
}

static bool take_found(void *context, const struct doppel_found *found)
{
    return keep_found(context, found);
}

static bool pixels_agree(struct library_search *search, struct doppel_found *found)
{
    struct doppel_item item;
    struct doppel_image_features query, other;
    struct doppel_image_verdict verdict = verdict_of(&found->match);
    if (!search->query->file ||
        !doppel_record_image_features(&search->query->file->record, &query) ||
        doppel_library_get(search->library, found->id, true, &item, NULL))
        return false;
    bool same = doppel_record_image_features(&item.record, &other) &&
                doppel_image_check_pixels(&query, &other, &search->match.image, &verdict);
    doppel_item_free(&item);
    if (same)
        doppel_match_from_pixels(&verdict, true, &found->match);
    return same;
}

static bool take_image(void *context, const struct doppel_found *given)
{
    struct library_search *search = context;
    struct doppel_found found = *given;
    if (is_taken(search, found.id) || (found.borderline && !pixels_agree(search, &found)))
        return !doppel_run_cancelled(search->run);
    return keep_found(search, &found);
}

static enum doppel_status find_images(struct library_search *search,
                                      const struct search_query *query,
                                      const struct video_search *videos, struct doppel_error *error)
{
    enum doppel_status status =
        doppel_matcher_find(search->matcher, query->image, take_image, search, error);
    bool in_videos = doppel_compare_scheme(search->compare, DOPPEL_KIND_VIDEO) &&
                     query->image->fingerprint->scheme == DOPPEL_SCHEME_PHASH64;
    return status || !in_videos ? status : find_by_image(videos, query->image, error);
}

static enum doppel_status find_matches(struct library_search *search,
                                       const struct search_query *query, struct doppel_error *error)
{
    const struct intake_file *read = query->file;
    const struct video_file file = {read ? read->path : NULL, read ? &read->stamp : NULL};
    const struct video_search videos = {search->compare,    search->run,     search->library,
                                        &search->known,     search->answers, search->looks,
                                        read ? &file : NULL};
    switch (query->kind) {
    case DOPPEL_KIND_TEXT:
        return find_texts_ask(search->texts, query->text, take_match, search, error);
    case DOPPEL_KIND_VIDEO:
        return find_by_video(&videos, query->record, error);
    case DOPPEL_KIND_AUDIO:
        return search->chromaprints ? chromaprints_find(search->compare, search->chromaprints,
                                                        query->record, take_found, search, error)
                                    : find_by_audio(&videos, query->record, error);
    default:
        return find_images(search, query, &videos, error);
    }
}

static enum doppel_status ask(struct library_search *search, const struct search_query *query,
                              struct answers *answers, struct doppel_error *error)
{
    answers_clear(answers);
    search->query = query;
    search->answers = answers;
    search->error = error;
    search->status = DOPPEL_OK;
    if (query->file && !search->leaders)
        take_identical(search);
    enum doppel_status status = find_matches(search, query, error);
    if (search->status)
        return doppel_fail(error, search->status, "no memory for the matches");
    if (!status)
        answers_order(answers);
    return status;
}

enum doppel_status library_search_code(struct library_search *search,
                                       const struct doppel_fingerprint *code,
                                       struct answers *answers, struct doppel_error *error)
{
    struct doppel_match_item image = {code, 100};
    struct text_view text = text_view_of_code(code);
    const struct search_query query = {
        .kind = doppel_scheme_by_id(code->scheme)->kind, .image = &image, .text = &text};
    return ask(search, &query, answers, error);
}

enum doppel_status library_search_file(struct library_search *search,
                                       const struct intake_file *file, struct answers *answers,
                                       struct doppel_error *error)
{
    const struct doppel_record *record = &file->record;
    struct doppel_match_item image = {&record->fingerprint, record->quality};
    struct text_view text = {0};
    const struct search_query query = {
        .kind = record->kind, .image = &image, .text = &text, .record = record, .file = file};
    if (query.kind == DOPPEL_KIND_TEXT && !text_view_read(record, &search->compare->text, &text))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "%s: what is known of it is damaged",
                           file->path);
    enum doppel_status status = ask(search, &query, answers, error);
    if (!status && !answers->items.count)
        other_schemes_say(search->schemes, search->settings, query.kind, search->run);
    text_view_free(&text);
    return status;
}

/* ---- life ---- */

enum doppel_status library_search_new(const struct settings *settings,
                                      const struct doppel_compare_options *compare,
                                      struct doppel_run *run, struct doppel_library *library,
                                      struct library_search **out, struct doppel_error *error)
{
    struct library_search *search = must_allocate(sizeof *search);
    *search = (struct library_search){
        .settings = settings,
        .compare = compare,
        .run = run,
        .library = library,
        .match = match_options_from(compare),
        .next = 1,
    };
    if (settings->refine)
        search->looks = must_have(video_looks_new(run));
    enum doppel_status status = make_sets(search, error);
    if (status)
        library_search_free(search);
    else
        *out = search;
    return status;
}

void library_search_leaders(struct library_search *search)
{
    search->leaders = true;
}

void library_search_free(struct library_search *search)
{
    if (!search)
        return;
    doppel_matcher_free(search->matcher);
    find_texts_free(search->texts);
    doppel_chromaprints_free(search->chromaprints);
    find_known_free(&search->known);
    video_looks_free(search->looks);
    free(search);
}
