/* What decide.c and rivals.c share: inputs on their way. decide.c has the idea. */
#ifndef DOPPEL_SHARDS_DECIDE_INTERNAL_H
#define DOPPEL_SHARDS_DECIDE_INTERNAL_H

#include "shards/add.h"
#include "shards/find.h"

enum { LEASE_MS = 10000 }; /* who does not decide for so long is taken for dead */

struct waited_for {
    uint64_t id;
    int64_t since_ms; /* it was first met then */
};

struct challenge {
    uint64_t id, older;
};

/* An input on its way. */
struct undecided {
    const struct doppel_shards_item *item;
    struct doppel_shards_decision *out;
    struct shards_written written;
    enum {
        INPUT_FRESH,   /* not written */
        INPUT_PENDING, /* written, and to be looked at */
        INPUT_STAYS,   /* to be confirmed */
        INPUT_GOES,    /* to be taken back */
        INPUT_DECIDED
    } state;
    uint64_t depends_on; /* a pending one of these inputs: it goes if that stays; 0: none */
};

struct shards_deciding {
    struct doppel_shards *shards;
    const struct doppel_shards_decide_options *options;
    struct undecided *inputs;
    size_t count;
    ARRAY(struct waited_for) waited_for;
    ARRAY(struct challenge) challenges;
};

/* ---- rivals.c: inputs, and what else is near ---- */

enum doppel_status no_deciding_memory(struct doppel_error *error);

/* The input that was written under an id; NULL: none. */
struct undecided *input_of_id(const struct shards_deciding *deciding, uint64_t id);

/* Look once at all that are pending: each goes, stays, or waits for the next look. DOPPEL_E_BUSY:
 * some shards did not answer; else as shards_look_up */
enum doppel_status look_at_inputs(struct shards_deciding *deciding, struct doppel_error *error);

/* Tell a pending one that an older one is decided first, or no longer (`ends`).
 * @param out as script_challenge says */
enum doppel_status send_challenge(struct shards_deciding *deciding, uint64_t id, uint64_t older,
                                  bool ends, int64_t *out, struct doppel_error *error);

/* Note that an older one is waited for. One that has been for LEASE_MS is taken away. */
enum doppel_status wait_for_older(struct shards_deciding *deciding, const struct stored_item *older,
                                  struct doppel_error *error);

#endif
