/* A group of records, parted where a person told two of its contents apart. */
#ifndef DOPPEL_GROUP_RECORD_PARTS_H
#define DOPPEL_GROUP_RECORD_PARTS_H

#include "core/digest_map.h"
#include "group/labels.h"

/* The contents that somebody distinguished from others. */
struct told_apart {
    const struct marks *marks;
    struct digest_map contents; /* number 2 i: a of mark i; 2 i + 1: its b */
};

/* @param marks borrowed */
void told_apart_begin(struct told_apart *apart, const struct marks *marks);
void told_apart_end(struct told_apart *apart);

/* Whether anything was distinguished at all. */
bool told_apart_any(const struct told_apart *apart);

/* Who leads each of `count` members, of which the first leads: itself, or the first with the
 * content that leaves. As grouping_lead_all has it for files: the one that does not lead leaves, of
 * two others the later one, with all of its content. */
void told_apart_lead(const struct told_apart *apart, const struct doppel_digest *contents,
                     size_t count, uint32_t *out_leaders);

#endif
