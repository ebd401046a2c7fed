/* Codes of queries, asked of all shards. */
#ifndef DOPPEL_SHARDS_ASK_H
#define DOPPEL_SHARDS_ASK_H

#include "shards/items.h"
#include "shards/tables.h"

/* A query, and an item that may match it. */
struct shards_candidate {
    uint32_t query;
    uint64_t id;
};

struct shards_candidates {
    ARRAY(struct shards_candidate) list;
    bool no_memory;
};

/* What is asked of one table: codes side by side, or questions (doppel_image_question_pack) one
 * after the other. */
struct shards_ask {
    enum doppel_scheme_id scheme;
    enum shards_table table;
    bool looks; /* by questions */
    uint32_t radius;
    struct doppel_json bytes;
    ARRAY(uint32_t) queries; /* whose code or question each is */
    ARRAY(uint32_t) sizes;   /* of the questions */
    uint8_t searched[SHARD_BYTES];
};

/* What a node answers at once: so many codes or questions, so that it answers soon. */
enum { ASK_CODES = 256, ASK_QUESTIONS = 16 };

/* All that is asked. Zero-initialised it is empty. */
struct shards_asks {
    ARRAY(struct shards_ask) list;
};
void asks_free(struct shards_asks *asks);

/* Add what a record is looked up by. @param number of the query. DOPPEL_E_MEMORY */
enum doppel_status asks_add(struct shards_asks *asks, const struct doppel_record *record,
                            const struct doppel_match_options *options, uint32_t number,
                            struct doppel_error *error);

/*
 * Ask all shards, one request a node. What a node does not say it has searched is asked for by
 * itself, where it is now.
 * @param of_masters replicas are not asked
 * @param out     appended, by query, then id, each once
 * @param missing bits of shards that did not answer are set
 * @return as commands_run; DOPPEL_E_UNSUPPORTED: a node lacks the module; DOPPEL_E_IO
 */
enum doppel_status asks_run(struct doppel_shards *shards, struct shards_asks *asks, bool of_masters,
                            struct shards_candidates *out, uint8_t missing[static SHARD_BYTES],
                            struct doppel_error *error);

/* Take the answer to a search of a shard, or of all shards of a node. What is no such answer
 * searched nothing. */
enum doppel_status ask_take_answer(struct shards_ask *ask, const struct shards_command *command,
                                   bool whole_node, struct shards_candidates *out,
                                   struct doppel_error *error);

#endif
