/* doppel lists, lists set, lists release, lists remove: the lists that items are on, what these
 * mean, and what is to be reviewed. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/array.h"
#include "core/try.h"
#include "core/text/values.h"
#include "tools/args/library_options.h"
#include "tools/output/messages.h"
#include "tools/args/commands.h"
#include "tools/memory.h"
#include "tools/output/output.h"

/* ---- printing ---- */

static const struct column columns[] = {
    {"list", "list", CELL_TEXT},
    {"state", "state", CELL_TEXT},
    {"items", "items", CELL_NUMBER},
    {"max_distance", "max distance", CELL_NUMBER},
    {"min_similarity", "min similarity", CELL_NUMBER},
    {"flood", "flood", CELL_NUMBER},
    {"matches", "matches", CELL_NUMBER},
    {"matches_last_day", "last 24 h", CELL_NUMBER},
    {"last_match", "last match", CELL_TIME},
    {"in_review", "in review", CELL_NUMBER},
};
static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, NULL, NULL};

struct lists_print {
    struct doppel_library *library;
    struct output *output;
    struct doppel_error error; /* what stopped it */
};

static bool print_list(void *context, const struct doppel_list *list)
{
    struct lists_print *print = context;
    struct doppel_json *row = output_begin(print->output);
    if (doppel_list_to_json(row, print->library, list, &print->error))
        return false;
    output_end(print->output);
    return true;
}

enum { MOST_REVIEWS = 10 };

struct review_notices {
    struct report *report;
    size_t count;
};

static bool notice_review(void *context, const struct doppel_review *review)
{
    struct review_notices *notices = context;
    if (notices->count++ < MOST_REVIEWS)
        report_notice(notices->report,
                      "in review: item %llu%s%s, of list '%s', matched %llu times in 24 "
                      "hours; 'doppel lists release %llu' releases it",
                      (unsigned long long)review->item, review->name ? ", " : "",
                      review->name ? review->name : "", review->list,
                      (unsigned long long)review->matches, (unsigned long long)review->item);
    return true;
}

/* For people, each item that is to be reviewed, once. */
static enum doppel_status notice_reviews(struct doppel_library *library, struct report *report,
                                         struct doppel_error *error)
{
    struct review_notices notices = {report, 0};
    enum doppel_status status = doppel_library_each_review(library, notice_review, &notices, error);
    if (notices.count > MOST_REVIEWS)
        report_notice(report, "and %zu more; --json names them all", notices.count - MOST_REVIEWS);
    return status;
}

int cmd_lists(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct lists_print print = {0};
    if (open_library(settings, false, true, &print.library, &error))
        return report_fatal(report, "%s", error.message);
    print.output = output_new(settings, &layout, report);
    enum doppel_status status = doppel_library_each_list(print.library, print_list, &print, &error);
    if (print.error.status)
        error = print.error;
    bool written = output_finish(print.output);
    if (!status && settings->format == FORMAT_TABLE)
        status = notice_reviews(print.library, report, &error);
    doppel_library_close(print.library);
    if (status)
        return report_fatal(report, "%s", error.message);
    return written ? EXIT_DONE : EXIT_WRONG_USE;
}

/* ---- changing ---- */

typedef enum doppel_status list_change(struct doppel_library *library, const char *name,
                                       const struct settings *settings, struct doppel_error *error);

static int change_lists(const struct settings *settings, struct report *report, list_change *change,
                        bool create, const char *missing)
{
    struct doppel_error error;
    struct doppel_library *library;
    enum doppel_status status = DOPPEL_OK;
    if (open_library(settings, create, false, &library, &error))
        return report_fatal(report, "%s", error.message);
    for (size_t i = 0; i < settings->operands.count && !status; i++) {
        const char *name = settings->operands.items[i];
        status = change(library, name, settings, &error);
        if (status != DOPPEL_E_NOT_FOUND)
            continue;
        report_input(report, name, missing);
        status = DOPPEL_OK;
    }
    if (!status)
        status = doppel_library_commit(library, &error);
    doppel_library_close(library);
    return status ? report_fatal(report, "%s", error.message) : EXIT_DONE;
}

