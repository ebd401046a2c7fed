/* What the files of the join share: who is joined, and which pairs are worth judging. */
#ifndef DOPPEL_MATCH_IMAGES_JOIN_INTERNAL_H
#define DOPPEL_MATCH_IMAGES_JOIN_INTERNAL_H

#include <doppel/index.h>

#include "match/images/images_internal.h"

/* A pair of ranks, numbers of pictures in order of id. */
struct meeting {
    uint32_t earlier, later;
};

/* Where the codes of a picture lie in the arena, and their views. */
struct place {
    uint32_t first;
    uint32_t views;
};

typedef ARRAY(struct meeting) meeting_array;

struct join {
    const struct doppel_matcher *matcher;
    bool leaders_only;
    doppel_leader_visitor *visitor;
    void *context;
    uint32_t *order;      /* slots by rank */
    struct place *places; /* by rank */
    uint32_t count;
    bool *follows;       /* by rank; of leaders_only */
    uint32_t start, end; /* the block of ranks at work */
    bool gated;
    struct doppel_image_gate gate;
    meeting_array meetings;   /* of pictures of the block with it and all before */
    size_t most;              /* of them, before the block is made smaller */
    struct judging *judgings; /* one a slot */
    enum doppel_status status;
};

/**
 * Fill `meetings`, in order of later, then earlier, each once: all pairs of a picture of the block
 * and one of it or before, followers left out, that meet by a look-up and may be near enough.
 * @return DOPPEL_OK; DOPPEL_E_LIMIT when they are more than `most` and the block is not a single
 * picture; DOPPEL_E_MEMORY; DOPPEL_E_ARGUMENT
 */
enum doppel_status join_meet(struct join *join);

/** The same for the pairs of `some`, by rank, with any other; what is there is kept, followers are
 * left out; not in order. By look-ups, or by whatever is fastest where nobody follows yet. */
enum doppel_status join_look_up_some(struct join *join, const bool *some);
enum doppel_status join_meet_some(struct join *join, const bool *some);

/** Whether join_sweep can do what join_meet does: of all pictures, by the gate; and whether it is
 * faster. */
bool join_can_sweep(const struct join *join);
bool join_sweeps_faster(const struct join *join);

/** Fill `meetings` as join_meet does, of all pictures; not in order.
 * @param some by rank: their pairs with any other are wanted; NULL: all pairs
 * @param box_bits 8 to 16, by which codes are sorted; 0: as suits their number */
enum doppel_status join_sweep(struct join *join, const bool *some, uint32_t box_bits);

/** Keep those pairs of ranks that may be near enough: the gate. @return how many */
size_t join_sift(const struct join *join, struct doppel_index_pair *pairs, size_t count);

/** Add pairs to the meetings. @return false: they are too many, or there is no memory, as the
 * status says */
bool join_note_pairs(struct join *join, const struct doppel_index_pair *pairs, size_t count);

/** Order the meetings, each once. */
void join_settle(struct join *join);

/** Judge a meeting whose earlier one leads, and tell the visitor. @return false: it ends the join
 */
bool join_emit(struct join *join, const struct meeting *meeting);

/** Judge the meetings, and tell the visitor. */
enum doppel_status join_judge(struct join *join);

/** Make a join, by its matcher, ready, and take it apart. DOPPEL_E_MEMORY. */
enum doppel_status join_begin(struct join *join);
void join_end(struct join *join);

/** The sentence of a status, for the caller. */
enum doppel_status join_fail(const struct join *join, enum doppel_status status,
                             struct doppel_error *error);

#endif
