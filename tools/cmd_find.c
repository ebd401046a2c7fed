/* doppel find FILE...: what in the library is FILE, holds FILE, or is held by it. */
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "tools/collection.h"
#include "tools/commands.h"
#include "tools/find_print.h"
#include "tools/find_repeats.h"
#include "tools/find_sounds.h"
#include "tools/find_texts.h"
#include "tools/grouping.h"
#include "tools/intake.h"
#include "tools/open_cache.h"
#include "tools/memory.h"
#include "tools/signals.h"
#include "tools/sound_judge.h"

struct known_bytes {
    struct doppel_digest digest;
    uint64_t id;
};

struct find {
    const struct settings *settings;
    struct report *report;
    struct doppel_match_options match;
    struct doppel_library *library;
    struct doppel_matcher *matcher;           /* of pictures; NULL: not wanted */
    struct find_texts *texts;                 /* NULL: not wanted */
    struct doppel_chromaprints *chromaprints; /* NULL: not wanted */
    ARRAY(struct known_bytes) bytes;          /* ordered by id */
    ARRAY(struct doppel_found) found;
    const struct intake_file *query; /* NULL for --code */
    struct find_print print;
    struct doppel_error *error;
    enum doppel_status status;
    bool records;    /* those of corpora are searched, too */
    uint64_t others; /* items of another version */
};

/* What is asked for: a picture, a text or a sound. */
struct query {
    const struct doppel_match_item *picture;
    const struct text_view *text;      /* NULL: none */
    const struct doppel_record *sound; /* NULL: none */
};

/* ---- the library in memory ---- */

static bool take_item(void *context, const struct doppel_item *item)
{
    struct find *find = context;
    const struct doppel_record *record = &item->record;
    if (record->error.status) {
        report_input(find->report, item->path, record->error.message);
        return !signals_stopped();
    }
    if (!is_of_wanted_scheme(find->settings, record, &find->others))
        return true;
    struct known_bytes bytes = {record->digest, item->id};
    struct doppel_match_item entry = {&record->fingerprint, record->quality};
    if (record->kind == DOPPEL_KIND_TEXT)
        find->status = find_texts_add(find->texts, item, find->report, find->error);
    else if (record->scheme == DOPPEL_SCHEME_CHROMAPRINT)
        find->status = doppel_chromaprints_add(find->chromaprints, item->id, &record->fingerprint,
                                               find->error);
    else if (record->kind == DOPPEL_KIND_IMAGE)
        find->status = doppel_matcher_add(find->matcher, item->id, &entry, find->error);
    if (find->status == DOPPEL_OK && !array_push(&find->bytes, bytes))
        find->status = doppel_fail(find->error, DOPPEL_E_MEMORY, "no memory for the library");
    return find->status == DOPPEL_OK && !signals_stopped();
}

/* Whether the library's texts were read as those that are asked for. */
static bool are_wanted_texts(struct find *find)
{
    struct doppel_text_options options;
    const struct doppel_scheme *scheme = settings_scheme(find->settings, DOPPEL_KIND_TEXT);
    if (!find->texts || doppel_library_text_options(find->library, &options, NULL, NULL))
        return false;
    enum doppel_scheme_id id =
        options.lanes == 256 ? DOPPEL_SCHEME_MINHASH256 : DOPPEL_SCHEME_MINHASH128;
    return scheme->id == id &&
           scheme->version == doppel_text_version(doppel_scheme_by_id(id)->version, &options);
}

static bool take_record(void *context, const struct doppel_library_text *text)
{
    struct find *find = context;
    if (text->error.status)
        report_input(find->report, "the library", text->error.message);
    else if (find->records)
        find->status = find_texts_add_record(find->texts, text, find->error);
    return find->status == DOPPEL_OK && !signals_stopped();
}

static enum doppel_status load_library(struct find *find, struct doppel_error *error)
{
    const struct doppel_scheme *pictures = settings_scheme(find->settings, DOPPEL_KIND_IMAGE);
    enum doppel_status status = DOPPEL_OK;
    if (pictures)
        status = doppel_matcher_new(pictures->id, &find->match, 1, &find->matcher, error);
    if (!status && settings_scheme(find->settings, DOPPEL_KIND_TEXT))
        status = find_texts_new(find->settings, find->library, &find->texts, error);
    const struct doppel_scheme *sounds = settings_scheme(find->settings, DOPPEL_KIND_AUDIO);
    if (!status && sounds && sounds->id == DOPPEL_SCHEME_CHROMAPRINT)
        status = doppel_chromaprints_new(&find->chromaprints, error);
    if (status)
        return status;
    find->records = are_wanted_texts(find);
    const struct everything everything = {take_item, take_record, find};
    status = each_of_all(find->library, &everything, error);
    say_other_versions(find->report, find->others);
    return find->status ? find->status : status;
}

