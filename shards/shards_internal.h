/* What the files of the room share: nodes, and commands to them. */
#ifndef DOPPEL_SHARDS_SHARDS_INTERNAL_H
#define DOPPEL_SHARDS_SHARDS_INTERNAL_H

#include <doppel/shards.h>

#include "core/array.h"
#include "redis/connection.h"
#include "redis/tls.h"

/* A node that was heard of. One that is not in the map any more stays, unused. */
struct shards_node {
    char *host, *port;
    struct redis_connection connection;
    uint32_t master; /* whose replica it is; its own number: of none */
    bool in_map;
    int64_t rest_until_ms; /* it did not answer, and is left alone */
    bool hangs;            /* until it answers again: it let the time pass */
    ARRAY(uint32_t) queue; /* commands that wait for its answers, in order */
};

struct doppel_shards {
    struct doppel_run *run;
    struct doppel_shards_options options; /* strings are the next three */
    char *address, *password, *authority;
    struct redis_addresses addresses;
    struct redis_tls *tls; /* NULL: without */
    ARRAY(struct shards_node *) nodes;
    uint32_t owners[DOPPEL_SHARDS]; /* the node of each; NO_NODE: not known */
    bool map_is_old;
    uint64_t random;                    /* state of the jitter */
    uint64_t first_number, last_number; /* of items, taken ahead; first > last: none */
    uint64_t tables_made;               /* bits by scheme: those of all shards are there */
    bool tables_wanted;                 /* one was not there */
};

enum { NO_NODE = UINT32_MAX };

/* ---- sets of shards ---- */

enum { SHARD_BYTES = DOPPEL_SHARDS / 8 }; /* a bit each */

static inline void set_shard(uint8_t bits[static SHARD_BYTES], uint32_t shard)
{
    bits[shard / 8] |= (uint8_t)(1u << shard % 8);
}

static inline bool has_shard(const uint8_t bits[static SHARD_BYTES], uint32_t shard)
{
    return bits[shard / 8] >> shard % 8 & 1;
}

static inline bool any_shard(const uint8_t bits[static SHARD_BYTES])
{
    for (size_t i = 0; i < SHARD_BYTES; i++)
        if (bits[i])
            return true;
    return false;
}

/* Where an item is, by its id. */
static inline uint32_t shard_of_id(uint64_t id)
{
    return (uint32_t)(id % DOPPEL_SHARDS);
}

/* ---- nodes ---- */

/* Learn from any node which has what. DOPPEL_E_BUSY: none answers until then; DOPPEL_E_ARGUMENT;
 * DOPPEL_E_CANCELLED; DOPPEL_E_MEMORY */
enum doppel_status nodes_learn(struct doppel_shards *shards, int64_t end_ms,
                               struct doppel_error *error);

/* Take what CLUSTER SLOTS of a node says. */
void nodes_take_map(struct doppel_shards *shards, uint32_t asked, const redisReply *reply);

/* The node at a place, which is noted if it is new; NO_NODE: there can be none, or no memory. */
uint32_t node_at(struct doppel_shards *shards, const char *host, size_t host_size,
                 const char *port);

/* Connect, if it is not, until then at the latest. As nodes_learn. */
enum doppel_status node_connect(struct doppel_shards *shards, uint32_t number, int64_t end_ms,
                                struct doppel_error *error);

/* It is left alone for a moment, longer if it let the time pass until `end_ms`, and the map is
 * learnt again. */
void node_failed(struct doppel_shards *shards, uint32_t number, int64_t end_ms);

/* Of those that have this shard one to ask: its master, or, for reading where that is wanted, one
 * of its replicas. NO_NODE: none is known that may answer. */
uint32_t node_for(struct doppel_shards *shards, uint32_t shard, bool reads);

/* Whether to ask for a shard would be to wait for a node that hangs. */
bool node_hangs(const struct doppel_shards *shards, uint32_t shard);

void nodes_free(struct doppel_shards *shards);

/* Wait for a moment, between half of it and all. @return false: the run was cancelled */
bool shards_pause(struct doppel_shards *shards, uint32_t most_ms);

/* ---- commands ---- */

/* A command for the node of a shard. Its words are appended to `bytes` by redis_begin and others.
 */
struct shards_command {
    struct doppel_json bytes;
    uint32_t shard;
    redisReply *reply; /* NULL: no answer until the end. May be an error that trying again does not
                          mend */
    uint32_t ask_node; /* where it is to be asked once, while its slot moves; NO_NODE */
};

/* Commands that are sent together. Zero-initialised it is empty. */
struct shards_commands {
    ARRAY(struct shards_command) list;
    bool reads; /* they change nothing: a replica may answer, unless */
    bool of_masters;
};

/* A new one behind the others, for `words` words; borrowed until the next. NULL: no memory */
struct shards_command *commands_add(struct shards_commands *commands, uint32_t shard, size_t words);
void commands_free(struct shards_commands *commands);

/* Words of the command that was begun last. */
void command_word(struct shards_command *command, const char *word);
void command_bytes(struct shards_command *command, const void *bytes, size_t size);
void command_number(struct shards_command *command, uint64_t number);
/* "NAME:{shard}:suffix" */
void command_key(struct shards_command *command, const struct doppel_shards *shards,
                 const char *suffix);

/*
 * Send all, node by node, one request each, and take the answers. What is not answered, or was sent
 * to a node that has the shard no longer, is sent again, until `limit_ms` are over; a node that
 * goes on answering has all the time it needs. So a command is to be one that may be done twice.
 * @return DOPPEL_OK: see `reply` of each; DOPPEL_E_CANCELLED; DOPPEL_E_MEMORY; DOPPEL_E_ARGUMENT:
 * the password is refused
 */
enum doppel_status commands_run(struct doppel_shards *shards, struct shards_commands *commands,
                                uint32_t limit_ms, struct doppel_error *error);

/* The same of changes, all of which must be answered. DOPPEL_E_BUSY: some were not; DOPPEL_E_LIMIT:
 * a node has no memory left; DOPPEL_E_NOT_FOUND: a table is missing; DOPPEL_E_IO: another error */
enum doppel_status commands_run_all(struct doppel_shards *shards, struct shards_commands *commands,
                                    struct doppel_error *error);

/* Numbers in an answer; 0 where there is none. */
uint64_t reply_number(const redisReply *reply, size_t at);
/* What an error means, as commands_run_all; NULL: there was no answer. */
enum doppel_status reply_failure_of(const redisReply *reply, struct doppel_error *error);
bool reply_is_error(const redisReply *reply, const char *prefix);

#endif