static bool rule_is_given(const struct settings *settings)
{
    return settings->max_distance >= 0 || settings->min_similarity >= 0 ||
           settings->default_limit || settings->flood;
}

static void take_given_rule(const struct settings *settings, struct doppel_list_rule *rule)
{
    uint64_t flood = 0;
    if (settings->max_distance >= 0 || settings->min_similarity >= 0 || settings->default_limit)
        rule->limit_kind = DOPPEL_LIMIT_NONE;
    if (settings->max_distance >= 0) {
        rule->limit_kind = DOPPEL_LIMIT_DISTANCE;
        rule->limit = settings->max_distance;
    } else if (settings->min_similarity >= 0) {
        rule->limit_kind = DOPPEL_LIMIT_SIMILARITY;
        rule->limit = settings->min_similarity;
    }
    if (settings->flood && parse_whole(settings->flood, 0, UINT32_MAX, &flood))
        rule->flood = (uint32_t)flood;
    else if (settings->flood)
        rule->flood = 0;
}

static enum doppel_status set_list_as_given(struct doppel_library *library, const char *name,
                                            const struct settings *settings,
                                            struct doppel_error *error)
{
    struct doppel_list_rule rule;
    enum doppel_status status = DOPPEL_OK;
    bool given = rule_is_given(settings);
    if (settings->state >= 0 || !given)
        TRY(doppel_library_set_list(library, name,
                                    settings->state >= 0 ? (enum doppel_list_state)settings->state
                                                         : DOPPEL_LIST_ACTIVE,
                                    error));
    if (!given)
        return DOPPEL_OK;
    TRY(doppel_library_get_list_rule(library, name, &rule, error));
    take_given_rule(settings, &rule);
    TRY(doppel_library_set_list_rule(library, name, &rule, error));
done:
    return status;
}

struct id_list {
    uint64_t *items;
    size_t count, capacity;
};

static bool keep_reviewed_id(void *context, const struct doppel_review *review)
{
    struct id_list *ids = context;
    if (!array_push(ids, review->item))
        no_memory();
    return true;
}

static enum doppel_status release_all(struct doppel_library *library, struct doppel_error *error)
{
    struct id_list ids = {0};
    enum doppel_status status = doppel_library_each_review(library, keep_reviewed_id, &ids, error);
    for (size_t i = 0; i < ids.count && !status; i++) {
        status = doppel_library_release_review(library, ids.items[i], error);
        status = status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status; /* on two lists */
    }
    array_free(&ids);
    return status;
}

static enum doppel_status release_by_name(struct doppel_library *library, const char *name,
                                          const struct settings *settings,
                                          struct doppel_error *error)
{
    struct doppel_reference called;
    (void)settings;
    if (strcmp(name, "ALL") == 0)
        return release_all(library, error);
    enum doppel_status status = doppel_library_resolve(library, name, &called, error);
    return status ? status : doppel_library_release_review(library, called.id, error);
}

static enum doppel_status remove_list_by_name(struct doppel_library *library, const char *name,
                                              const struct settings *settings,
                                              struct doppel_error *error)
{
    (void)settings;
    return doppel_library_remove_list(library, name, error);
}

int cmd_lists_set(const struct settings *settings, struct report *report)
{
    uint64_t flood;
    if (settings->flood && strcasecmp(settings->flood, "off") != 0 &&
        !parse_whole(settings->flood, 0, UINT32_MAX, &flood))
        return report_fatal(report, "'--flood' takes how many matches a day are too many, or off");
    if ((settings->max_distance >= 0) + (settings->min_similarity >= 0) + settings->default_limit >
        1)
        return report_fatal(report, "a list has one limit: give '--max-distance', "
                                    "'--min-similarity' or '--default-limit'");
    return change_lists(settings, report, set_list_as_given, true, "");
}

int cmd_lists_release(const struct settings *settings, struct report *report)
{
    return change_lists(settings, report, release_by_name, false, "no such item is in review");
}

int cmd_lists_remove(const struct settings *settings, struct report *report)
{
    return change_lists(settings, report, remove_list_by_name, false,
                        "the library has no such list");
}
