/*
 * What a node of a cluster searches: the index of a *family*, which holds the codes of all shards
 * of it that the node has. A shard's own codes lie with its key, and move with it; here they are a
 * *member* of the family, numbered, so that one search finds what lies in any of them. Knows
 * nothing of Redis.
 *
 * Whoever adds does not wait: what is added and removed waits in a queue, in order, for the writer,
 * a thread; another merges segments, and others search. A search sees all that was asked for before
 * it. Beside a shard's own codes it costs the index: 28 to 33 bytes a code of 64 bits when all is
 * merged, some 40 before.
 *
 * Calls are thread-safe, but for one member's: these come one after the other.
 */
#ifndef DOPPEL_CLUSTER_NODE_H
#define DOPPEL_CLUSTER_NODE_H

#include <doppel/index.h>
#include <doppel/match_images.h>

enum {
    NODE_FAMILY_NAME_MOST = 255, /* bytes */
    NODE_MEMBER_BITS = 14,       /* of what the index takes for a payload */
    NODE_PAYLOAD_BITS = 64 - NODE_MEMBER_BITS,
    NODE_MEMBERS_MOST = 1 << NODE_MEMBER_BITS, /* of a family, and those that are being dropped */
    NODE_SHARDS_MOST = NODE_MEMBERS_MOST,
    NODE_LOW_MOST = 32
};

struct node;
struct node_member;

/* @param threads that search. @param out given (node_free) */
enum doppel_status node_new(uint32_t threads, struct node **out, struct doppel_error *error);

/* When it has no members and no searches. */
void node_free(struct node *node);

/* What a family is. */
struct node_family_options {
    char name[NODE_FAMILY_NAME_MOST + 1]; /* "": of this member alone */
    struct doppel_index_options index;
    /* So many low bits of payloads stay the lowest in the index, and the member's number stands
     * above them; up to NODE_LOW_MOST. Hits come by the payload without them, first. */
    uint32_t low;
};

/* Words of a code. One of postings is a word: its key, and above it, from bit 32 on, its position
 * in the item that the payload says, below 2^NODE_POSITION_BITS. */
size_t node_code_words(const struct node_family_options *options);
enum { NODE_POSITION_BITS = 31 };

/* Whether it has codes of phash64 by doppel_image_table_payload, which are looked through. */
bool node_is_looked_through(const struct node_family_options *options);

/* A shard is here from now on. @param out given (node_leave). @return DOPPEL_OK; DOPPEL_E_ARGUMENT:
 * the options, or others than those of the family; DOPPEL_E_LIMIT; DOPPEL_E_MEMORY */
enum doppel_status node_join(struct node *node, const struct node_family_options *options,
                             uint32_t shard, struct node_member **out, struct doppel_error *error);

/* It is not any more: no search finds it, and its codes are dropped by and by. Takes the member.
 * @param payloads all of its codes; without memory for them the codes stay, and are not found */
void node_leave(struct node_member *member, const uint64_t *payloads, size_t count);

/* No search finds any member that is there; they are to leave later. */
void node_hide_all(struct node *node);

/* Codes of a member, or payloads of which all codes go. Both are copied. @param payloads below
 * 2^NODE_PAYLOAD_BITS. @return DOPPEL_OK; DOPPEL_E_MEMORY: nothing was done */
enum doppel_status node_add(struct node_member *member, const uint64_t *codes,
                            const uint64_t *payloads, size_t count, struct doppel_error *error);
enum doppel_status node_remove(struct node_member *member, const uint64_t *payloads, size_t count,
                               struct doppel_error *error);

/* What is looked for, as doppel_images_look does. */
struct node_question {
    struct doppel_fingerprint print;
    struct doppel_match_options options;
};

/* A search. All but `codes` and `questions` is the caller's until `done` is called. */
struct node_search {
    uint64_t *codes;                 /* taken (free); of postings, keys */
    struct node_question *questions; /* instead of codes; taken (node_questions_free) */
    size_t count;
    uint32_t radius;
    size_t nearest; /* 0: all */
    bool all;       /* of the family, not of the member alone */
    /* Called by a search thread, once. */
    void (*done)(struct node_search *search);
    void *context;

    /* What came of it. DOPPEL_E_NOT_FOUND: the member has left meanwhile. */
    enum doppel_status status;
    struct doppel_error error;
    /* By query, distance, payload; of postings by query, payload, and the position, which stands in
     * place of the distance; given (free). Their payload is for node_hit_payload and
     * node_hit_shard. Of questions the payload is the id in it, each once, and no distance. */
    struct doppel_index_hit *hits;
    size_t hit_count;
    /* Where `all`: bit i % 8 of byte i / 8 says that shard i was searched, whole. Of others there
     * are no hits. */
    uint8_t shards[NODE_SHARDS_MOST / 8];
    size_t shards_bytes; /* up to the last one that is not 0 */

    /* Of the node. */
    struct node_family *family;
    uint64_t asked, joined, joins;
    uint32_t member;
    struct node_search *next;
};

static inline uint64_t node_hit_payload(const struct doppel_index_hit *hit)
{
    return hit->payload >> NODE_MEMBER_BITS;
}

static inline uint32_t node_hit_shard(const struct doppel_index_hit *hit)
{
    return (uint32_t)(hit->payload & (NODE_SHARDS_MOST - 1));
}

void node_questions_free(struct node_question *questions, size_t count);

/* Search in a member, or its family. Cannot fail: `done` will be called. */
void node_search(struct node_member *member, struct node_search *search);

struct node_info {
    struct doppel_index_info index;
    uint32_t members; /* of the family */
    uint64_t waiting; /* codes and payloads in the queue of the node */
};
struct node_info node_info(const struct node_member *member);

#endif
