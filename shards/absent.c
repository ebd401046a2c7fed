/* In place of the rest, where doppel is built without Redis: no library is opened, and so nothing
 * is asked of one. */
#include <doppel/shards.h>

static enum doppel_status no_redis(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                       "this doppel was built without hiredis, and opens no library in a cluster");
}

enum doppel_status doppel_shards_open(struct doppel_run *run,
                                      const struct doppel_shards_options *options,
                                      struct doppel_shards **out, struct doppel_error *error)
{
    (void)run, (void)options, (void)out;
    return no_redis(error);
}

void doppel_shards_close(struct doppel_shards *shards)
{
    (void)shards;
}

enum doppel_status doppel_shards_add(struct doppel_shards *shards,
                                     const struct doppel_shards_item *items, size_t count,
                                     struct doppel_shards_added *out, struct doppel_error *error)
{
    (void)shards, (void)items, (void)count, (void)out;
    return no_redis(error);
}

enum doppel_status doppel_shards_remove(struct doppel_shards *shards, uint64_t id,
                                        struct doppel_error *error)
{
    (void)shards, (void)id;
    return no_redis(error);
}

enum doppel_status doppel_shards_find(struct doppel_shards *shards,
                                      const struct doppel_record *const *queries, size_t count,
                                      const struct doppel_compare_options *options,
                                      struct doppel_shards_answers *out, struct doppel_error *error)
{
    (void)shards, (void)queries, (void)count, (void)options, (void)out;
    return no_redis(error);
}

enum doppel_status doppel_shards_decide(struct doppel_shards *shards,
                                        const struct doppel_shards_item *items, size_t count,
                                        const struct doppel_shards_decide_options *options,
                                        struct doppel_shards_decision *out,
                                        struct doppel_error *error)
{
    (void)shards, (void)items, (void)count, (void)options, (void)out;
    return no_redis(error);
}

enum doppel_status doppel_shards_get(struct doppel_shards *shards, uint64_t id,
                                     struct doppel_shards_item *out, struct doppel_error *error)
{
    (void)shards, (void)id, (void)out;
    return no_redis(error);
}

enum doppel_status doppel_shards_get_id(struct doppel_shards *shards, const char *external_id,
                                        uint64_t *out, struct doppel_error *error)
{
    (void)shards, (void)external_id, (void)out;
    return no_redis(error);
}

enum doppel_status doppel_shards_each(struct doppel_shards *shards, doppel_shards_visitor *visitor,
                                      void *context, struct doppel_error *error)
{
    (void)shards, (void)visitor, (void)context;
    return no_redis(error);
}

bool doppel_shards_node_of(const struct doppel_shards *shards, uint32_t shard,
                           char out[DOPPEL_SHARDS_NODE_BYTES])
{
    (void)shards, (void)shard;
    out[0] = '\0';
    return false;
}

enum doppel_status doppel_shards_get_stats(struct doppel_shards *shards,
                                           struct doppel_shards_stats *out,
                                           struct doppel_error *error)
{
    (void)shards, (void)out;
    return no_redis(error);
}