/* ---- one query ---- */

/* Given (free). */
static const struct doppel_segment *copy_segments(const struct doppel_match *match)
{
    size_t size = match->segment_count * sizeof *match->segments;
    struct doppel_segment *copy = must_allocate(size);
    memcpy(copy, match->segments, size);
    return copy;
}

/* Its segments are copied. */
static void keep_found(struct find *find, const struct doppel_found *given)
{
    struct doppel_found found = *given;
    found.match.segments = found.match.segment_count ? copy_segments(&found.match) : NULL;
    if (array_push(&find->found, found))
        return;
    free((void *)found.match.segments);
    find->status = DOPPEL_E_MEMORY;
}

static void describe_identical(const struct doppel_record *record, struct doppel_segment *segment,
                               struct doppel_match *out)
{
    *out = (struct doppel_match){.kind = record->kind,
                                 .scheme = record->scheme,
                                 .relation = DOPPEL_RELATION_SAME,
                                 .verified = DOPPEL_VERIFIED_EXACT,
                                 .bits = distance_bits(record->scheme),
                                 .similarity = 1};
    if (record->kind == DOPPEL_KIND_TEXT || record->scheme == DOPPEL_SCHEME_CHROMAPRINT)
        out->false_positive_rate = -1;
    if (record->scheme == DOPPEL_SCHEME_PEAKS32)
        describe_same_sound(record, segment, out);
}

static void take_identical(struct find *find)
{
    const struct doppel_digest *digest = &find->query->record.digest;
    struct doppel_segment segment;
    for (size_t i = 0; i < find->bytes.count; i++) {
        struct doppel_found found = {.id = find->bytes.items[i].id};
        if (memcmp(&find->bytes.items[i].digest, digest, sizeof *digest) != 0)
            continue;
        describe_identical(&find->query->record, &segment, &found.match);
        keep_found(find, &found);
    }
}

static bool is_taken(const struct find *find, uint64_t id)
{
    for (size_t i = 0; i < find->found.count; i++)
        if (find->found.items[i].match.verified == DOPPEL_VERIFIED_EXACT &&
            find->found.items[i].id == id)
            return true;
    return false;
}

static void forget_found(struct find *find)
{
    for (size_t i = 0; i < find->found.count; i++)
        free((void *)find->found.items[i].match.segments);
    find->found.count = 0;
}

static bool take_text(void *context, uint64_t id, const struct doppel_match *match)
{
    struct find *find = context;
    struct doppel_found found = {.id = id, .match = *match};
    if (!is_taken(find, id))
        keep_found(find, &found);
    return find->status == DOPPEL_OK && !signals_stopped();
}

static bool pixels_agree(struct find *find, struct doppel_found *found)
{
    struct doppel_item item;
    struct doppel_image_features query, other;
    struct doppel_image_verdict verdict = verdict_of(&found->match);
    if (!find->query || !features_of_record(&find->query->record, &query) ||
        doppel_library_get(find->library, found->id, true, &item, NULL))
        return false;
    bool same = features_of_record(&item.record, &other) &&
                doppel_image_check_pixels(&query, &other, &find->match.image, &verdict);
    doppel_item_free(&item);
    if (same)
        doppel_match_from_pixels(&verdict, true, &found->match);
    return same;
}

static bool take_found(void *context, const struct doppel_found *given)
{
    struct find *find = context;
    struct doppel_found found = *given;
    if (is_taken(find, found.id) || (found.borderline && !pixels_agree(find, &found)))
        return !signals_stopped();
    if (!array_push(&find->found, found))
        find->status = DOPPEL_E_MEMORY;
    return find->status == DOPPEL_OK && !signals_stopped();
}

static bool take_sound(void *context, const struct doppel_found *found)
{
    struct find *find = context;
    if (!is_taken(find, found->id) && found->match.similarity >= find->settings->min_similarity)
        keep_found(find, found);
    return find->status == DOPPEL_OK && !signals_stopped();
}

/* Sounds by their score, near misses behind the matches. */
static int better_sound(const struct doppel_found *a, const struct doppel_found *b)
{
    bool a_exact = a->match.verified == DOPPEL_VERIFIED_EXACT,
         b_exact = b->match.verified == DOPPEL_VERIFIED_EXACT;
    if (a->borderline != b->borderline)
        return a->borderline ? 1 : -1;
    if (a_exact != b_exact)
        return a_exact ? -1 : 1;
    if (a->match.score != b->match.score)
        return a->match.score < b->match.score ? 1 : -1;
    return (a->match.similarity < b->match.similarity) -
           (a->match.similarity > b->match.similarity);
}

