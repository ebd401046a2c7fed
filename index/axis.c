/* Items of postings: to come. */
#include <doppel/index.h>

static enum doppel_status not_yet(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "postings are not held in an index yet");
}

enum doppel_status doppel_index_insert_item(struct doppel_index *index,
                                            const struct doppel_index_item *item,
                                            struct doppel_error *error)
{
    (void)index;
    (void)item;
    return not_yet(error);
}

enum doppel_status doppel_index_axis_take(const struct doppel_index *index,
                                          struct doppel_index_axis **out,
                                          struct doppel_error *error)
{
    (void)index;
    (void)out;
    return not_yet(error);
}

void doppel_index_axis_free(struct doppel_index_axis *axis)
{
    (void)axis;
}

enum doppel_status doppel_index_lengths(const struct doppel_index_axis *axis, const uint32_t *keys,
                                        size_t count, uint64_t *out_lengths,
                                        struct doppel_error *error)
{
    (void)axis;
    (void)keys;
    (void)count;
    (void)out_lengths;
    return not_yet(error);
}

enum doppel_status doppel_index_lookup(const struct doppel_index_axis *axis, const uint32_t *keys,
                                       size_t count, doppel_index_run_visitor *visitor,
                                       void *context, struct doppel_error *error)
{
    (void)axis;
    (void)keys;
    (void)count;
    (void)visitor;
    (void)context;
    return not_yet(error);
}

struct doppel_index_place doppel_index_item_at(const struct doppel_index_axis *axis,
                                               uint64_t position)
{
    (void)axis;
    (void)position;
    return (struct doppel_index_place){0};
}
