/* What a key holds: a shard's codes, and their place in the index of the node. All calls are those
 * of Redis' main thread, but for shard_free. */
#ifndef DOPPEL_CLUSTER_SHARD_H
#define DOPPEL_CLUSTER_SHARD_H

#include "cluster/node/node.h"

struct shard {
    struct node_family_options options;
    uint32_t number;
    size_t words; /* of a code */
    size_t count, capacity;
    uint64_t *codes; /* count × words; Redis' memory, as are payloads */
    uint64_t *payloads;
    struct node_member *member;
};

/* @param out given (shard_free) */
enum doppel_status shard_new(struct node *node, const struct node_family_options *options,
                             uint32_t number, struct shard **out, struct doppel_error *error);
void shard_free(struct shard *shard);

/* @param codes count × words, with payloads below 2^NODE_PAYLOAD_BITS; borrowed
 * @return DOPPEL_OK; DOPPEL_E_MEMORY: none was added */
enum doppel_status shard_add(struct shard *shard, const uint64_t *codes, const uint64_t *payloads,
                             size_t count, struct doppel_error *error);

/* Remove the codes of payloads: in one pass over all. @param payloads are sorted by it
 * @param out_removed codes. @return DOPPEL_OK; DOPPEL_E_MEMORY: none was removed */
enum doppel_status shard_remove(struct shard *shard, uint64_t *payloads, size_t count,
                                size_t *out_removed, struct doppel_error *error);

size_t shard_bytes(const struct shard *shard);

/* Bits of a code, or of a signature. */
uint32_t shard_code_bits(const struct node_family_options *options);

/* Whether codes can be in its table: those of postings have a key and a position within bounds. */
bool shard_takes_codes(const struct shard *shard, const uint64_t *codes, size_t count);

/* A code as it was sent: its words, little-endian, or hexadecimal digits (doppel_code_to_hex).
 * @return false: it is none */
bool shard_parse_code(const struct shard *shard, const char *bytes, size_t size, uint64_t *out);

#endif
