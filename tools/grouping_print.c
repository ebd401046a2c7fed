/* Groups as rows of the output. */
#include "tools/grouping_room.h"

#include <string.h>

#include "tools/output.h"
#include "tools/signals.h"

static const struct column columns[] = {
    {"group", "group", CELL_NUMBER},           {"kind", NULL, CELL_TEXT},
    {"members.reason", "reason", CELL_TEXT},   {"members.similarity", "similarity", CELL_NUMBER},
    {"members.distance", NULL, CELL_NUMBER},   {"members.width", "width", CELL_NUMBER},
    {"members.height", "height", CELL_NUMBER}, {"members.duration", "duration", CELL_SECONDS},
    {"members.size", "size", CELL_SIZE},       {"members.mtime", NULL, CELL_TIME},
    {"members.path", "path", CELL_PATH},
};

/* -0 is there to be piped into what deletes: it never names what is kept. */
static bool is_not_kept(const json_t *member)
{
    const char *reason = json_string_value(json_object_get(member, "reason"));
    return strcmp(reason, "kept") != 0 && !json_is_true(json_object_get(member, "reference"));
}

static const struct layout layout = {columns, sizeof columns / sizeof *columns, "members",
                                     "members.path", is_not_kept};

/* What the groups of a kind come to. */
struct tally {
    uint32_t groups, doubles;
    int64_t double_bytes;
};

struct printing {
    struct output *output;
    struct tally tallies[DOPPEL_KIND_VIDEO + 1];
};

static enum doppel_status print_group(void *context, const struct told_group *group,
                                      struct doppel_error *error)
{
    (void)error;
    struct printing *printing = context;
    struct tally *tally = &printing->tallies[group->kind];
    tally->groups++;
    tally->doubles += (uint32_t)group->count - 1;
    for (size_t i = 1; i < group->count; i++)
        tally->double_bytes += group->members[i].size;
    output_row(printing->output, json_incref(group->row));
    return DOPPEL_OK;
}

/* For a person at a terminal: what it all comes to. */
static void say_summary(const struct grouping *grouping, const struct tally *tally)
{
    struct report *report = grouping->options->report;
    uint32_t count = grouping_count(grouping);
    enum doppel_kind kind = grouping->options->kind;
    const char *one = kind == DOPPEL_KIND_TEXT    ? "text"
                      : kind == DOPPEL_KIND_AUDIO ? "sound"
                      : kind == DOPPEL_KIND_VIDEO ? "film"
                                                  : "picture";
    char size[32];
    if (!report->terminal || grouping->options->settings->format != FORMAT_TABLE)
        return;
    human_size((double)tally->double_bytes, size, sizeof size);
    if (tally->groups == 0)
        report_notice(report, "no doubles among %u %s%s", count, one, count == 1 ? "" : "s");
    else
        report_notice(report, "%u double%s (%s) in %u group%s among %u %s%s", tally->doubles,
                      tally->doubles == 1 ? "" : "s", size, tally->groups,
                      tally->groups == 1 ? "" : "s", count, one, count == 1 ? "" : "s");
}

enum doppel_status groupings_print(struct grouping *const *groupings, size_t count,
                                   struct doppel_error *error)
{
    struct printing printing = {0};
    struct group_sink sink = {print_group, &printing};
    for (size_t i = 0; i < count && !printing.output; i++)
        if (groupings[i] && grouping_count(groupings[i]))
            printing.output =
                output_new(groupings[i]->options->settings, &layout, groupings[i]->options->report);
    if (!printing.output)
        return DOPPEL_OK;
    enum doppel_status status = groupings_tell(groupings, count, &sink, error);
    if (!output_finish(printing.output) && !status)
        status = signals_stopped() ? DOPPEL_E_CANCELLED
                                   : doppel_fail(error, DOPPEL_E_IO, "not all groups are printed");
    for (size_t i = 0; i < count && !status; i++)
        if (groupings[i] && grouping_count(groupings[i]))
            say_summary(groupings[i], &printing.tallies[groupings[i]->options->kind]);
    return status;
}
