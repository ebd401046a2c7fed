/* doppel scan PATH...: the groups of duplicates among the files under PATHs; needs no library. */
#include <stdlib.h>

#include "intake/walk.h"
#include "core/try.h"
#include "tools/args/commands.h"
#include "tools/args/engine_options.h"
#include "tools/args/paths.h"
#include "tools/memory.h"
#include "tools/output/groups.h"

/* Whom groups are given to. */
struct visiting {
    doppel_group_visitor *visit;
    void *context;
    struct doppel_group_counts *counts;
};

/* References come first: they lead the groups that they are in. */
static struct strings reference_then_operands(const struct settings *settings)
{
    size_t references = settings->reference.count;
    struct strings paths = {.count = references + settings->operands.count};
    paths.items = must_allocate((paths.count + 1) * sizeof *paths.items);
    for (size_t i = 0; i < paths.count; i++)
        paths.items[i] = i < references ? settings->reference.items[i]
                                        : settings->operands.items[i - references];
    return paths;
}

/* ---- saved scans ---- */

/* The operand that is a saved scan; NULL: there is none. */
static const char *saved_operand(const struct settings *settings)
{
    for (size_t i = 0; i < settings->operands.count; i++)
        if (doppel_is_saved_scan(settings->operands.items[i]))
            return settings->operands.items[i];
    return NULL;
}

/* What was decided when it was saved cannot be decided again: nobody is to believe that it was. */
static enum doppel_status check_saved(const struct settings *settings, const char *path,
                                      struct doppel_error *error)
{
    const struct {
        bool given;
        const char *option;
    } decided[] = {
        {settings->keep_text, "keep"},
        {settings->keep_from.count, "keep-from"},
        {settings->not_within, "not-within"},
        {settings->cross_folder, "cross-folder"},
        {settings->min_similarity >= 0, "min-similarity"},
        {settings->max_distance >= 0, "max-distance"},
        {settings->extensions.count, "ext"},
        {settings->newer_than_ns, "newer-than"},
        {settings->older_than_ns, "older-than"},
        {settings->save, "save"},
    };
    if (settings->operands.count > 1 || settings->reference.count || settings->files_from)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "%s: is a saved scan: it is looked at alone, without other PATHs", path);
    for (size_t i = 0; i < sizeof decided / sizeof *decided; i++)
        if (decided[i].given)
            return doppel_fail(error, DOPPEL_E_ARGUMENT,
                               "%s: is a saved scan: '--%s' is for the scan that is saved", path,
                               decided[i].option);
    return DOPPEL_OK;
}

static enum doppel_status saved_groups(const struct settings *settings, struct report *report,
                                       const char *path, const struct visiting *visiting,
                                       struct doppel_error *error)
{
    struct doppel_group_options options = group_options_from(settings);
    enum doppel_status status;
    TRY(check_saved(settings, path, error));
    TRY(read_marks(settings, &options.marks, error));
    TRY(doppel_scan_saved(report->run, path, &options, visiting->visit, visiting->context,
                          visiting->counts, error));
done:
    doppel_marks_free(options.marks);
    return status;
}

/* ---- scanning ---- */

static enum doppel_status scan_paths(const struct settings *settings, struct report *report,
                                     const struct visiting *visiting, struct doppel_error *error)
{
    struct doppel_walk_options walk = walk_options_from(settings);
    struct doppel_read_options read = read_options_from(settings);
    struct doppel_group_options options = group_options_from(settings);
    char *library = library_directory(settings);
    struct strings all = reference_then_operands(settings);
    const struct doppel_scan_paths paths = {all.items, all.count, settings->reference.count};
    options.walk = &walk;
    options.read = &read;
    options.library = library;
    enum doppel_status status = read_marks(settings, &options.marks, error);
    if (!status)
        status = doppel_scan(report->run, &paths, &options, visiting->visit, visiting->context,
                             visiting->counts, error);
    doppel_marks_free(options.marks);
    free(library);
    free(all.items);
    return status;
}

/* Groups on their way to a file, too. */
struct saving {
    struct doppel_scan_saver *saver;
    const struct visiting *visiting;
};

static enum doppel_status save_and_visit(void *context, const struct doppel_group *group,
                                         struct doppel_error *error)
{
    const struct saving *saving = context;
    enum doppel_status status = doppel_scan_save_group(saving->saver, group, error);
    return status ? status : saving->visiting->visit(saving->visiting->context, group, error);
}

static enum doppel_status scan_and_save(const struct settings *settings, struct report *report,
                                        const struct visiting *visiting, struct doppel_error *error)
{
    struct saving saving = {.visiting = visiting};
    const struct visiting both = {save_and_visit, &saving, visiting->counts};
    enum doppel_status status = doppel_scan_save_begin(settings->save, &saving.saver, error);
    if (status)
        return status;
    status = scan_paths(settings, report, &both, error);
    status = doppel_scan_save_end(saving.saver, status, visiting->counts, error);
    if (status == DOPPEL_E_CANCELLED)
        report_notice(report, "%s: not saved, since the scan did not end", settings->save);
    return status;
}

enum doppel_status scan_groups(const struct settings *settings, struct report *report,
                               doppel_group_visitor *visit, void *context,
                               struct doppel_group_counts *counts, struct doppel_error *error)
{
    struct doppel_group_counts unwanted;
    const struct visiting visiting = {visit, context, counts ? counts : &unwanted};
    const char *saved = saved_operand(settings);
    if (saved)
        return saved_groups(settings, report, saved, &visiting, error);
    return settings->save ? scan_and_save(settings, report, &visiting, error)
                          : scan_paths(settings, report, &visiting, error);
}

int cmd_scan(const struct settings *settings, struct report *report)
{
    return print_groups_of(scan_groups, settings, report);
}
