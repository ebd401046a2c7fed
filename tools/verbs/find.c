/* doppel find FILE...: what in the library is FILE, holds FILE, or is held by it. */
#include <string.h>
#include <unistd.h>

#include "tools/args/engine_options.h"
#include "core/try.h"
#include "tools/args/library_options.h"
#include "tools/memory.h"
#include "tools/output/messages.h"
#include "tools/args/commands.h"
#include "tools/clustered/clustered.h"
#include "tools/output/matches.h"
#include "tools/remote/remote.h"
#include "tools/verbs/find_repeats.h"
#include "tools/verbs/semantic/library.h"
#include "intake/exact_digests.h"
#include "intake/reader.h"
#include "intake/video_refine.h"
#include "intake/video_still.h"
#include "intake/open_cache.h"
#include "intake/other_scheme.h"
#include "compare/text.h"

struct find {
    const struct settings *settings;
    struct report *report;
    struct doppel_library *library;
    struct doppel_search *search;
    struct video_looks *looks;
    const struct intake_file *file; /* the query at hand */
    struct doppel_search_results results;
    struct semantic_library semantic;
    struct doppel_semantic_results by_meaning;
    struct find_print print;
};

static enum doppel_status search_code(struct find *find, struct doppel_error *error)
{
    const struct doppel_scheme *scheme =
        settings_scheme(find->settings, find->settings->scheme->kind);
    struct doppel_fingerprint fingerprint;
    enum doppel_status status =
        doppel_fingerprint_from_hex(scheme, find->settings->code, &fingerprint, error);
    if (status)
        return status;
    status = doppel_search_code(find->search, &fingerprint, &find->results, error);
    if (!status)
        status = find_print(&find->print, find->settings->code, &find->results, error);
    doppel_fingerprint_free(&fingerprint);
    return status;
}

/* The ends of what a video and an item share, frame by frame. */
static enum doppel_status refine_with_item(void *context, const struct doppel_record *query,
                                           const struct doppel_item *item,
                                           struct doppel_match *match, struct doppel_error *error)
{
    const struct find *find = context;
    const struct video_side sides[2] = {{{find->file->path, &find->file->stamp}, query},
                                        {{item->path, &item->stamp}, &item->record}};
    return video_refine(find->looks, sides, match, error);
}

/* A frame of a video, which may show the query. */
static enum doppel_status still_of_item(void *context, const struct doppel_item *item,
                                        double seconds, struct doppel_record *out,
                                        struct doppel_error *error)
{
    const struct find *find = context;
    const struct video_file file = {item->path, &item->stamp};
    return video_still_read(find->looks, &file, seconds, out, error);
}

static unsigned exact_kinds(void *context)
{
    const struct find *find = context;
    unsigned kinds;
    return doppel_library_exact_kinds(find->library, &kinds, NULL) ? 0 : kinds;
}

/* A text, by what it means. */
static enum doppel_status search_meaning(struct find *find, const struct intake_file *file,
                                         struct doppel_error *error)
{
    struct doppel_error why;
    enum doppel_status status = DOPPEL_OK;
    doppel_semantic_results_free(&find->by_meaning);
    find->print.semantic = &find->by_meaning;
    if (find->semantic.semantic && file->record.kind == DOPPEL_KIND_TEXT)
        status = doppel_semantic_search_file(find->semantic.semantic, file->path, &find->by_meaning,
                                             &why);
    if (status == DOPPEL_E_CANCELLED || status == DOPPEL_E_MEMORY)
        return doppel_fail(error, status, "%s", why.message);
    if (status)
        report_input(find->report, file->path, why.message);
    return DOPPEL_OK;
}

/* What is listed is found also where it cannot be read as anything. */
static enum doppel_status search_file(struct find *find, const struct intake_file *file,
                                      struct doppel_error *error)
{
    const struct doppel_error *reason = &file->record.error;
    bool listed = false;
    enum doppel_status status = DOPPEL_OK;
    progress_clear(&find->report->progress);
    doppel_search_results_free(&find->results);
    find->file = file;
    if (!reason->status) {
        TRY(doppel_search_record(find->search, &file->record, file->path, &find->results, error));
        TRY(search_meaning(find, file, error));
    }
    TRY(doppel_search_exact(find->search, &file->exact, &file->record, &find->results, &listed,
                            error));
    if (reason->status && !listed)
        report_input(find->report, file->path, reason->message);
    else if (reason->status)
        report_notice(find->report, "%s: %s; found by its digest alone", file->path,
                      reason->message);
    if (listed || !reason->status)
        TRY(find_print(&find->print, file->path, &find->results, error));
done:
    return status;
}

