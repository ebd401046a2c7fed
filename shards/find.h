/* What may match, and what does. */
#ifndef DOPPEL_SHARDS_FIND_H
#define DOPPEL_SHARDS_FIND_H

#include "shards/ask.h"

/* Candidates of some queries, and their items; zero-initialised it is empty. */
struct shards_looked_up {
    struct shards_candidates candidates;
    struct stored_items items;
    uint8_t missing[SHARD_BYTES];
};
void shards_looked_up_free(struct shards_looked_up *looked_up);

/* As asks_run, and items_fetch. */
enum doppel_status shards_look_up(struct doppel_shards *shards,
                                  const struct doppel_record *const *queries, size_t count,
                                  const struct doppel_compare_options *options, bool of_masters,
                                  struct shards_looked_up *out, struct doppel_error *error);

/* Whether two digests are there, and equal. */
bool is_same_digest(const struct doppel_digest *a, const struct doppel_digest *b);

/* Whether an item matches, as a library of one machine judges it. @param out given
 * (doppel_comparison_free) if so */
enum doppel_status shards_judge(const struct doppel_record *query,
                                const struct doppel_compare_options *options,
                                const struct doppel_shards_item *item, bool *out_matches,
                                struct doppel_comparison *out, struct doppel_error *error);

#endif
