/* Groups as rows of the output. */
#include "tools/output/messages.h"
#include "group/grouping_internal.h"

#include <inttypes.h>
#include <string.h>

#include "act/plan.h"
#include "core/printable.h"
#include "tools/output/item_name.h"
#include "tools/output/output.h"
#include "tools/signals.h"

static const struct column columns[] = {
    {"group", "group", CELL_NUMBER},
    {"kind", NULL, CELL_TEXT},
    {"members.reason", "reason", CELL_TEXT},
    {"members.similarity", "similarity", CELL_NUMBER},
    {"members.distance", NULL, CELL_NUMBER},
    {"members.width", "width", CELL_NUMBER},
    {"members.height", "height", CELL_NUMBER},
    {"members.duration", "duration", CELL_SECONDS},
    {"members.record", "record", CELL_TEXT},
    {"members.line", "line", CELL_NUMBER},
    {"members.size", "size", CELL_SIZE},
    {"members.mtime", NULL, CELL_TIME},
    {"members.name", "name", CELL_TEXT},
    {"members.path", "path", CELL_PATH},
    {"savable", NULL, CELL_NUMBER},
    {"members.id", NULL, CELL_NUMBER},
    {"members.identical_to", NULL, CELL_PATH},
};

/* -0 is there to be piped into what deletes: it never names what is kept. */
static bool is_not_kept(const json_t *member)
{
    const char *reason = json_string_value(json_object_get(member, "reason"));
    return strcmp(reason, "kept") != 0 && !json_is_true(json_object_get(member, "reference"));
}

static const struct layout layout = {columns, sizeof columns / sizeof *columns, "members",
                                     "members.path", is_not_kept};

/* What the groups come to. */
struct printing {
    struct output *output;
    struct doppel_json row;            /* used again for each group */
    bool found[DOPPEL_KIND_VIDEO + 1]; /* whether there is one of that kind */
    bool files;                        /* whether there is a group of files */
    uint64_t groups, duplicates, bytes, identical_bytes;
};

static void count_member(struct printing *printing, const struct doppel_group *group, size_t number)
{
    const struct doppel_group_member *member = &group->members[number];
    if (member->reason == DOPPEL_REASON_KEPT || member->reference)
        return;
    printing->duplicates++;
    if (member->reason == DOPPEL_REASON_IDENTICAL || member->same_bytes != number)
        printing->identical_bytes += (uint64_t)member->size_bytes;
}

static enum doppel_status print_group(void *context, const struct doppel_group *group,
                                      struct doppel_error *error)
{
    struct printing *printing = context;
    printing->found[group->kind] = true;
    printing->files |= !group->text;
    printing->groups++;
    printing->bytes += group->savable_bytes;
    for (size_t i = 0; i < group->count; i++)
        count_member(printing, group, i);
    doppel_json_clear(&printing->row);
    doppel_group_to_json(&printing->row, NULL, group, DOPPEL_GROUP_PLAIN);
    enum doppel_status status = doppel_json_status(&printing->row, error);
    if (!status)
        output_object(printing->output, &printing->row);
    return status;
}

/* For people: what it all comes to. */
static void print_total(const struct printing *printing)
{
    char text[256], bytes[32], identical[32];
    human_size((double)printing->bytes, bytes, sizeof bytes);
    human_size((double)printing->identical_bytes, identical, sizeof identical);
    int length = snprintf(text, sizeof text, "%" PRIu64 " duplicate%s in %" PRIu64 " group%s",
                          printing->duplicates, printing->duplicates == 1 ? "" : "s",
                          printing->groups, printing->groups == 1 ? "" : "s");
    if (printing->files)
        length +=
            snprintf(text + length, sizeof text - (size_t)length, ": %s could be saved", bytes);
    if (printing->identical_bytes && printing->identical_bytes != printing->bytes)
        snprintf(text + length, sizeof text - (size_t)length, ", %s of it in identical files",
                 identical);
    if (printing->groups)
        output_line(printing->output, text);
}

/* For a person at a terminal: of what there are none. */
static void say_none(const struct all_groups *all, const struct grouping *grouping)
{
    struct report *report = all->report;
    uint32_t count = grouping_count(grouping);
    const char *one = kind_noun(grouping->options->kind);
    if (report->terminal && grouping->options->settings->format == FORMAT_TABLE)
        report_notice(report, "no duplicates among %u %s%s", count, one, count == 1 ? "" : "s");
}

/* Whether there is anything at all. */
static bool has_any(const struct all_groups *all)
{
    bool any = all->known != NULL;
    for (size_t i = 0; i < all->count && !any; i++)
        any = all->groupings[i] && grouping_count(all->groupings[i]);
    return any;
}

enum doppel_status groupings_print(const struct all_groups *all, struct doppel_error *error)
{
    struct printing printing = {0};
    struct group_receiver receiver = {print_group, &printing};
    if (!has_any(all))
        return DOPPEL_OK;
    if (all->settings->action != ACTION_NONE)
        return groupings_act(all, error);
    printing.output = output_new(all->settings, &layout, all->report);
    output_trees(printing.output);
    enum doppel_status status = groupings_visit(all, &receiver, error);
    doppel_json_free(&printing.row);
    if (!status)
        print_total(&printing);
    if (!output_finish(printing.output) && !status)
        status = signals_stopped() ? DOPPEL_E_CANCELLED
                                   : doppel_fail(error, DOPPEL_E_IO, "not all groups are printed");
    for (size_t i = 0; i < all->count && !status; i++) {
        const struct grouping *grouping = all->groupings[i];
        if (grouping && grouping_count(grouping) && !printing.found[grouping->options->kind])
            say_none(all, grouping);
    }
    return status;
}
