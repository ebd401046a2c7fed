/* A report of duplicates: its data, and the order in which it is written. */
#include "report/report_internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <doppel/report.h>

#include "core/try.h"
#include "page_assets.h"
#include "report/html_file.h"
#include "report/previews.h"

/* So many files are previewed before what was seen is written: enough to keep the workers busy. */
enum { PREVIEWS_AT_ONCE = 128 };

struct doppel_report {
    struct doppel_report_options options;
    ARRAY(struct report_group) groups;
    ARRAY(struct report_group) links; /* of texts that mean the same */
    struct doppel_text_options text;  /* how records were read, where there are some */
    struct doppel_run *run;
};

enum doppel_status doppel_report_new(struct doppel_run *run,
                                     const struct doppel_report_options *options,
                                     struct doppel_report **out, struct doppel_error *error)
{
    if (!options || (!options->stream && !options->output))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a report has no file to be written to");
    enum doppel_status status = options->stream ? DOPPEL_OK : html_file_try(options->output, error);
    if (status)
        return status;
    struct doppel_report *report = calloc(1, sizeof *report);
    if (!report)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a report");
    report->options = *options;
    if (!options->output)
        report->options.output = "the report";
    report->run = run;
    *out = report;
    return DOPPEL_OK;
}

void doppel_report_free(struct doppel_report *report)
{
    if (!report)
        return;
    for (size_t i = 0; i < report->groups.count; i++)
        report_group_free(&report->groups.items[i]);
    for (size_t i = 0; i < report->links.count; i++)
        report_group_free(&report->links.items[i]);
    array_free(&report->groups);
    array_free(&report->links);
    free(report);
}

size_t doppel_report_count(const struct doppel_report *report)
{
    return report->groups.count;
}

/* ---- the groups ---- */

enum doppel_status doppel_report_take(void *context, const struct doppel_group *group,
                                      struct doppel_error *error)
{
    struct doppel_report *report = context;
    struct report_group taken;
    if (group->text)
        report->text = *group->text;
    if (report_group_copy(group, &taken) && array_push(&report->groups, taken))
        return DOPPEL_OK;
    report_group_free(&taken);
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for more than %zu groups",
                       report->groups.count);
}

enum doppel_status doppel_report_take_link(void *context, const struct doppel_group_link *link,
                                           struct doppel_error *error)
{
    struct doppel_report *report = context;
    struct report_group taken;
    const bool copied = report_link_copy(link, &taken);
    taken.number = report->links.count + 1;
    if (copied && array_push(&report->links, taken))
        return DOPPEL_OK;
    report_group_free(&taken);
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for more than %zu texts",
                       report->links.count);
}

/* ---- the data ---- */

static void put_time(struct doppel_json *json)
{
    char text[32];
    struct tm parts;
    time_t now = time(NULL);
    if (gmtime_r(&now, &parts) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts))
        doppel_json_text(json, "made", text);
}

static void put_sources(struct doppel_json *json, const struct doppel_report_options *options)
{
    doppel_json_array_begin(json, "sources");
    for (size_t i = 0; i < options->source_count; i++) {
        doppel_json_object_begin(json, NULL);
        doppel_json_path(json, "path", options->sources[i]);
        doppel_json_object_end(json);
    }
    doppel_json_array_end(json);
}

static void put_lines_of(struct doppel_json *json, const char *key,
                         const struct report_group *groups, size_t count)
{
    doppel_json_array_begin(json, key);
    for (size_t i = 0; i < count; i++)
        doppel_json_raw(json, NULL, groups[i].json, strlen(groups[i].json));
    doppel_json_array_end(json);
}

static void put_data(struct doppel_json *json, const struct doppel_report *report)
{
    const struct doppel_report_options *options = &report->options;
    doppel_json_object_begin(json, NULL);
    doppel_json_integer(json, "page", 1);
    doppel_json_text(json, "doppel", doppel_version());
    put_time(json);
    doppel_json_text(json, "from", options->of_library ? "library" : "scan");
    put_sources(json, options);
    doppel_json_path(json, "folder", options->folder);
    doppel_json_text(json, "action", options->action);
    doppel_json_boolean(json, "blur", options->blur);
    doppel_json_boolean(json, "looks", !options->no_thumbnails);
    put_lines_of(json, "groups", report->groups.items, report->groups.count);
    if (report->links.count)
        put_lines_of(json, "links", report->links.items, report->links.count);
    doppel_json_object_end(json);
}