static enum doppel_status search_files(struct find *find, struct doppel_error *error)
{
    struct doppel_cache *cache;
    enum doppel_status status = open_cache(find->report->run, &cache, error);
    if (status)
        return status;
    struct doppel_walk_options walk = walk_options_from(find->settings);
    walk.every_name = walk.stdin_operand = true;
    struct intake_options options = {
        .read = read_options_from(find->settings),
        .run = find->report->run,
        .walk = &walk,
        .cache = cache,
        .attachments = find->settings->check != CHECK_NONE,
        .failures = true,
        .exact_kinds = exact_kinds,
        .known_context = find,
    };
    struct intake *intake = NULL;
    struct intake_file file;
    bool any = false;
    TRY(intake_new(&options, &intake, error));
    while (status == DOPPEL_OK && (status = intake_next(intake, &file, error)) == DOPPEL_OK) {
        status = search_file(find, &file, error);
        find->file = NULL;
        intake_file_free(&file);
        any = true;
    }
    if (status == DOPPEL_E_NOT_FOUND && !any)
        report_no_input(find->report, "look for");
    status = status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
done:
    intake_free(intake);
    leave_cache(find->report->run, cache);
    return status;
}

/* A code where a FILE belongs; NULL: there is none. */
static const char *find_bare_code(const struct settings *settings)
{
    for (size_t i = 0; i < settings->operands.count; i++) {
        const char *word = settings->operands.items[i];
        size_t digits = strspn(word, "0123456789abcdefABCDEF");
        if (!word[digits] && (digits == 16 || digits == 32 || digits == 64) && access(word, F_OK))
            return word;
    }
    return NULL;
}

int cmd_find(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    const char *code = find_bare_code(settings);
    if (code)
        return report_fatal(report, "%s: no such file; a code is found by 'doppel find --code %s'",
                            code, code);
    if (settings->server)
        return remote_find(settings, report);
    if (settings->clustered)
        return clustered_find(settings, report);
    if (settings->repeats)
        return find_repeats(settings, report);
    struct find find = {.settings = settings, .report = report};
    if (open_library(settings, false, true, &find.library, &error))
        return report_fatal(report, "%s", error.message);
    if (settings->by_parts && !doppel_library_has_scheme(find.library, DOPPEL_SCHEME_LOCAL) &&
        !doppel_library_has_scheme(find.library, DOPPEL_SCHEME_FRAMES128)) {
        doppel_library_close(find.library);
        return report_fatal(report,
                            "nothing in the library has keypoints, by which '--parts' finds; "
                            "'doppel add --scheme local' adds them");
    }
    struct settings adopted = *settings;
    if (!settings->code)
        adopt_schemes(&adopted, find.library, report);
    adopt_unit(&adopted, find.library);
    find.settings = settings = &adopted;
    struct doppel_search_options options = search_options_from(settings);
    struct other_scheme_reader reader = {report->run, read_options_from(settings), NULL};
    options.fingerprint = other_scheme_read;
    options.fingerprint_context = &reader;
    find.looks = must_have(video_looks_new(report->run));
    options.context = &find;
    options.refine = settings->refine ? refine_with_item : NULL;
    options.still = settings->check != CHECK_NONE ? still_of_item : NULL;
    find.print = (struct find_print){.settings = settings, .library = find.library};
    if (settings->playlist)
        find.print.playlist = playlist_new(settings, report);
    else
        find.print.output = find_print_output(settings, report);
    enum doppel_status status;
    TRY(filter_library(settings, find.library, &find.print.wanted, &error));
    TRY(doppel_search_new(report->run, find.library, &options, &find.search, &error));
    TRY(doppel_search_refresh(find.search, &error));
    TRY(semantic_library_open(settings, report, find.library, false, &find.semantic, &error));
    TRY(settings->code ? search_code(&find, &error) : search_files(&find, &error));
done:
    doppel_search_free(find.search);
    semantic_library_close(&find.semantic);
    doppel_semantic_results_free(&find.by_meaning);
    bool written = find.print.playlist ? playlist_finish(find.print.playlist)
                                       : output_finish(find.print.output);
    other_scheme_reader_free(&reader);
    video_looks_free(find.looks);
    doppel_item_set_free(&find.print.wanted);
    doppel_library_close(find.library);
    doppel_search_results_free(&find.results);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    if (!written)
        return EXIT_WRONG_USE;
    if (find.print.suppressed && !settings->include_allowed && report->terminal)
        report_notice(report,
                      "%llu match%s left out that allow-listed items explain; "
                      "--include-allowed shows them",
                      (unsigned long long)find.print.suppressed,
                      find.print.suppressed == 1 ? "" : "es");
    return find.print.matched ? EXIT_DONE : EXIT_NO_MATCH;
}
