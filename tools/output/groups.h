/* Groups as rows of the output, or acted on; and where they come from. */
#ifndef DOPPEL_TOOLS_OUTPUT_GROUPS_H
#define DOPPEL_TOOLS_OUTPUT_GROUPS_H

#include <doppel/group.h>
#include <doppel/search_semantic.h>

#include "core/array.h"
#include "tools/args/options.h"
#include "tools/output/messages.h"

/* Visit the groups, as doppel_scan and doppel_library_groups do. */
typedef enum doppel_status group_source(const struct settings *settings, struct report *report,
                                        doppel_group_visitor *visit, void *context,
                                        struct doppel_group_counts *counts,
                                        struct doppel_error *error);

/* Of the files under the operands, or in the saved scan that is the operand; of the items of the
 * library. */
group_source scan_groups, library_groups;

/* A text of a library that is in a group that was printed. */
struct grouped_texts {
    ARRAY(struct doppel_semantic_grouped) items;
};

/* Print, below the groups, what means the same. @param grouped by item */
typedef enum doppel_status group_links(const struct settings *settings, struct report *report,
                                       const struct grouped_texts *grouped,
                                       struct doppel_error *error);

/* What prints rows of groups, for people as trees. Given (output_finish) */
struct output *groups_output(const struct settings *settings, struct report *report);

/* Print the groups, or act on them. @return the verb's exit code */
int print_groups_of(group_source *source, const struct settings *settings, struct report *report);

/* The same, and what is linked to each other below it. */
int print_groups_and_links(group_source *source, group_links *links,
                           const struct settings *settings, struct report *report);

/* Say that there is nothing to compare, and what left it out, where that is so. @return whether */
bool report_if_nothing(const struct doppel_group_counts *counts, const struct settings *settings,
                       struct report *report);

#endif
