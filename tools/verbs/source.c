/* doppel source set|remove|list|policy: what sources are worth, and which copy is kept. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/args/library_options.h"
#include "tools/output/messages.h"
#include "tools/args/commands.h"
#include "tools/output/output.h"

static const struct column columns[] = {
    {"authority", "authority", CELL_NUMBER},
    {"pattern", "source", CELL_TEXT},
};
static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, NULL, NULL};

/* ---- changing ---- */

/* Commit what went well, close, and tell how it went. */
static int commit_change(struct doppel_library *library, enum doppel_status status,
                         struct report *report, struct doppel_error *error)
{
    if (!status)
        status = doppel_library_commit(library, error);
    doppel_library_close(library);
    return status ? report_fatal(report, "%s", error->message) : EXIT_DONE;
}

static bool parse_authority(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || strchr(" \t\n+", *text))
        return false;
    *out = value;
    return true;
}

int cmd_source_set(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_library *library;
    int64_t authority;
    const char *const *words = settings->operands.items;
    if (!parse_authority(words[1], &authority))
        return report_fatal(report, "an authority is a whole number, not '%s'", words[1]);
    if (open_library(settings, true, false, &library, &error))
        return report_fatal(report, "%s", error.message);
    enum doppel_status status = doppel_library_set_source(library, words[0], authority, &error);
    return commit_change(library, status, report, &error);
}

int cmd_source_remove(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_library *library;
    if (open_library(settings, false, false, &library, &error))
        return report_fatal(report, "%s", error.message);
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < settings->operands.count && !status; i++) {
        status = doppel_library_remove_source(library, settings->operands.items[i], &error);
        if (status != DOPPEL_E_NOT_FOUND)
            continue;
        report_input(report, settings->operands.items[i], "nothing is said of such a source");
        status = DOPPEL_OK;
    }
    return commit_change(library, status, report, &error);
}

/* ---- looking ---- */

static bool print_source(void *context, const char *pattern, int64_t authority)
{
    struct doppel_json *row = output_begin(context);
    doppel_json_text(row, "pattern", pattern);
    doppel_json_signed(row, "authority", authority);
    output_end(context);
    return true;
}

int cmd_source_list(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_library *library;
    if (open_library(settings, false, true, &library, &error))
        return report_fatal(report, "%s", error.message);
    struct output *output = output_new(settings, &layout, report);
    enum doppel_status status = doppel_library_each_source(library, print_source, output, &error);
    bool written = output_finish(output);
    doppel_library_close(library);
    if (status)
        return report_fatal(report, "%s", error.message);
    return written ? EXIT_DONE : EXIT_WRONG_USE;
}

static int print_policies(const struct settings *settings, struct report *report)
{
    static const struct column column = {"keep", "keep", CELL_TEXT};
    static const struct layout one = {&column, 1, NULL, NULL, NULL};
    struct doppel_error error;
    struct doppel_library *library;
    struct doppel_keep_policy policy;
    char text[128] = "";
    size_t at = 0;
    if (open_library(settings, false, true, &library, &error))
        return report_fatal(report, "%s", error.message);
    enum doppel_status status = doppel_library_policy(library, &policy, &error);
    doppel_library_close(library);
    if (status)
        return report_fatal(report, "%s", error.message);
    for (size_t i = 0; i < policy.count; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", i ? "," : "",
                               doppel_keep_name(policy.criteria[i]));
    struct output *output = output_new(settings, &one, report);
    doppel_json_text(output_begin(output), "keep", text);
    output_end(output);
    return output_finish(output) ? EXIT_DONE : EXIT_WRONG_USE;
}

int cmd_source_policy(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_library *library;
    struct doppel_keep_policy policy;
    if (settings->operands.count == 0)
        return print_policies(settings, report);
    if (doppel_keep_policy_parse(settings->operands.items[0], &policy, &error))
        return report_fatal(report, "%s", error.message);
    if (open_library(settings, true, false, &library, &error))
        return report_fatal(report, "%s", error.message);
    enum doppel_status status = doppel_library_set_policy(library, &policy, &error);
    return commit_change(library, status, report, &error);
}
