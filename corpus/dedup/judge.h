/* Deciding of one record, by what was decided of those before it. */
#ifndef DOPPEL_CORPUS_DEDUP_JUDGE_H
#define DOPPEL_CORPUS_DEDUP_JUDGE_H

#include "corpus/dedup/evidence.h"
#include "corpus/dedup/leaders.h"
#include "corpus/dedup/sieve.h"

/* Of one thread. */
struct judge {
    struct dedup *dedup;
    struct evidence *evidence;
    struct leader_walk walk;
    struct sieve sieve;
    uint64_t compared, passed_over; /* pairs */
    ARRAY(uint32_t) joined;         /* of components: what else the record is near */
};

enum doppel_status judge_init(struct judge *judge, struct dedup *dedup, size_t cache_bytes,
                              struct doppel_error *error);
void judge_free(struct judge *judge);

/** Whether a record and an earlier one match. @param out whole where they do. DOPPEL_E_MEMORY */
enum doppel_status judge_compare(struct judge *judge, uint32_t number, uint32_t leader,
                                 struct doppel_match *out, bool *out_matches,
                                 struct doppel_error *error);

/* The representatives that a record matches. */
struct finding {
    bool searched;
    uint32_t near; /* the first within the limit of similarity, or NO_RECORD */
    uint32_t held; /* until there is one, the first by containment, or NO_RECORD */
    struct doppel_match near_match, held_match;
};

/** Whether the rule asks for representatives at all, as things stand. */
bool judge_searches(const struct judge *judge, uint32_t number);

/** Whether a record leads by now. */
bool judge_leads(const struct judge *judge, uint32_t number);

/** Look among the representatives, from number `low` on, that are known by now. */
enum doppel_status judge_search(struct judge *judge, uint32_t number, uint32_t low,
                                struct finding *finding, struct doppel_error *error);

/** All records before it are decided: one that it replaces leads no more. @return no finding yet */
struct finding judge_begin(struct judge *judge, uint32_t number);

/** Decide, after judge_begin and, if it is for the rule, judge_search up to the end: the verdict,
 * and whether it leads. */
enum doppel_status judge_decide(struct judge *judge, uint32_t number, const struct finding *finding,
                                struct doppel_error *error);

/** Of a record that is new: it is a part of an earlier one, by their match. */
void judge_part(struct dedup *dedup, uint32_t number, uint32_t holder,
                const struct doppel_match *match);

/** All of it. */
enum doppel_status judge_record(struct judge *judge, uint32_t number, struct doppel_error *error);

#endif
