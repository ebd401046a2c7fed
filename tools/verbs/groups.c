/* doppel groups: the duplicate groups in the library. */
#include "core/try.h"
#include "tools/args/commands.h"
#include "tools/args/engine_options.h"
#include "tools/args/library_options.h"
#include "tools/output/groups/groups.h"
#include "tools/output/rows/semantic_rows.h"
#include "tools/remote/remote.h"
#include "tools/verbs/semantic/library.h"

enum doppel_status library_groups(const struct settings *settings, struct report *report,
                                  const struct group_visit *visit, struct doppel_error *error)
{
    struct doppel_item_set wanted = {0};
    struct doppel_library *library = NULL;
    struct settings adopted = *settings;
    struct doppel_group_options options = {0};
    enum doppel_status status;
    TRY(open_library(settings, false, true, &library, error));
    adopt_schemes(&adopted, library, report);
    options = group_options_from(&adopted);
    options.wanted = &wanted;
    TRY(filter_library(settings, library, &wanted, error));
    TRY(read_marks(settings, &options.marks, error));
    TRY(doppel_library_groups(report->run, library, &options, visit->visit, visit->context,
                              visit->counts, error));
done:
    doppel_marks_free(options.marks);
    doppel_item_set_free(&wanted);
    doppel_library_close(library);
    return status;
}

/* ---- by their meaning ---- */

/* The library is opened again: links come when the groups are printed. */
static enum doppel_status library_links(const struct settings *settings, struct report *report,
                                        const struct grouped_texts *grouped,
                                        const struct link_visit *visit, struct doppel_error *error)
{
    struct doppel_item_set wanted = {0};
    struct doppel_library *library = NULL;
    struct semantic_library semantic = {0};
    struct doppel_semantic_links_summary summary = {0};
    const struct doppel_semantic_links_options options = {&wanted, grouped->items.items,
                                                          grouped->items.count, &summary};
    enum doppel_status status;
    TRY(open_library(settings, false, true, &library, error));
    TRY(filter_library(settings, library, &wanted, error));
    TRY(semantic_vectors_open(settings, report, library, &semantic, error));
    TRY(doppel_semantic_links(semantic.semantic, &options, visit->visit, visit->context, error));
    visit->end(visit->context);
    if (summary.min_cosine <= 1)
        semantic_rows_sum_up(report, &summary, 0);
done:
    semantic_library_close(&semantic);
    doppel_item_set_free(&wanted);
    doppel_library_close(library);
    return status;
}

int cmd_groups(const struct settings *settings, struct report *report)
{
    if (settings->server)
        return remote_groups(settings, report, groups_output(settings, report));
    return print_groups_and_links(library_groups, settings->semantic ? library_links : NULL,
                                  settings, report);
}
