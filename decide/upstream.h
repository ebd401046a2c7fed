/* What is new here is asked of an upstream, another doppel service: new there, too, or not? It is
 * asked after the decision is kept, and before it is reported: what is to be asked lies in the
 * library until the answer does. */
#ifndef DOPPEL_DECIDE_UPSTREAM_H
#define DOPPEL_DECIDE_UPSTREAM_H

#include <doppel/decide.h>

struct upstream;

/* @param options borrowed for its life. @param out given (upstream_free) */
enum doppel_status upstream_new(struct doppel_run *run, struct doppel_library *library,
                                const struct doppel_upstream_options *options,
                                struct upstream **out, struct doppel_error *error);
void upstream_free(struct upstream *upstream);

/* An item is new here: within the transaction that says so. @param upstream NULL: nobody is asked
 */
enum doppel_status upstream_queue(struct upstream *upstream, uint64_t item,
                                  struct doppel_error *error);

/* Ask about all that waits, and keep the answers, in transactions of its own. By the policy, the
 * upstream is waited for where it is away; or it is not asked again for some seconds, unless
 * `now`. DOPPEL_E_CANCELLED; DOPPEL_E_ARGUMENT: it refuses to answer, or is no doppel service */
enum doppel_status upstream_settle(struct upstream *upstream, bool now, struct doppel_error *error);

/* What an item that was new here is by now. */
struct upstream_outcome {
    enum doppel_decision decision; /* NEW, IGNORED, or UNREADABLE: not even the upstream knows */
    bool queued;                   /* not asked yet */
    char *reason, *detail; /* as the log has them; NULL: nothing; given (upstream_outcome_free) */
};
enum doppel_status upstream_outcome(struct upstream *upstream, uint64_t item,
                                    struct upstream_outcome *out, struct doppel_error *error);
void upstream_outcome_free(struct upstream_outcome *outcome);

#endif
