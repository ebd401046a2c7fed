/* A group of records, parted where a manual label says that two of its contents are distinct. */
#ifndef DOPPEL_GROUP_DISTINCT_RECORDS_H
#define DOPPEL_GROUP_DISTINCT_RECORDS_H

#include "core/digest_map.h"
#include "group/manual_labels.h"

/* The contents that are labelled distinct from others. */
struct distinct_contents {
    const struct manual_labels *labels;
    struct digest_map contents; /* number 2 i: a of label i; 2 i + 1: its b */
};

/* @param labels borrowed. @return false without memory; distinct_contents_free either way */
bool distinct_contents_init(struct distinct_contents *distinct, const struct manual_labels *labels);
void distinct_contents_free(struct distinct_contents *distinct);

/* Whether anything was distinguished at all. */
bool distinct_contents_any(const struct distinct_contents *distinct);

/* Who leads each of `count` members, of which the first leads: itself, or the first with the
 * content that leaves. As grouping_lead_all has it for files: the one that does not lead leaves, of
 * two others the later one, with all of its content. @return false without memory */
bool distinct_contents_lead(const struct distinct_contents *distinct,
                            const struct doppel_digest *contents, size_t count,
                            uint32_t *out_leaders);

#endif
