/* Which sets of shingles are parts of others, however much longer these are: found by the lowest
 * shingles of the part, nearly all of which a set that holds it has, too. Bands of a signature do
 * not find such pairs: the similarity is low. */
#ifndef DOPPEL_COMPARE_PART_INDEX_H
#define DOPPEL_COMPARE_PART_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct part_index;

/* NULL without memory. */
struct part_index *part_index_new(void);
void part_index_free(struct part_index *index);

/* A set and its number; each number once. @param shingles ascending, each once; all, or the lowest.
 * Takes three bytes for two shingles, and 100. @return false without memory: then the index is of
 * no use */
bool part_index_add(struct part_index *index, uint32_t number, const uint32_t *shingles,
                    size_t count);

/* Numbers, ascending, each once; given (free `items`). */
struct part_candidates {
    uint32_t *items;
    size_t count;
};

/* What is looked for. */
struct part_wish {
    const uint32_t *shingles; /* as for part_index_add; borrowed */
    size_t count;
    double containment; /* the share of a part that is to be held */
    bool parts;         /* sets that this one may hold, not those that may hold it */
};

/* The sets that may hold such a share of this one, or those of which this one may hold so much: by
 * the part's keys, and then by all that is held of both, to which one in 200 pairs at the limit
 * fall victim. Of a key that many have, the 1 024 first are looked at.
 * @return false without memory */
bool part_index_find(const struct part_index *index, const struct part_wish *wish,
                     struct part_candidates *out);

#endif
