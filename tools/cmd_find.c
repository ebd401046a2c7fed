/* doppel find FILE...: what in the library is FILE, holds FILE, or is held by it. */
#include "tools/answers.h"
#include "tools/collection.h"
#include "tools/commands.h"
#include "tools/find_films.h"
#include "tools/find_known.h"
#include "tools/find_print.h"
#include "tools/find_repeats.h"
#include "tools/find_texts.h"
#include "tools/grouping.h"
#include "tools/intake.h"
#include "tools/open_cache.h"
#include "tools/signals.h"
#include "tools/sound_judge.h"

struct find {
    const struct settings *settings;
    struct report *report;
    struct doppel_match_options match;
    struct doppel_library *library;
    struct doppel_matcher *matcher;           /* of pictures; NULL: not wanted */
    struct find_texts *texts;                 /* NULL: not wanted */
    struct doppel_chromaprints *chromaprints; /* NULL: not wanted */
    struct find_known known;
    struct answers answers;
    struct film_looks *looks;        /* NULL: nothing is refined */
    const struct intake_file *query; /* NULL for --code */
    struct find_print print;
    struct doppel_error *error;
    enum doppel_status status;
    bool records;    /* those of corpora are searched, too */
    uint64_t others; /* items of another version */
};

/* What is asked for: a picture, a text, a sound or a film. */
struct query {
    enum doppel_kind kind;
    const struct doppel_match_item *picture;
    const struct text_view *text;
    const struct doppel_record *record; /* NULL: of a code */
};

/* ---- the library in memory ---- */

/* With --no-video films of the library are wanted for their sound. */
static bool is_wanted(struct find *find, const struct doppel_record *record)
{
    const struct doppel_scheme *sounds = settings_scheme(find->settings, DOPPEL_KIND_AUDIO);
    bool by_sound = find->settings->no_video && sounds && sounds->id == DOPPEL_SCHEME_PEAKS32;
    return is_of_wanted_scheme(find->settings, record, &find->others) ||
           (by_sound && is_film(record));
}

static bool take_item(void *context, const struct doppel_item *item)
{
    struct find *find = context;
    const struct doppel_record *record = &item->record;
    if (record->error.status) {
        report_input(find->report, item->path, record->error.message);
        return !signals_stopped();
    }
    if (!is_wanted(find, record))
        return true;
    struct doppel_match_item entry = {&record->fingerprint, record->quality};
    if (record->kind == DOPPEL_KIND_TEXT)
        find->status = find_texts_add(find->texts, item, find->report, find->error);
    else if (record->scheme == DOPPEL_SCHEME_CHROMAPRINT)
        find->status = doppel_chromaprints_add(find->chromaprints, item->id, &record->fingerprint,
                                               find->error);
    else if (record->kind == DOPPEL_KIND_IMAGE)
        find->status = doppel_matcher_add(find->matcher, item->id, &entry, find->error);
    if (find->status == DOPPEL_OK)
        find->status = find_known_add(&find->known, item, find->error);
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

static void take_identical(struct find *find)
{
    size_t at = 0;
    for (uint64_t id; (id = find_known_next(&find->known, &find->query->record.digest, &at));) {
        struct answer answer = {.id = id};
        pair_of_same_bytes(&find->query->record, &answer.pair);
        if (!answers_keep(&find->answers, &answer))
            find->status = DOPPEL_E_MEMORY;
    }
}

static bool is_taken(const struct find *find, uint64_t id)
{
    const struct answer *answer = answers_of(&find->answers, id);
    return answer && answer->pair.match.verified == DOPPEL_VERIFIED_EXACT;
}

static bool keep_found(struct find *find, const struct doppel_found *found)
{
    if (!is_taken(find, found->id) && !answers_keep_match(&find->answers, found))
        find->status = DOPPEL_E_MEMORY;
    return find->status == DOPPEL_OK && !signals_stopped();
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

static bool take_picture(void *context, const struct doppel_found *given)
{
    struct find *find = context;
    struct doppel_found found = *given;
    if (is_taken(find, found.id) || (found.borderline && !pixels_agree(find, &found)))
        return !signals_stopped();
    return keep_found(find, &found);
}

static enum doppel_status find_pictures(struct find *find, const struct query *query,
                                        const struct film_search *films, struct doppel_error *error)
{
    enum doppel_status status =
        doppel_matcher_find(find->matcher, query->picture, take_picture, find, error);
    bool in_films = settings_scheme(find->settings, DOPPEL_KIND_VIDEO) &&
                    query->picture->fingerprint->scheme == DOPPEL_SCHEME_PHASH64;
    return status || !in_films ? status : find_by_picture(films, query->picture, error);
}

static enum doppel_status find_matches(struct find *find, const struct query *query,
                                       struct doppel_error *error)
{
    const struct film_file file = {find->query ? find->query->path : NULL,
                                   find->query ? &find->query->stamp : NULL};
    const struct film_search films = {find->settings, find->library, &find->known,
                                      &find->answers, find->looks,   find->query ? &file : NULL};
    switch (query->kind) {
    case DOPPEL_KIND_TEXT:
        return find_texts_ask(find->texts, query->text, take_match, find, error);
    case DOPPEL_KIND_VIDEO:
        return find_by_film(&films, query->record, error);
    case DOPPEL_KIND_AUDIO:
        return find->chromaprints ? chromaprints_find(find->settings, find->chromaprints,
                                                      query->record, take_found, find, error)
                                  : find_by_sound(&films, query->record, error);
    default:
        return find_pictures(find, query, &films, error);
    }
}

static enum doppel_status ask(struct find *find, const char *name, const struct query *query,
                              struct doppel_error *error)
{
    answers_clear(&find->answers);
    find->status = DOPPEL_OK;
    if (find->query)
        take_identical(find);
    enum doppel_status status = find_matches(find, query, error);
    if (find->status)
        return doppel_fail(error, find->status, "no memory for the matches");
    if (status)
        return status;
    answers_order(&find->answers);
    return find_print(&find->print, name, &find->answers, error);
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
    struct query query = {.kind = scheme->kind, .picture = &picture, .text = &text};
    status = ask(find, find->settings->code, &query, error);
    doppel_fingerprint_free(&fingerprint);
    return status;
}

static enum doppel_status ask_file(struct find *find, const struct intake_file *file,
                                   struct doppel_error *error)
{
    struct doppel_match_item picture = {&file->record.fingerprint, file->record.quality};
    struct text_view text = {0};
    struct query query = {
        .kind = file->record.kind, .picture = &picture, .text = &text, .record = &file->record};
    if (query.kind == DOPPEL_KIND_TEXT && !text_view_read(&file->record, find->settings, &text))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "%s: what is known of it is damaged",
                           file->path);
    find->query = file;
    progress_clear(&find->report->progress);
    enum doppel_status status = ask(find, file->path, &query, error);
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
    if (settings->refine)
        find.looks = film_looks_new(settings);
    enum doppel_status status = load_library(&find, &error);
    if (status == DOPPEL_OK)
        status = settings->code ? ask_code(&find, &error) : ask_files(&find, &error);
    bool written = output_finish(find.print.output);
    doppel_matcher_free(find.matcher);
    find_texts_free(find.texts);
    doppel_chromaprints_free(find.chromaprints);
    doppel_library_close(find.library);
    find_known_free(&find.known);
    answers_free(&find.answers);
    film_looks_free(find.looks);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    if (!written)
        return EXIT_WRONG_USE;
    return find.print.matched ? EXIT_DONE : EXIT_NO_MATCH;
}
