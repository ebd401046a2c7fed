/* Groups as rows of the output, or acted on; and where they come from. */
#ifndef DOPPEL_TOOLS_OUTPUT_GROUPS_GROUPS_H
#define DOPPEL_TOOLS_OUTPUT_GROUPS_GROUPS_H

#include <doppel/group.h>
#include <doppel/search_semantic.h>

#include "tools/args/options.h"
#include "tools/output/groups/grouped_texts.h"
#include "tools/output/messages.h"

/* Whom groups are given to. */
struct group_visit {
    doppel_group_visitor *visit;
    void *context;
    struct doppel_group_counts *counts;    /* may be NULL */
    doppel_group_text_visitor *visit_text; /* of scan_groups, with the same context; may be NULL */
    doppel_group_near_visitor *visit_near; /* likewise */
    struct doppel_scan_saver **saver; /* of scan_groups: where what it saves goes on, when it has
                                         ended well (doppel_scan_save_end); NULL: it is ended */
};

/* Visit the groups, as doppel_scan and doppel_library_groups do. */
typedef enum doppel_status group_source(const struct settings *settings, struct report *report,
                                        const struct group_visit *visit,
                                        struct doppel_error *error);

/* Of the files under the operands, or in the saved scan that is the operand; of the items of the
 * library. */
group_source scan_groups, library_groups;

/* Visit the links of the saved scan that is the operand, if one is and texts are wanted. */
enum doppel_status visit_saved_links(const struct settings *settings, struct report *report,
                                     doppel_group_link_visitor *visit, void *context,
                                     struct doppel_error *error);

/* Whom links are given to. */
struct link_visit {
    doppel_semantic_pair_visitor *visit;
    void (*end)(void *context); /* there are no more; what came of it may be said then */
    void *context;
};

/* Visit, when all groups were visited, what means the same. */
typedef enum doppel_status group_links(const struct settings *settings, struct report *report,
                                       const struct grouped_texts *grouped,
                                       const struct link_visit *visit, struct doppel_error *error);

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
