/* doppel report [PATH...] -o PAGE: the groups of duplicates as a page to look at. */
#include <stdlib.h>
#include <string.h>

#include <doppel/report.h>

#include "core/try.h"
#include "tools/args/engine_options.h"
#include "tools/args/library_options.h"
#include "tools/args/commands.h"
#include "tools/args/paths.h"
#include "tools/memory.h"
#include "tools/signals.h"
#include "tools/output/groups/groups.h"
#include "tools/serve/report_server.h"

/* Where the groups come from, as absolute paths. */
struct report_sources {
    char **paths;
    size_t count;
};

static void append_source(struct report_sources *sources, const char *path)
{
    sources->paths = must_resize(sources->paths, (sources->count + 1) * sizeof *sources->paths);
    sources->paths[sources->count++] = must_have(absolute_path(path));
}

static struct report_sources sources_from(const struct settings *settings, bool scanned)
{
    struct report_sources sources = {0};
    char *library = scanned ? NULL : library_directory(settings);
    if (library)
        append_source(&sources, library);
    for (size_t i = 0; i < settings->reference.count; i++)
        append_source(&sources, settings->reference.items[i]);
    for (size_t i = 0; i < settings->operands.count; i++)
        append_source(&sources, settings->operands.items[i]);
    free(library);
    return sources;
}

static void sources_free(struct report_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++)
        free(sources->paths[i]);
    free(sources->paths);
}

/* @param out_groups how many there are; untouched on failure */
static enum doppel_status write_report(const struct settings *settings, struct report *report,
                                       const struct doppel_report_options *options,
                                       size_t *out_groups, struct doppel_error *error)
{
    struct doppel_report *page = NULL;
    struct doppel_group_counts counts = {0};
    enum doppel_status status;
    /* Whether it can be written is known now: better than after hours of reading. */
    TRY(doppel_report_new(report->run, options, &page, error));
    group_source *source = options->of_library ? library_groups : scan_groups;
    TRY(source(
        settings, report,
        &(struct group_visit){.visit = doppel_report_take, .context = page, .counts = &counts},
        error));
    TRY(visit_saved_links(settings, report, doppel_report_take_link, page, error));
    /* A report of a part would be taken for the whole. */
    if (signals_stopped())
        TRY(DOPPEL_E_CANCELLED);
    TRY(doppel_report_write(page, error));
    size_t count = *out_groups = doppel_report_count(page);
    report_if_nothing(&counts, settings, report);
    if (!options->stream)
        report_notice(report, "%s: %zu group%s", settings->output, count, count == 1 ? "" : "s");
done:
    doppel_report_free(page);
    return status;
}

/* The page in memory, of which what is marked goes. */
static enum doppel_status serve_page(const struct settings *settings, struct report *report,
                                     const struct doppel_report_options *options,
                                     struct doppel_error *error)
{
    struct settings acting = *settings;
    struct doppel_report_options to_memory = *options;
    struct served_report served = {&acting, report,
                                   options->of_library ? library_groups : scan_groups, NULL, 0};
    size_t groups = 0;
    enum doppel_status status;
    acting.action = settings->action == ACTION_NONE ? DOPPEL_ACTION_TRASH : settings->action;
    acting.yes = true;
    acting.reasons = 0; /* marks alone */
    to_memory.stream = open_memstream(&served.page, &served.page_size);
    to_memory.output = "the page";
    to_memory.action = doppel_action_name((enum doppel_action)acting.action);
    if (!to_memory.stream)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the page");
    status = write_report(&acting, report, &to_memory, &groups, error);
    if (fclose(to_memory.stream) != 0 && !status)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the page");
    TRY(status);
    if (groups)
        TRY(serve_report(&served, error));
    else
        report_notice(report, "no duplicates: there is no page to serve");
done:
    free(served.page);
    return status;
}

int cmd_report(const struct settings *settings, struct report *report)
{
    struct doppel_error error = {0};
    bool scanned = settings->operands.count || settings->files_from;
    if (settings->action != ACTION_NONE && !settings->serve) /* on what was marked in the page */
        return print_groups_of(scanned ? scan_groups : library_groups, settings, report);
    struct report_sources sources = sources_from(settings, scanned);
    char *folder = absolute_path(".");
    size_t groups;
    const struct doppel_report_options options = {
        .output = settings->output,
        .stream = settings->output && strcmp(settings->output, "-") == 0 ? stdout : NULL,
        .sources = (const char *const *)sources.paths,
        .source_count = sources.count,
        .folder = folder,
        .of_library = !scanned,
        .no_thumbnails = settings->no_thumbnails,
        .blur = settings->blur,
        .fields = corpus_fields_from(settings),
    };
    enum doppel_status status = settings->serve
                                    ? serve_page(settings, report, &options, &error)
                                    : write_report(settings, report, &options, &groups, &error);
    sources_free(&sources);
    free(folder);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    return EXIT_DONE;
}
