/* One worker as the pool sees it: a process, and the files it was given and has not answered. */
#ifndef DOPPEL_WORKER_HANDLES_H
#define DOPPEL_WORKER_HANDLES_H

#include <assert.h>

#include "worker/protocol.h"
#include "worker/process.h"

enum {
    WINDOW = 8,        /* files in flight to one worker: enough that it never waits for us */
    START_MS = 20000,  /* from start to the ready frame */
    STRIDE_MS = 10000, /* of video or audio: so much further is getting on */
    /* Files to one worker, about: what took it over, or grew in it, ends with it. A start costs
     * some 40 ms. */
    FILES_PER_WORKER = 10000
};

static_assert(WINDOW <= (int)PROTOCOL_BATCH, "a window fits a frame");

/* A file, in the queue or in flight. `order.fd` is ours until its outcome. */
struct job {
    struct worker_order order;
    uint64_t tag;         /* the caller's */
    bool slow;            /* it may take long, and is given alone: others would wait behind it */
    bool short_of_memory; /* a worker had none left for it: it is tried once more */
};

struct member {
    struct process process; /* pid 0: none */
    bool ready;             /* its ready frame came */
    bool talking;           /* it may have something to say that is not heard yet */
    bool deaf;              /* it does not take orders any more: its end is to be heard */
    int64_t since_ms;       /* when it began flight[0], was started, or was seen to get on */
    uint64_t worked_ms;     /* how far it was then (progress.h) */
    int64_t heard_ms;       /* when it had nothing to say */
    struct job flight[WINDOW];
    size_t count;
    uint32_t given; /* files, since its start */
};

bool member_lives(const struct member *member);

/* Start its process and say hello. Status as process_start. */
enum doppel_status member_start(struct member *member, const char *program,
                                const struct worker_limits *limits, struct doppel_error *error);

/* It is waited for again. */
void member_gets_on(struct member *member, int64_t now_ms);

/* Whether it is at a slow file. */
bool member_is_at_slow(const struct member *member);

/* Give it the first of `jobs`, at most `count`. @return how many it took */
size_t member_give(struct member *member, const struct job *jobs, size_t count, int64_t now_ms);

/* REFUSAL: it will not start, and says why. END: its process is gone. NONSENSE: it said what no
 * worker says. SILENCE: never heard; the pool says so of a worker that is overdue. */
enum heard {
    HEARD_NOTHING,
    HEARD_READY,
    HEARD_REFUSAL,
    HEARD_ANSWER,
    HEARD_END,
    HEARD_NONSENSE,
    HEARD_SILENCE
};

/* Take one frame. @param out of HEARD_ANSWER: the outcome of flight[0], given; of HEARD_REFUSAL:
 * the reason alone */
enum heard member_hear(struct member *member, struct doppel_outcome *out);

/* Within the timeout a file is done, or is got on with by so much. */
enum stride { STRIDE_WHOLE, STRIDE_SECONDS, STRIDE_PAGE };

/* The sentence for the file that a worker was at when it was ended because of `why` (END, NONSENSE
 * or SILENCE). */
void describe_loss(enum heard why, const struct ending *ended, uint32_t timeout_ms,
                   enum stride stride, struct doppel_error *out);

/* The sentence for a worker that ended, or was ended for its silence, before it was ready. */
void describe_start_failure(const char *program, enum heard why, const struct ending *ended,
                            struct doppel_error *out);

#endif
