/* Groups as rows of the output, or acted on. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/printable.h"
#include "group/member_rules.h"
#include "tools/output/actions.h"
#include "tools/output/output.h"
#include "tools/output/rows/near_pair_rows.h"
#include "tools/output/rows/semantic_rows.h"
#include "tools/signals.h"
#include "tools/output/groups/grouped_texts.h"
#include "tools/output/groups/groups.h"

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
    {"members.mark", NULL, CELL_TEXT},
    {"members.taken", NULL, CELL_TEXT},
    {"members.camera", NULL, CELL_TEXT},
    {"members.latitude", NULL, CELL_NUMBER},
    {"members.longitude", NULL, CELL_NUMBER},
    {"members.burst", NULL, CELL_TEXT},
    {"members.companion_of", NULL, CELL_PATH},
    {"members.links", NULL, CELL_NUMBER},
    {"members.frees", NULL, CELL_NUMBER},
    {"members.gone", NULL, CELL_TEXT},
    {"members.artist", NULL, CELL_TEXT},
    {"members.title", NULL, CELL_TEXT},
    {"members.album", NULL, CELL_TEXT},
};

/* The one to keep is the first. */
static bool kept_is_gone(const json_t *group)
{
    const json_t *kept = json_array_get(json_object_get(group, "members"), 0);
    return json_is_true(json_object_get(kept, "gone"));
}

/* Another file of its shot. */
static bool is_companion_of_kept(const json_t *group, const json_t *member)
{
    const char *companion = json_string_value(json_object_get(member, "companion_of"));
    const char *keep = json_string_value(json_object_get(group, "keep"));
    return companion && keep && strcmp(companion, keep) == 0;
}

/* -0 is there to be piped into what deletes: it never names what is kept, nor all that is left. */
static bool is_not_kept(const json_t *group, const json_t *member)
{
    const char *reason = json_string_value(json_object_get(member, "reason"));
    const char *mark = json_string_value(json_object_get(member, "mark"));
    bool stays = kept_is_gone(group) || is_companion_of_kept(group, member) ||
                 json_is_true(json_object_get(member, "reference")) ||
                 json_is_true(json_object_get(member, "gone")) ||
                 (json_is_true(json_object_get(member, "burst")) && !mark);
    return strcmp(reason, "kept") != 0 && !stays && (!mark || strcmp(mark, "remove") == 0);
}

static const struct layout layout = {columns, sizeof columns / sizeof *columns, "members",
                                     "members.path", is_not_kept};

/* What the groups come to. */
struct printing {
    const struct settings *settings;
    struct report *report;
    struct output *output;             /* NULL: no group was printed yet */
    struct doppel_json row;            /* used again for each group */
    bool found[DOPPEL_KIND_VIDEO + 1]; /* whether there is one of that kind */
    bool files;                        /* whether there is a group of files */
    uint64_t groups, duplicates, bytes, identical_bytes;
    uint64_t gone;                   /* files of a library that are not there any more */
    group_links *links;              /* NULL: none are wanted */
    struct grouped_texts grouped;    /* where they are */
    struct doppel_scan_saver *saver; /* NULL: nothing is saved any more */
    struct semantic_rows rows;
    struct near_pair_rows near;
    bool rows_failed;
};

/* @param left the one that is no duplicate, whichever is to be kept */
static void count_member(struct printing *printing, const struct doppel_group *group, size_t number,
                         size_t left)
{
    const struct doppel_group_member *member = &group->members[number];
    printing->gone += member->gone;
    if (member->reason == DOPPEL_REASON_KEPT || number == left || member->reference ||
        member->gone || (member->shot && member->shot == group->members[0].shot))
        return;
    printing->duplicates++;
    if (member->reason == DOPPEL_REASON_IDENTICAL || member->same_bytes != number)
        printing->identical_bytes += member->freed_bytes;
}

struct output *groups_output(const struct settings *settings, struct report *report)
{
    struct output *output = output_new(settings, &layout, report);
    output_trees(output);
    return output;
}

static void begin_output(struct printing *printing)
{
    if (!printing->output)
        printing->output = groups_output(printing->settings, printing->report);
}

static enum doppel_status note_scanned_text(void *context, const struct doppel_group_text *text,
                                            struct doppel_error *error)
{
    struct printing *printing = context;
    return grouped_texts_add_file(&printing->grouped, text, error);
}

static enum doppel_status note_near_pair(void *context, const struct doppel_group_near *near,
                                         struct doppel_error *error)
{
    struct printing *printing = context;
    return near_pair_rows_add(&printing->near, near)
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the pairs");
}

