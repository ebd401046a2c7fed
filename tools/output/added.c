/* What was added to a library, as rows. */
#include "tools/output/added.h"

static const struct column columns[] = {
    {"id", "id", CELL_NUMBER},
    {"added", "", CELL_TEXT},
    {"path", "path", CELL_PATH},
};

static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, "path", NULL};

static const char *const added_names[DOPPEL_ADDED_ELSEWHERE] = {
    [DOPPEL_ADDED_NEW] = "new",
    [DOPPEL_ADDED_UNCHANGED] = "unchanged",
    [DOPPEL_ADDED_UPDATED] = "updated",
    [DOPPEL_ADDED_MOVED] = "moved",
};

struct output *added_output(const struct settings *settings, struct report *report)
{
    return output_new(settings, &layout, report);
}

bool added_is_printed(const struct settings *settings)
{
    return settings->verbose || settings->format != FORMAT_TABLE || settings->null_separated;
}

void added_to_json(struct doppel_json *row, uint64_t id, const char *path, enum doppel_added added)
{
    doppel_json_object_begin(row, NULL);
    doppel_json_integer(row, "id", id);
    doppel_json_path(row, "path", path);
    doppel_json_text(row, "added", added_names[added]);
    doppel_json_object_end(row);
}

void added_report(const struct settings *settings, struct report *report,
                  const uint64_t counts[DOPPEL_ADDED_ELSEWHERE])
{
    bool none = true;
    for (int i = 0; i < DOPPEL_ADDED_ELSEWHERE; i++)
        none &= !counts[i];
    if (none || (report->terminal && settings->format == FORMAT_TABLE))
        report_notice(report, "%llu new, %llu unchanged, %llu updated, %llu moved",
                      (unsigned long long)counts[DOPPEL_ADDED_NEW],
                      (unsigned long long)counts[DOPPEL_ADDED_UNCHANGED],
                      (unsigned long long)counts[DOPPEL_ADDED_UPDATED],
                      (unsigned long long)counts[DOPPEL_ADDED_MOVED]);
}
