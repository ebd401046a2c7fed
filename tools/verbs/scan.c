/* doppel scan PATH...: the groups of duplicates among the files under PATHs; needs no library. */
#include <stdlib.h>

#include "intake/walk.h"
#include "core/try.h"
#include "tools/args/commands.h"
#include "tools/args/engine_options.h"
#include "tools/args/paths.h"
#include "tools/memory.h"
#include "tools/output/groups/groups.h"
#include "tools/output/rows/semantic_rows.h"
#include "tools/verbs/semantic/library.h"

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
        {settings->bursts, "bursts"},
        {settings->min_similarity >= 0, "min-similarity"},
        {settings->max_distance >= 0, "max-distance"},
        {settings->extensions.count, "ext"},
        {settings->newer_than_ns, "newer-than"},
        {settings->older_than_ns, "older-than"},
        {settings->save, "save"},
        {settings->semantic, "semantic"},
        {settings->near_misses, "near-misses"},
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
                                       const char *path, const struct group_visit *visiting,
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
                                     const struct group_visit *visiting, struct doppel_error *error)
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
    options.visit_text = visiting->visit_text;
    options.text_context = visiting->context;
    options.visit_near = visiting->visit_near;
    options.near_context = visiting->context;
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
    const struct group_visit *visiting;
};

static enum doppel_status save_and_visit(void *context, const struct doppel_group *group,
                                         struct doppel_error *error)
{
    const struct saving *saving = context;
    enum doppel_status status = doppel_scan_save_group(saving->saver, group, error);
    return status ? status : saving->visiting->visit(saving->visiting->context, group, error);
}

static enum doppel_status visit_saved_text(void *context, const struct doppel_group_text *text,
                                           struct doppel_error *error)
{
    const struct group_visit *visiting = ((const struct saving *)context)->visiting;
    return visiting->visit_text(visiting->context, text, error);
}

static enum doppel_status visit_near_of_saved(void *context, const struct doppel_group_near *near,
                                              struct doppel_error *error)
{
    const struct group_visit *visiting = ((const struct saving *)context)->visiting;
    return visiting->visit_near(visiting->context, near, error);
}

static enum doppel_status scan_and_save(const struct settings *settings, struct report *report,
                                        const struct group_visit *visiting,
                                        struct doppel_error *error)
{
    struct saving saving = {.visiting = visiting};
    const struct group_visit both = {.visit = save_and_visit,
                                     .context = &saving,
                                     .counts = visiting->counts,
                                     .visit_text = visiting->visit_text ? visit_saved_text : NULL,
                                     .visit_near =
                                         visiting->visit_near ? visit_near_of_saved : NULL};
    enum doppel_status status = doppel_scan_save_begin(settings->save, &saving.saver, error);
    if (status)
        return status;
    status = scan_paths(settings, report, &both, error);
    if (!status && visiting->saver) {
        *visiting->saver = saving.saver;
        return DOPPEL_OK;
    }
    status = doppel_scan_save_end(saving.saver, status, visiting->counts, error);
    if (status == DOPPEL_E_CANCELLED)
        report_notice(report, "%s: not saved, since the scan did not end", settings->save);
    return status;
}

enum doppel_status scan_groups(const struct settings *settings, struct report *report,
                               const struct group_visit *visit, struct doppel_error *error)
{
    struct doppel_group_counts unwanted;
    struct group_visit visiting = *visit;
    visiting.counts = visit->counts ? visit->counts : &unwanted;
    const char *saved = saved_operand(settings);
    if (saved)
        return saved_groups(settings, report, saved, &visiting, error);
    return settings->save ? scan_and_save(settings, report, &visiting, error)
                          : scan_paths(settings, report, &visiting, error);
}

/* ---- by their meaning ---- */

static enum doppel_status foresee_scanned(void *context, const struct doppel_model_texts *texts,
                                          struct doppel_error *error)
{
    return embedder_foresee(context, texts, error);
}

static enum doppel_status begin_scanned(void *context, struct doppel_error *error)
{
    return embedder_begin(context, error);
}

static void report_links(struct report *report, const struct grouped_texts *grouped,
                         const struct doppel_semantic_options *options,
                         const struct doppel_semantic_links_summary *summary)
{
    if (summary->min_cosine > 1)
        report_warning(report,
                       "semantic: %llu passage%s too few to tell what a rate of %g is: none is "
                       "linked; give %sa higher --max-fp-rate",
                       (unsigned long long)summary->vectors,
                       summary->vectors == 1 ? " is" : "s are", options->max_fp_rate,
                       semantic_cosine_advice(options->scores));
    else
        semantic_rows_sum_up(report, summary, grouped->duplicates);
}