static int best_first(const void *left, const void *right)
{
    const struct doppel_found *a = left, *b = right;
    int order = a->match.kind == DOPPEL_KIND_AUDIO ? better_sound(a, b) : 0;
    if (order)
        return order;
    if (a->match.kind != DOPPEL_KIND_AUDIO && a->match.similarity != b->match.similarity)
        return a->match.similarity > b->match.similarity ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

static enum doppel_status find_matches(struct find *find, const struct query *query,
                                       struct doppel_error *error)
{
    if (query->text)
        return find_texts_ask(find->texts, query->text, take_text, find, error);
    if (query->sound && find->chromaprints)
        return chromaprints_find(find->settings, find->chromaprints, query->sound, take_sound, find,
                                 error);
    if (query->sound)
        return find_sounds(find->settings, find->library, query->sound, take_sound, find, error);
    return doppel_matcher_find(find->matcher, query->picture, take_found, find, error);
}

static enum doppel_status ask(struct find *find, const char *name, const struct query *query,
                              struct doppel_error *error)
{
    forget_found(find);
    find->status = DOPPEL_OK;
    if (find->query)
        take_identical(find);
    enum doppel_status status = find_matches(find, query, error);
    if (find->status)
        return doppel_fail(error, find->status, "no memory for the matches");
    if (status)
        return status;
    if (find->found.count)
        qsort(find->found.items, find->found.count, sizeof *find->found.items, best_first);
    return find_print(&find->print, name, find->found.items, find->found.count, error);
}

/* ---- the queries ---- */

static enum doppel_status ask_code(struct find *find, struct doppel_error *error)
{
    const struct doppel_scheme *scheme =
        settings_scheme(find->settings, find->settings->scheme->kind);
    struct doppel_fingerprint fingerprint;
    enum doppel_status status =
        fingerprint_from_hex(scheme, find->settings->code, &fingerprint, error);
    if (status)
        return status;
    struct doppel_match_item picture = {&fingerprint, 100};
    struct text_view text = text_view_of_code(&fingerprint);
    struct query query = {.picture = &picture,
                          .text = scheme->kind == DOPPEL_KIND_TEXT ? &text : NULL};
    status = ask(find, find->settings->code, &query, error);
    doppel_fingerprint_free(&fingerprint);
    return status;
}

static enum doppel_status ask_file(struct find *find, const struct intake_file *file,
                                   struct doppel_error *error)
{
    struct doppel_match_item picture = {&file->record.fingerprint, file->record.quality};
    struct text_view text;
    struct query query = {.picture = &picture};
    if (text_view_read(&file->record, find->settings, &text))
        query.text = &text;
    if (file->record.kind == DOPPEL_KIND_AUDIO)
        query.sound = &file->record;
    find->query = file;
    progress_clear(&find->report->progress);
    enum doppel_status status = ask(find, file->path, &query, error);
    if (query.text)
        text_view_free(&text);
    return status;
}

static enum doppel_status ask_files(struct find *find, struct doppel_error *error)
{
    struct doppel_cache *cache;
    enum doppel_status status = open_cache(find->settings, find->report, &cache, error);
    if (status)
        return status;
    struct walk_options walk = walk_options_from(find->settings);
    walk.every_name = walk.stdin_operand = true;
    struct intake_options options = {
        .settings = find->settings,
        .report = find->report,
        .walk = &walk,
        .cache = cache,
        .attachments = find->match.check_pixels,
    };
    struct intake *intake = NULL;
    struct intake_file file;
    status = intake_new(&options, &intake, error);
    while (status == DOPPEL_OK && (status = intake_next(intake, &file, error)) == DOPPEL_OK) {
        status = ask_file(find, &file, error);
        intake_file_free(&file);
    }
    intake_free(intake);
    doppel_cache_close(cache);
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
}

int cmd_find(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    if (settings->repeats)
        return find_repeats(settings, report);
    struct find find = {.settings = settings,
                        .report = report,
                        .match = match_options_from(settings),
                        .error = &error};
    if (open_library(settings, false, true, &find.library, &error))
        return report_fatal(report, "%s", error.message);
    find.print = (struct find_print){.settings = settings,
                                     .library = find.library,
                                     .output = find_print_output(settings, report)};
    enum doppel_status status = load_library(&find, &error);
    if (status == DOPPEL_OK)
        status = settings->code ? ask_code(&find, &error) : ask_files(&find, &error);
    bool written = output_finish(find.print.output);
    doppel_matcher_free(find.matcher);
    find_texts_free(find.texts);
    doppel_chromaprints_free(find.chromaprints);
    doppel_library_close(find.library);
    array_free(&find.bytes);
    forget_found(&find);
    array_free(&find.found);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    if (!written)
        return EXIT_WRONG_USE;
    return find.print.matched ? EXIT_DONE : EXIT_NO_MATCH;
}