/* ---- writing ---- */

static enum doppel_status write_data(const struct doppel_report *report, FILE *stream,
                                     struct doppel_error *error)
{
    struct doppel_json json = {0};
    put_data(&json, report);
    enum doppel_status status = doppel_json_status(&json, error);
    if (!status)
        html_file_put_json(stream, "data", &json);
    doppel_json_free(&json);
    return status;
}

/* What was seen of the groups that were wanted. */
static enum doppel_status write_seen(const struct previews *previews, FILE *stream,
                                     struct doppel_error *error)
{
    struct doppel_json json = {0};
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < previews->groups.count && !status; i++) {
        const struct report_group *group = previews->groups.items[i].group;
        char id[64];
        snprintf(id, sizeof id, "%s-%llu", group->is_link ? "link-looks" : "looks",
                 (unsigned long long)group->number);
        doppel_json_clear(&json);
        previews_to_json(previews, i, &json);
        status = doppel_json_status(&json, error);
        if (!status)
            html_file_put_json(stream, id, &json);
    }
    doppel_json_free(&json);
    return status;
}

/* Groups, or links, and how far they are previewed. */
struct previewing {
    const struct report_group *groups;
    size_t count, next;
};

/* What the next of them look like. */
static enum doppel_status write_some_previews(struct previewing *of, struct previews *previews,
                                              FILE *stream, struct doppel_error *error)
{
    enum doppel_status status;
    while (of->next < of->count && previews->items.count < PREVIEWS_AT_ONCE)
        if (!previews_want(previews, &of->groups[of->next++]))
            TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for previews"));
    TRY(previews_take(previews, error));
    previews_report_failures(previews);
    TRY(write_seen(previews, stream, error));
done:
    previews_clear(previews);
    return status;
}

/* Few images can be enlarged; of many the page stays small enough to be opened: about 100 MB. */
static uint32_t still_pixels_for(const struct doppel_report *report)
{
    size_t files = 0;
    for (size_t i = 0; i < report->groups.count; i++)
        files += report->groups.items[i].count;
    return files <= 500 ? 4 * STILL_PIXELS : files <= 4000 ? 2 * STILL_PIXELS : STILL_PIXELS;
}

static enum doppel_status write_previews(const struct doppel_report *report, FILE *stream,
                                         struct doppel_error *error)
{
    struct previews previews = {.run = report->run,
                                .options = &report->options,
                                .text = &report->text,
                                .still_pixels = still_pixels_for(report)};
    struct previewing of[] = {{report->groups.items, report->groups.count, 0},
                              {report->links.items, report->links.count, 0}};
    enum doppel_status status = DOPPEL_OK;
    doppel_run_begin(report->run, "groups looked at", of[0].count + of[1].count);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        while (of[i].next < of[i].count && !status) {
            status = write_some_previews(&of[i], &previews, stream, error);
            doppel_run_advance(report->run, of[0].next + of[1].next);
        }
    previews_free(&previews);
    return status;
}

enum doppel_status doppel_report_write(const struct doppel_report *report,
                                       struct doppel_error *error)
{
    struct output_file file;
    enum doppel_status status =
        output_file_open(report->options.output, report->options.stream, &file, error);
    if (status)
        return status;
    fwrite(page_head, 1, sizeof page_head, file.stream);
    if (report->options.action)
        fwrite(page_policy_served, 1, sizeof page_policy_served, file.stream);
    else
        fwrite(page_policy, 1, sizeof page_policy, file.stream);
    fwrite(page_style, 1, sizeof page_style, file.stream);
    status = write_data(report, file.stream, error);
    fwrite(page_middle, 1, sizeof page_middle, file.stream);
    if (!status && !report->options.no_thumbnails)
        status = write_previews(report, file.stream, error);
    fwrite(page_tail, 1, sizeof page_tail, file.stream);
    return output_file_close(&file, status, error);
}
