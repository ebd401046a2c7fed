/* Inputs of jobs on their way: claimed in turns, read by several threads, decided about in the
 * order of their job. All within the lock of a runner. */
#ifndef DOPPEL_SERVE_JOBS_CLAIMS_H
#define DOPPEL_SERVE_JOBS_CLAIMS_H

#include "serve/inputs.h"
#include "serve/large_buffer.h"

/* So many inputs are on their way, half of them of one job at most; of so many jobs. */
enum { MOST_CLAIMS = 256, MOST_CLAIMS_A_JOB = 128, MOST_ACTIVE_JOBS = 16 };

/* READ: or there is nothing to be read. Those that are READING or DECIDING are in somebody's hands.
 */
enum claim_state { CLAIM_UNREAD, CLAIM_READING, CLAIM_READ, CLAIM_DECIDING };

struct claimed_input {
    enum claim_state state;
    uint64_t job, number;
    struct inputs inputs; /* one */
    struct large_buffer upload;
    struct doppel_record record;
    bool dropped; /* its job has ended */
};

struct active_job {
    uint64_t id, next, inputs; /* `next`: to be claimed */
    size_t claims;             /* on their way */
};

struct claims {
    struct claimed_input *queue[MOST_CLAIMS]; /* in the order in which they were claimed */
    size_t count;
    struct active_job jobs[MOST_ACTIVE_JOBS];
    size_t job_count, turn;
};

/* The job that may claim an input next; they take turns. NULL: none */
struct active_job *claims_next_job(struct claims *claims);

/* Claim an input of a job, the next one. @return it, without content; NULL: no memory */
struct claimed_input *claims_claim(struct claims *claims, struct active_job *job, uint64_t number);

/* The first that is to be read. NULL: none is */
struct claimed_input *claims_first_unread(const struct claims *claims);

/* Take those that can be decided about: read, like all of their jobs before them. @return how many
 */
size_t claims_take_ready(struct claims *claims, struct claimed_input *out[MOST_CLAIMS]);

/* One is decided about, or dropped, and gone. */
void claims_remove(struct claims *claims, struct claimed_input *claimed);

/* A job has ended: its inputs go, but for those in somebody's hands, who removes them. */
void claims_drop_job(struct claims *claims, uint64_t id);
void claims_drop_all(struct claims *claims);

#endif
