/**
 * doppel/shards.h: a library whose items lie in the shards of a Redis Cluster, where the module of
 * doppel searches them: for collections that no single machine holds, or that many write at once.
 * It holds pictures and their codes. Uses compare, search, decide and exchange.
 *
 * An item lies in one of DOPPEL_SHARDS shards, by its external id, else its digest, else its code.
 * What has the same is the same item: to add it again changes nothing. docs/formats.md has the
 * keys.
 *
 * One thread at a time for each struct doppel_shards; any number of them, also of other processes,
 * at once.
 */
#ifndef DOPPEL_SHARDS_H
#define DOPPEL_SHARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/compare.h>
#include <doppel/core.h>
#include <doppel/decide.h>
#include <doppel/json_writer.h>
#include <doppel/library.h>
#include <doppel/run.h>
#include <doppel/search.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DOPPEL_SHARDS = 1024, DOPPEL_SHARDS_BATCH = 1024 };

struct doppel_shards;

struct doppel_shards_options {
    /** redis://[USER@]HOST[:PORT][,HOST[:PORT]...][/NAME], by TLS rediss://; any nodes of the
     * cluster; the name is one of several libraries there, usually "doppel" */
    const char *address;
    const char *password;  /**< NULL: none */
    const char *authority; /**< file of certificates that are trusted; NULL: the system's */
    bool durable;          /**< what is answered has reached a replica, too (WAIT) */
    bool replicas;         /**< searches ask replicas, which may lack the latest items */
    bool refuse_partial;   /**< a search that cannot ask all shards fails; else the answers say
                              which are missing */
    uint32_t search_ms;    /**< how long a node may let searches wait for a next answer; 0: 5 000 */
    uint32_t write_ms;     /**< how long a change is tried, while a node is replaced, say; 0:
                              30 000 */
};

/** Whether an address of a library is of this kind. Thread-safe. */
DOPPEL_API bool doppel_is_shards_address(const char *address);

/**
 * Open: ask a node for the others.
 *
 * @param run     borrowed for its life; when it is cancelled calls end soon
 * @param options copied
 * @param out     given (doppel_shards_close); untouched on failure
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT: the address, or the password is refused; DOPPEL_E_BUSY: no
 *         node answers; DOPPEL_E_UNSUPPORTED: the nodes lack the module, or this program was built
 *         without Redis; DOPPEL_E_CANCELLED; DOPPEL_E_MEMORY
 */
DOPPEL_API enum doppel_status doppel_shards_open(struct doppel_run *run,
                                                 const struct doppel_shards_options *options,
                                                 struct doppel_shards **out,
                                                 struct doppel_error *error);
/** Takes it; NULL is fine. */
DOPPEL_API void doppel_shards_close(struct doppel_shards *shards);

/** An item, and what is said of it. Its id is the order in which it came: a number of the whole
 * library times DOPPEL_SHARDS, and its shard. */
struct doppel_shards_item {
    struct doppel_item item;
    struct doppel_metadata about;
};
DOPPEL_API void doppel_shards_item_free(struct doppel_shards_item *item);

/** Why a record cannot be kept here, as the rest of a sentence; NULL: it can. Static storage.
 * Thread-safe. */
DOPPEL_API const char *doppel_shards_obstacle(const struct doppel_record *record);

/* ---- adding and removing ---- */

struct doppel_shards_added {
    enum doppel_added added; /**< NEW; UNCHANGED: it is there, perhaps with another path; UPDATED:
                                it took the place of what had its external id */
    uint64_t id;
};

/**
 * Add items, without asking what they are like. What is answered is on its node, and with `durable`
 * on a replica.
 *
 * @param items their ids are not looked at; each with a record, and a digest, a code or an external
 *              id; borrowed
 * @param count up to DOPPEL_SHARDS_BATCH
 * @param out   count of them
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT; DOPPEL_E_UNSUPPORTED: what doppel_shards_obstacle says;
 *         DOPPEL_E_BUSY: nodes did not answer in time; DOPPEL_E_LIMIT: a node has no memory left,
 * or the library no more ids; DOPPEL_E_IO: another error of Redis; DOPPEL_E_CORRUPT: what is there
 * is damaged; DOPPEL_E_CANCELLED; DOPPEL_E_MEMORY. After a failure some may have been added: add
 * all of them again
 */
DOPPEL_API enum doppel_status doppel_shards_add(struct doppel_shards *shards,
                                                const struct doppel_shards_item *items,
                                                size_t count, struct doppel_shards_added *out,
                                                struct doppel_error *error);

/** DOPPEL_E_NOT_FOUND; else as doppel_shards_add. */
DOPPEL_API enum doppel_status doppel_shards_remove(struct doppel_shards *shards, uint64_t id,
                                                   struct doppel_error *error);

/* ---- searching ---- */

/** What was found for some queries. Zero-initialised it is empty. */
struct doppel_shards_answers {
    struct doppel_search_results *results; /**< one each query */
    size_t count;
    struct doppel_shards_item *items; /**< all that were found, by id */
    size_t item_count;
    uint16_t *missing; /**< shards that were not searched; 0 of them: the answer is whole */
    size_t missing_count;
};
DOPPEL_API void doppel_shards_answers_free(struct doppel_shards_answers *answers);

/** The item of a result, borrowed from the answers. */
DOPPEL_API const struct doppel_shards_item *doppel_shards_answers_item(
    const struct doppel_shards_answers *answers, uint64_t id);