static enum doppel_status print_one_group(void *context, const struct doppel_group *group,
                                          struct doppel_error *error)
{
    struct printing *printing = context;
    begin_output(printing);
    printing->found[group->kind] = true;
    printing->files |= !group->text;
    printing->groups++;
    printing->bytes += group->savable_bytes;
    const size_t left = group_copy_left(group->members, group->count);
    for (size_t i = 0; i < group->count; i++)
        count_member(printing, group, i, left);
    if (printing->links && !grouped_texts_add(&printing->grouped, group))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the texts of the groups");
    doppel_json_clear(&printing->row);
    doppel_group_to_json(&printing->row, NULL, group, DOPPEL_GROUP_PLAIN);
    enum doppel_status status = doppel_json_status(&printing->row, error);
    if (!status)
        output_object(printing->output, &printing->row);
    return status;
}

/* For people: what it all comes to. */
static void print_total(const struct printing *printing, bool interrupted)
{
    char text[256], bytes[32], identical[32];
    human_size((double)printing->bytes, bytes, sizeof bytes);
    human_size((double)printing->identical_bytes, identical, sizeof identical);
    int length =
        snprintf(text, sizeof text, "%" PRIu64 " duplicate%s in %" PRIu64 " group%s%s",
                 printing->duplicates, printing->duplicates == 1 ? "" : "s", printing->groups,
                 printing->groups == 1 ? "" : "s", interrupted ? " so far" : "");
    if (printing->files)
        length +=
            snprintf(text + length, sizeof text - (size_t)length, ": %s could be saved", bytes);
    if (printing->identical_bytes && printing->identical_bytes != printing->bytes)
        snprintf(text + length, sizeof text - (size_t)length, ", %s of it in identical files",
                 identical);
    if (printing->groups)
        output_line(printing->output, text);
}

static void report_gone(const struct printing *printing)
{
    if (printing->gone)
        report_notice(printing->report,
                      "%" PRIu64 " file%s of these groups %s gone; 'doppel remove --gone' removes "
                      "such items from the library",
                      printing->gone, printing->gone == 1 ? "" : "s",
                      printing->gone == 1 ? "is" : "are");
}

/* Of what there are none: for a person at a terminal, for others where nothing else was printed.
 */
static void report_kinds_without_duplicates(const struct printing *printing,
                                            const struct doppel_group_counts *counts)
{
    static const enum doppel_kind order[] = {DOPPEL_KIND_IMAGE, DOPPEL_KIND_TEXT, DOPPEL_KIND_AUDIO,
                                             DOPPEL_KIND_VIDEO, DOPPEL_KIND_UNKNOWN};
    struct report *report = printing->report;
    char list[256] = "";
    size_t used = 0;
    if (printing->groups && !(report->terminal && printing->settings->format == FORMAT_TABLE))
        return;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        uint64_t count = counts->items[order[i]];
        if (count && !printing->found[order[i]])
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%" PRIu64 " %s%s",
                                     used ? ", " : "", count, kind_noun(order[i]),
                                     count == 1 ? "" : "s");
    }
    if (used)
        report_notice(report, "no duplicates among %s", list);
    else if (!printing->groups && counts->records)
        report_notice(report, "no duplicates among records");
}

/* Whether there is anything at all. */
static bool has_any(const struct doppel_group_counts *counts)
{
    bool any = counts->records;
    for (size_t i = 0; i < sizeof counts->items / sizeof *counts->items; i++)
        any |= counts->items[i] > 0;
    return any;
}

/* ", 12 files are left out by '--ext', '--min-size'": by those that are given. */
static void left_out_by(const struct settings *settings, uint64_t files, char *out, size_t size)
{
    const struct {
        bool given;
        const char *option;
    } options[] = {
        {settings->extensions.count, "--ext"},     {settings->exclude.count, "--exclude"},
        {settings->min_size, "--min-size"},        {settings->newer_than_ns, "--newer-than"},
        {settings->older_than_ns, "--older-than"},
    };
    size_t used = 0;
    *out = '\0';
    if (!files)
        return;
    used = (size_t)snprintf(out, size, "; %" PRIu64 " %s left out by", files,
                            files == 1 ? "file is" : "files are");
    const char *between = " ";
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].given) {
            used += (size_t)snprintf(out + used, size - used, "%s'%s'", between, options[i].option);
            between = ", ";
        }
}

bool report_if_nothing(const struct doppel_group_counts *counts, const struct settings *settings,
                       struct report *report)
{
    char left_out[160];
    if (has_any(counts) || signals_stopped())
        return false;
    bool failed = doppel_run_failures(report->run);
    left_out_by(settings, counts->passed_over, left_out, sizeof left_out);
    report_notice(report, "%s: no pictures, texts, recordings or videos%s%s",
                  failed ? "nothing left to compare" : "nothing to compare",
                  failed ? " could be read" : "", left_out);
    return true;
}

static enum doppel_status save_pair(struct doppel_scan_saver *saver,
                                    const struct doppel_semantic_pair *pair,
                                    struct doppel_error *error)
{
    const struct doppel_group_link link = {
        .text = {.path = pair->name->path, .group = pair->group},
        .of = {.path = pair->link.of_path, .group = pair->of_group},
        .link = pair->link};
    return doppel_scan_save_link(saver, &link, error);
}

