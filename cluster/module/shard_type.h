/* The data type of Redis' that a shard is. */
#ifndef DOPPEL_CLUSTER_SHARD_TYPE_H
#define DOPPEL_CLUSTER_SHARD_TYPE_H

#include "cluster/module/shard.h"

struct RedisModuleCtx;
struct RedisModuleKey;

/* What the callbacks of Redis know, as Redis gives them nothing. */
struct shard_host {
    struct node *node;
    struct RedisModuleType *type;
};
extern struct shard_host shard_host;

/* Create the type, and look out for whole databases that are emptied. @return whether Redis takes
 * it */
bool shard_type_register(struct RedisModuleCtx *context);

/* The shard of a key. @return NULL: it is none */
struct shard *shard_of_key(struct RedisModuleKey *key);

#endif