/**
 * What matches records, as doppel_search_record finds it in a library of one machine, in its order.
 *
 * @param queries pictures of the scheme that `options` compare by; a record that has a fingerprint
 *                and no digest is a code; borrowed
 * @param count   up to DOPPEL_SHARDS_BATCH: one request a node for all
 * @param options NULL: the defaults; pixels are not checked
 * @param out     replaced; given (doppel_shards_answers_free)
 * @return DOPPEL_OK, also when shards are missing and may be; DOPPEL_E_BUSY: they may not, or no
 *         node answered; DOPPEL_E_UNSUPPORTED: a kind that is not searched here;
 *         DOPPEL_E_VERSION: another scheme; as above
 */
DOPPEL_API enum doppel_status doppel_shards_find(struct doppel_shards *shards,
                                                 const struct doppel_record *const *queries,
                                                 size_t count,
                                                 const struct doppel_compare_options *options,
                                                 struct doppel_shards_answers *out,
                                                 struct doppel_error *error);

/** Append "partial":true and "missing_shards":[5,…], where shards are missing; else nothing. */
DOPPEL_API void doppel_shards_missing_to_json(struct doppel_json *json,
                                              const struct doppel_shards_answers *answers);

/** Append a result as doppel_search_result_to_json does. */
DOPPEL_API void doppel_shards_result_to_json(struct doppel_json *json,
                                             const struct doppel_shards_answers *answers,
                                             const struct doppel_search_result *result);

/* ---- deciding ---- */

/** What an input is to what came before it, from whichever writer. */
struct doppel_shards_decision {
    enum doppel_decision decision;
    enum doppel_decision_reason reason;
    uint64_t id; /**< of the item that was added, or was there; 0: none */
    uint64_t of; /**< what it is a duplicate, a part or a revision of; 0: nothing */
    struct doppel_shards_item of_item; /**< the same; given */
    bool has_match;
    struct doppel_comparison match; /**< given */
};
DOPPEL_API void doppel_shards_decision_free(struct doppel_shards_decision *decision);

struct doppel_shards_decide_options {
    struct doppel_compare_options compare; /**< when pictures match */
    bool dry_run;                          /**< nothing is kept */
};

/**
 * Decide about inputs, and keep what is new. Each is written as pending, searched for in all
 * shards, and confirmed or taken back: of two near copies that come at the same time to two writers
 * the one with the lower id stays, and the other is a duplicate of it. All shards must answer.
 *
 * @param items as doppel_shards_add. @param count up to DOPPEL_SHARDS_BATCH. @param out count of
 *              them, given (doppel_shards_decision_free), also on failure
 * @param options NULL: the defaults
 * @return as doppel_shards_find and doppel_shards_add; after a failure decide about all again
 */
DOPPEL_API enum doppel_status doppel_shards_decide(
    struct doppel_shards *shards, const struct doppel_shards_item *items, size_t count,
    const struct doppel_shards_decide_options *options, struct doppel_shards_decision *out,
    struct doppel_error *error);

/** A decision in the words of all others, for doppel_decision_to_json. @param input what was
 * decided about. @param compare when pictures match. @param out borrows from all; neither id nor
 * path nor line of the input are set */
DOPPEL_API void doppel_shards_decided(const struct doppel_shards_item *input,
                                      const struct doppel_compare_options *compare,
                                      const struct doppel_shards_decision *decision,
                                      struct doppel_decided *out);

/* ---- what there is ---- */

/** @param out given (doppel_shards_item_free). DOPPEL_E_NOT_FOUND; as above */
DOPPEL_API enum doppel_status doppel_shards_get(struct doppel_shards *shards, uint64_t id,
                                                struct doppel_shards_item *out,
                                                struct doppel_error *error);

/** The id of what has an external id. DOPPEL_E_NOT_FOUND; as above */
DOPPEL_API enum doppel_status doppel_shards_get_id(struct doppel_shards *shards,
                                                   const char *external_id, uint64_t *out,
                                                   struct doppel_error *error);

/** @return false to end it */
typedef bool doppel_shards_visitor(void *context, const struct doppel_shards_item *item);

/** Visit all items, shard by shard, by id in each. What is added or removed meanwhile may be
 * visited or not. DOPPEL_E_CANCELLED: the visitor ended it; as above */
DOPPEL_API enum doppel_status doppel_shards_each(struct doppel_shards *shards,
                                                 doppel_shards_visitor *visitor, void *context,
                                                 struct doppel_error *error);

/** Append an item as doppel_item_to_json does. */
DOPPEL_API void doppel_shards_item_to_json(struct doppel_json *json,
                                           const struct doppel_shards_item *item, bool details);

enum { DOPPEL_SHARDS_NODE_BYTES = 272 };

/** The node that has a shard, as it is known by now: HOST:PORT, cut where it is longer. @return
 * false: none is known, and `out` is "" */
DOPPEL_API bool doppel_shards_node_of(const struct doppel_shards *shards, uint32_t shard,
                                      char out[DOPPEL_SHARDS_NODE_BYTES]);

struct doppel_shards_stats {
    uint64_t items;           /**< also those that are pending */
    uint32_t nodes, replicas; /**< masters, and replicas of them, as they are known by now */
};
/** @param out untouched on failure. As doppel_shards_get */
DOPPEL_API enum doppel_status doppel_shards_get_stats(struct doppel_shards *shards,
                                                      struct doppel_shards_stats *out,
                                                      struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
