/* The keys of the indexes of a set of passages, on one axis: those of the first, then the others.
 */
#ifndef DOPPEL_MATCH_TEXTS_PASSAGE_AXIS_H
#define DOPPEL_MATCH_TEXTS_PASSAGE_AXIS_H

#include <doppel/index.h>
#include <doppel/match.h>

struct passage_axis {
    struct doppel_index_axis *parts[DOPPEL_PASSAGE_INDEXES];
    uint64_t starts[DOPPEL_PASSAGE_INDEXES];
    size_t count;
    uint32_t salt; /* of its keys */
};

/** @param out given (passage_axis_free), also on failure */
enum doppel_status passage_axis_take(const struct doppel_passage_indexes *indexes,
                                     struct passage_axis *out, struct doppel_error *error);
void passage_axis_free(struct passage_axis *axis);

/** doppel_index_lengths, doppel_index_lookup and doppel_index_item_at over all of them. @param keys
 * salted by the call */
enum doppel_status passage_axis_lengths(const struct passage_axis *axis, uint32_t *keys,
                                        size_t count, uint64_t *out_lengths,
                                        struct doppel_error *error);
enum doppel_status passage_axis_lookup(const struct passage_axis *axis, uint32_t *keys,
                                       size_t count, doppel_index_run_visitor *visitor,
                                       void *context, struct doppel_error *error);
struct doppel_index_place passage_axis_item(const struct passage_axis *axis, uint64_t position);

#endif
