/* doppel mark: a manual label about two contents, which outranks every hash. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "tools/args/library_options.h"
#include "tools/output/messages.h"
#include "tools/args/commands.h"
#include "exchange/manual_labels.h"
#include "tools/memory.h"
#include "tools/output/output.h"
#include "tools/remote/remote.h"
#include "tools/signals.h"

static const struct column columns[] = {
    {"mark", "mark", CELL_TEXT},   {"time", "time", CELL_TIME},   {"a_digest", "a", CELL_TEXT},
    {"b_digest", "b", CELL_TEXT},  {"note", "note", CELL_TEXT},   {"a", "path of a", CELL_PATH},
    {"b", "path of b", CELL_PATH}, {"item", "item", CELL_NUMBER},
};
static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, NULL, NULL};

/* ---- what is said ---- */

struct listing {
    struct doppel_library *library;
    struct output *output;
};

static bool print_mark(void *context, const struct doppel_mark *mark)
{
    struct listing *listing = context;
    doppel_mark_to_json(output_begin(listing->output), listing->library, mark);
    output_end(listing->output);
    return !signals_stopped();
}

static bool print_kept_mark(void *context, const struct doppel_kept_mark *mark)
{
    struct listing *listing = context;
    doppel_kept_mark_to_json(output_begin(listing->output), listing->library, mark);
    output_end(listing->output);
    return !signals_stopped();
}

static int list_marks(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct listing listing;
    if (open_library(settings, false, true, &listing.library, &error))
        return report_fatal(report, "%s", error.message);
    listing.output = output_new(settings, &layout, report);
    enum doppel_status status =
        doppel_library_each_mark(listing.library, NULL, print_mark, &listing, &error);
    if (!status)
        status = doppel_library_each_kept_mark(listing.library, print_kept_mark, &listing, &error);
    bool written = output_finish(listing.output);
    doppel_library_close(listing.library);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    return written ? EXIT_DONE : EXIT_WRONG_USE;
}

/* ---- saying ---- */

static enum doppel_status mark_two(const struct settings *settings, struct doppel_library *library,
                                   struct report *report, struct doppel_error *error)
{
    struct marked a, b;
    struct doppel_reference called;
    for (size_t i = 0; i < 2; i++)
        if (resolve_to_change(library, settings->operands.items[i], report, &called, error) ==
            DOPPEL_E_ARGUMENT)
            return DOPPEL_E_ARGUMENT;
    enum doppel_status status;
    TRY(marked_named(library, settings->operands.items[0], &a, error));
    TRY(marked_named(library, settings->operands.items[1], &b, error));
    enum doppel_manual_label word = settings->same       ? DOPPEL_LABEL_SAME
                                    : settings->distinct ? DOPPEL_LABEL_DISTINCT
                                                         : DOPPEL_LABEL_NONE;
    TRY(mark_say(library, &a, &b, word, settings->note, error));
done:
    return status;
}

/* Whether it befell the library, whatever the line says. */
static bool is_of_library(enum doppel_status status)
{
    return status == DOPPEL_E_IO || status == DOPPEL_E_NO_SPACE || status == DOPPEL_E_BUSY ||
           status == DOPPEL_E_MEMORY;
}

static enum doppel_status mark_lines(const struct settings *settings,
                                     struct doppel_library *library, struct report *report,
                                     struct doppel_error *error)
{
    const char *from = settings->marks_from;
    FILE *file = strcmp(from, "-") == 0 ? stdin : fopen(from, "rb");
    if (!file) {
        report_input(report, from, strerror(errno));
        return DOPPEL_OK;
    }
    char *line = NULL, *place = must_allocate(strlen(from) + 16);
    size_t capacity = 0;
    unsigned long long acting = 0;
    enum doppel_status status = DOPPEL_OK;
    for (unsigned number = 1; !status && getline(&line, &capacity, file) >= 0; number++) {
        struct doppel_error wrong;
        if (line[strspn(line, " \t\r\n")] == '\0')
            continue;
        bool acts = false;
        enum doppel_status said = mark_line(library, line, &acts, &wrong);
        acting += acts;
        if (is_of_library(said)) {
            status = doppel_fail(error, said, "%s", wrong.message);
        } else if (said) {
            sprintf(place, "%s:%u", from, number);
            report_input(report, place, wrong.message);
        }
    }
    if (!status && ferror(file))
        status = doppel_fail(error, DOPPEL_E_IO, "%s: %s", from, strerror(errno));
    if (acting)
        report_notice(
            report, "%llu mark%s \"remove\" or \"leave\" passed over: they are for 'scan --marks'",
            acting, acting == 1 ? "" : "s");
    free(line);
    free(place);
    if (file != stdin)
        (void)fclose(file);
    return status;
}

/* What was given must make one wish. */
static enum doppel_status check_wish(const struct settings *settings, struct doppel_error *error)
{
    int wishes = settings->same + settings->distinct + settings->forget +
                 (settings->marks_from != NULL) + settings->list_runs;
    bool of_two = settings->same || settings->distinct || settings->forget;
    if (wishes != 1)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "say one of '--same', '--distinct', '--forget', '--from FILE' and "
                           "'--list'");
    if (settings->operands.count != (of_two ? 2 : 0))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           of_two ? "two items or files are to be named"
                                  : "'--from' and '--list' want no items");
    return DOPPEL_OK;
}

int cmd_mark(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_library *library;
    if (check_wish(settings, &error))
        return report_fatal(report, "%s", error.message);
    if (settings->server)
        return settings->list_runs ? remote_list(settings, report, "/v1/marks", "marks",
                                                 output_new(settings, &layout, report))
                                   : remote_mark(settings, report);
    if (settings->list_runs)
        return list_marks(settings, report);
    if (open_library(settings, true, false, &library, &error))
        return report_fatal(report, "%s", error.message);
    enum doppel_status status = settings->marks_from ? mark_lines(settings, library, report, &error)
                                                     : mark_two(settings, library, report, &error);
    if (!status)
        status = doppel_library_commit(library, &error);
    doppel_library_close(library);
    return status ? report_refusal(report, status, &error) : EXIT_DONE;
}