/* By a failure to embed this stage is given up: the groups stand. */
static enum doppel_status link_scanned(struct doppel_semantic *semantic,
                                       const struct doppel_semantic_files *files,
                                       struct report *report, const struct link_visit *visit,
                                       struct doppel_error *error)
{
    struct doppel_error why;
    enum doppel_status status =
        doppel_semantic_link_files(semantic, files, visit->visit, visit->context, &why);
    if (status == DOPPEL_E_CANCELLED || status == DOPPEL_E_MEMORY)
        return doppel_fail(error, status, "%s", why.message);
    if (status)
        report_input(report, "--semantic", why.message);
    return DOPPEL_OK;
}

/* What repeats another text by its words needs not be embedded. */
static enum doppel_status scanned_links(const struct settings *settings, struct report *report,
                                        const struct grouped_texts *grouped,
                                        const struct link_visit *visit, struct doppel_error *error)
{
    struct embedder_of_run source = {0};
    struct doppel_semantic *semantic = NULL;
    struct doppel_semantic_options options = semantic_options_from(settings);
    struct doppel_semantic_links_summary summary = {0};
    struct doppel_semantic_files files = {.files = grouped->files.items,
                                          .count = grouped->files.count,
                                          .context = &source,
                                          .summary = &summary};
    enum doppel_status status = DOPPEL_OK;
    if (files.count < 2)
        goto done;
    TRY(embedder_open(settings, report, &source, error));
    options.embedder = source.embedder;
    files.foresee = source.is_service ? foresee_scanned : NULL;
    files.begin = source.is_service ? begin_scanned : NULL;
    TRY(doppel_semantic_new(report->run, NULL, &options, &semantic, error));
    status = link_scanned(semantic, &files, report, visit, error);
    embedder_print_usage(&source, status != DOPPEL_OK || !summary.min_cosine);
    TRY(status);
    visit->end(visit->context);
    if (summary.min_cosine != 0)
        report_links(report, grouped, &options, &summary);
done:
    doppel_semantic_free(semantic);
    embedder_close(&source);
    return status;
}

/* ---- of a saved scan ---- */

enum doppel_status visit_saved_links(const struct settings *settings, struct report *report,
                                     doppel_group_link_visitor *visit, void *context,
                                     struct doppel_error *error)
{
    const char *path = saved_operand(settings);
    if (!path || (settings->kind && settings->kind != DOPPEL_KIND_TEXT))
        return DOPPEL_OK;
    return doppel_scan_saved_links(report->run, path, visit, context, error);
}

struct saved_link_visit {
    const struct grouped_texts *grouped;
    const struct link_visit *visit;
};

/* Its number, if the group is still one. */
static uint64_t group_still_there(const struct grouped_texts *grouped, uint64_t number)
{
    for (size_t i = 0; i < grouped->numbers.count; i++)
        if (grouped->numbers.items[i] == number)
            return number;
    return 0;
}

static enum doppel_status visit_saved_pair(void *context, const struct doppel_group_link *link,
                                           struct doppel_error *error)
{
    const struct saved_link_visit *saved = context;
    const struct doppel_name name = {.path = (char *)link->text.path, .kind = DOPPEL_KIND_TEXT};
    const struct doppel_semantic_pair pair = {
        .name = &name,
        .group = group_still_there(saved->grouped, link->text.group),
        .of_group = group_still_there(saved->grouped, link->of.group),
        .link = link->link};
    return saved->visit->visit(saved->visit->context, &pair, error);
}

static enum doppel_status saved_links(const struct settings *settings, struct report *report,
                                      const struct grouped_texts *grouped,
                                      const struct link_visit *visit, struct doppel_error *error)
{
    struct saved_link_visit saved = {grouped, visit};
    return visit_saved_links(settings, report, visit_saved_pair, &saved, error);
}

/* Whether there is what embeds: it is not to be missed when all files were read. */
static enum doppel_status check_embedder(const struct settings *settings, struct report *report,
                                         struct doppel_error *error)
{
    struct embedder_of_run source;
    if (!settings->semantic || saved_operand(settings))
        return DOPPEL_OK;
    enum doppel_status status = embedder_open(settings, report, &source, error);
    embedder_close(&source);
    return status;
}

/* What prints rows of one sort has groups alone. */
static group_links *links_of(const struct settings *settings)
{
    const bool bare = settings->null_separated && !settings->format_given;
    if (saved_operand(settings))
        return bare || settings->format == FORMAT_CSV ? NULL : saved_links;
    return settings->semantic ? scanned_links : NULL;
}

int cmd_scan(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    if (check_embedder(settings, report, &error))
        return report_fatal(report, "%s", error.message);
    return print_groups_and_links(scan_groups, links_of(settings), settings, report);
}
