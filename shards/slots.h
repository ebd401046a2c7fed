/* Where a key lies: the slots of a Redis Cluster, and the shards of a library among them. */
#ifndef DOPPEL_SHARDS_SLOTS_H
#define DOPPEL_SHARDS_SLOTS_H

#include <stdint.h>

#include <doppel/core.h>

enum { REDIS_SLOTS = 16384 };

/* The slot of the keys with `{shard}` in their name. Source: Redis Cluster specification, "Key
 * distribution model": CRC-16 of XMODEM. */
uint32_t slot_of_shard(uint32_t shard);

/* The shard of what has this key: its external id, or digest. */
uint32_t shard_of_name(const char *name);

#endif
