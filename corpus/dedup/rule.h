/* What an input, a file or a record, is to what came before it: the rule alone, over facts that
 * others gather. The whole rule stands at doppel_decide (doppel/library.h). */
#ifndef DOPPEL_CORPUS_DEDUP_RULE_H
#define DOPPEL_CORPUS_DEDUP_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/library.h>

/* What was decided. */
struct rule_answer {
    enum doppel_decision decision;
    enum doppel_decision_reason reason;
    uint64_t of; /* the representative of what it is linked to, or what it matched; 0: nothing */
    uint64_t same_as; /* the item that has its bytes or content, which may follow `of`; 0: none */
    uint64_t former;  /* the item whose place it takes; 0: none */
    size_t candidate; /* whose match tells why; NO_CANDIDATE: none's */
    bool follows;     /* `of` is its representative */
};

#define NO_CANDIDATE SIZE_MAX

/* An id that came before, of something else. @return false: it may have it, too; what it is, its
 * content decides */
bool rule_by_id(enum doppel_same_id on_same_id, uint64_t other, struct rule_answer *out);

/* Another text under the same id: whether it follows, its text has decided; what it is, the id. */
void rule_update(uint64_t former, struct rule_answer *out);

/* What is known of an input by its path and its bytes. Ids; 0: there is none. */
struct rule_bytes {
    bool unreadable;
    uint64_t here;     /* the item at its path */
    bool here_same;    /* it has the same bytes */
    bool by_id;        /* it has no path: `here` is what else has its id, and no path either */
    uint64_t gone;     /* an item with the same bytes whose file is gone */
    uint64_t same;     /* an item with the same bytes, or else with the same content */
    bool same_content; /* it is not the bytes, but pixels or words */
    uint64_t here_leader, gone_leader, same_leader;
    bool same_is_benign;
};

/* The first stages, for which nothing has to be compared. @return false: they do not decide */
bool rule_by_bytes(const struct rule_bytes *facts, struct rule_answer *out);

/* Whether an id that came before keeps it out. */
bool rule_keeps_out(const struct rule_answer *answer);

/* An item or text that has something in common with an input. */
struct rule_candidate {
    uint64_t id, leader;           /* it leads where they are the same */
    bool same_content;             /* the same words, or pixels */
    enum doppel_manual_label word; /* the manual label of the two, or of the input and another
                                    * that `leader` leads */
    enum doppel_list_state state;
    struct doppel_origin origin;
    const struct doppel_match *match; /* the input is the query; NULL: not compared yet */
    enum doppel_kind kind;            /* of the item */
};

/* What is known of an input's content. */
struct rule_content {
    enum doppel_kind kind;
    bool too_short; /* too little to be told by anything but the same bytes or content */
    struct doppel_origin origin;
    bool in_order;   /* what shares a part counts by its place alone, not by how much it shares */
    uint64_t marked; /* representative of an item that a person labelled the same; 0: none */
    const struct rule_candidate *candidates; /* in any order */
    size_t count;
};

/* Where not all are compared: whether one may count at all, before it is compared, and whether one
 * that was compared counts more than the best so far. @param best NULL: none yet */
bool rule_may_count(const struct rule_candidate *candidate);
bool rule_prefers(const struct rule_content *facts, const struct rule_candidate *candidate,
                  const struct rule_candidate *best);

/* The last stages, which always decide. */
void rule_by_content(const struct rule_content *facts, struct rule_answer *out);

#endif