static enum doppel_status print_one_link(void *context, const struct doppel_semantic_pair *pair,
                                         struct doppel_error *error)
{
    struct printing *printing = context;
    enum doppel_status status =
        printing->saver ? save_pair(printing->saver, pair, error) : DOPPEL_OK;
    return status ? status : semantic_rows_print(&printing->rows, pair, error);
}

static void end_links(void *context)
{
    struct printing *printing = context;
    printing->rows_failed |= !semantic_rows_finish(&printing->rows);
}

static enum doppel_status print_links(struct printing *printing, struct doppel_error *error)
{
    const struct link_visit visit = {print_one_link, end_links, printing};
    if (!printing->links || signals_stopped())
        return DOPPEL_OK;
    grouped_texts_sort(&printing->grouped);
    enum doppel_status status =
        printing->links(printing->settings, printing->report, &printing->grouped, &visit, error);
    end_links(printing);
    if (printing->rows_failed && !status)
        status = signals_stopped() ? DOPPEL_E_CANCELLED
                                   : doppel_fail(error, DOPPEL_E_IO, "not all rows are printed");
    return status;
}

/* What stands below the groups. */
static enum doppel_status print_below(struct printing *printing, struct doppel_error *error)
{
    if (near_pair_rows_finish(&printing->near, printing->settings, printing->report))
        return print_links(printing, error);
    return signals_stopped() ? DOPPEL_E_CANCELLED
                             : doppel_fail(error, DOPPEL_E_IO, "not all rows are printed");
}

/* What was saved is whole now, with its links. */
static enum doppel_status end_saving(struct printing *printing, enum doppel_status status,
                                     const struct doppel_group_counts *counts,
                                     struct doppel_error *error)
{
    if (!printing->saver)
        return status;
    if (!status && signals_stopped())
        status = DOPPEL_E_CANCELLED;
    status = doppel_scan_save_end(printing->saver, status, counts, error);
    if (status == DOPPEL_E_CANCELLED)
        report_notice(printing->report, "%s: not saved, since the scan did not end",
                      printing->settings->save);
    return status;
}

static enum doppel_status print_groups(group_source *source, group_links *links,
                                       const struct settings *settings, struct report *report,
                                       struct doppel_error *error)
{
    struct printing printing = {.settings = settings,
                                .report = report,
                                .links = links,
                                .rows = {.settings = settings, .report = report}};
    struct doppel_group_counts counts = {0};
    const struct group_visit visit = {print_one_group,
                                      &printing,
                                      &counts,
                                      links ? note_scanned_text : NULL,
                                      settings->near_misses ? note_near_pair : NULL,
                                      links ? &printing.saver : NULL};
    enum doppel_status status = source(settings, report, &visit, error);
    doppel_json_free(&printing.row);
    if (!has_any(&counts)) {
        if (!status)
            report_if_nothing(&counts, settings, report);
        grouped_texts_free(&printing.grouped);
        return end_saving(&printing, status, &counts, error);
    }
    begin_output(&printing);
    if (!status || status == DOPPEL_E_CANCELLED)
        print_total(&printing, status == DOPPEL_E_CANCELLED);
    if (!output_finish(printing.output) && !status)
        status = signals_stopped() ? DOPPEL_E_CANCELLED
                                   : doppel_fail(error, DOPPEL_E_IO, "not all groups are printed");
    report_gone(&printing);
    if (!status && !signals_stopped())
        report_kinds_without_duplicates(&printing, &counts);
    if (!status)
        status = print_below(&printing, error);
    near_pair_rows_free(&printing.near);
    grouped_texts_free(&printing.grouped);
    return end_saving(&printing, status, &counts, error);
}

static enum doppel_status act_on_groups(group_source *source, const struct settings *settings,
                                        struct report *report, struct doppel_error *error)
{
    struct doppel_group_counts counts = {0};
    struct doppel_plan *plan;
    enum doppel_status status = new_plan(settings, &plan, error);
    if (status)
        return status;
    status = source(
        settings, report,
        &(struct group_visit){.visit = doppel_plan_add, .context = plan, .counts = &counts}, error);
    if (!status && has_any(&counts))
        status = settings->action == ACTION_SCRIPT ? print_script(plan, error)
                                                   : run_plan(plan, settings, report, error);
    else if (!status)
        report_if_nothing(&counts, settings, report);
    doppel_plan_free(plan);
    return status;
}

int print_groups_of(group_source *source, const struct settings *settings, struct report *report)
{
    return print_groups_and_links(source, NULL, settings, report);
}

int print_groups_and_links(group_source *source, group_links *links,
                           const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    enum doppel_status status = settings->action == ACTION_NONE
                                    ? print_groups(source, links, settings, report, &error)
                                    : act_on_groups(source, settings, report, &error);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    return EXIT_DONE;
}
