/**
 * doppel/library_jobs.h: work that was accepted and is done later, as rows of a library.
 * Included by doppel/library.h.
 *
 * A job has inputs, numbered from 0, which are decided about in order: so how many are decided says
 * which comes next. Rows know nothing of files, threads or the network: who works on jobs does.
 * What changes a job is part of the transaction that is open, or begins one; doppel_library_commit
 * makes it last.
 */
#ifndef DOPPEL_LIBRARY_JOBS_H
#define DOPPEL_LIBRARY_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doppel_library;

enum doppel_job_state {
    DOPPEL_JOB_WAITING = 1,
    DOPPEL_JOB_RUNNING,
    DOPPEL_JOB_DONE,
    DOPPEL_JOB_FAILED, /**< it could not go on */
    DOPPEL_JOB_CANCELLED
};
enum { DOPPEL_JOB_STATES = DOPPEL_JOB_CANCELLED + 1 };

/** "waiting" and so on; static storage. Thread-safe. */
DOPPEL_API const char *doppel_job_state_name(enum doppel_job_state state);

/** Times are nanoseconds since 1970; 0: not yet. */
struct doppel_job {
    uint64_t id; /**< from 1, never used twice */
    enum doppel_job_state state;
    char *client; /**< who sent it; NULL: nobody who has a name */
    int64_t added_ns, begun_ns, ended_ns;
    uint64_t inputs, decided;
    uint64_t unreadable; /**< of those decided */
    uint64_t bytes;      /**< that it occupies until it has ended, as its sender counted */
    char *problem;       /**< why it failed; NULL: it did not */

    char *webhook;        /**< to be called when it has ended; NULL: nobody is */
    uint64_t calls;       /**< that were made */
    int64_t next_call_ns; /**< when the next one is due; 0: none is */
    char *call_problem;   /**< why the last one failed; NULL: it did not */
};

DOPPEL_API void doppel_job_free(struct doppel_job *job);

/**
 * Accept a job: it waits.
 *
 * @param job   `client`, `webhook` and `bytes` are looked at; borrowed
 * @param inputs of each what is to be decided about, UTF-8 whose meaning is the caller's; borrowed
 * @param count  1 or more
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT: no input; as doppel_library_add
 */
DOPPEL_API enum doppel_status doppel_library_add_job(struct doppel_library *library,
                                                     const struct doppel_job *job,
                                                     const char *const *inputs, size_t count,
                                                     uint64_t *out_id, struct doppel_error *error);

/** @param out given (doppel_job_free). DOPPEL_E_NOT_FOUND; DOPPEL_E_CORRUPT: its row is damaged. */
DOPPEL_API enum doppel_status doppel_library_get_job(struct doppel_library *library, uint64_t id,
                                                     struct doppel_job *out,
                                                     struct doppel_error *error);

/** @param job borrowed for the call. False ends the visit (DOPPEL_E_CANCELLED). */
typedef bool doppel_job_visitor(void *context, const struct doppel_job *job);

/** Those that have not ended, from an id on, the oldest first. */
DOPPEL_API enum doppel_status doppel_library_each_open_job(struct doppel_library *library,
                                                           uint64_t first,
                                                           doppel_job_visitor *visitor,
                                                           void *context,
                                                           struct doppel_error *error);

/** All from an id down, the newest first. @param last 0: from the newest on */
DOPPEL_API enum doppel_status doppel_library_each_job(struct doppel_library *library, uint64_t last,
                                                      doppel_job_visitor *visitor, void *context,
                                                      struct doppel_error *error);

/** An input of a job. Strings are borrowed for the call. */
struct doppel_job_input {
    uint64_t number;
    const char *input;    /**< as it was given; NULL: it is decided, and forgotten */
    const char *decision; /**< NULL: there is none yet */
};
typedef bool doppel_job_input_visitor(void *context, const struct doppel_job_input *input);

/** Those from a number on, in order. DOPPEL_E_CANCELLED; DOPPEL_E_CORRUPT: the rest was visited */
DOPPEL_API enum doppel_status doppel_library_each_job_input(struct doppel_library *library,
                                                            uint64_t job, uint64_t first,
                                                            doppel_job_input_visitor *visitor,
                                                            void *context,
                                                            struct doppel_error *error);

/** Somebody works on it; of one that runs already, nothing. */
DOPPEL_API enum doppel_status doppel_library_begin_job(struct doppel_library *library, uint64_t id,
                                                       struct doppel_error *error);

/** What was decided of an input, the next one; nothing, where the job has forgotten it.
 * @param decision JSON. @param unreadable whether it could not be read */
DOPPEL_API enum doppel_status doppel_library_put_job_decision(struct doppel_library *library,
                                                              uint64_t id, uint64_t number,
                                                              const char *decision, bool unreadable,
                                                              struct doppel_error *error);

/** Another decision in place of one that was put, of an input that could be read. */
DOPPEL_API enum doppel_status doppel_library_correct_job_decision(struct doppel_library *library,
                                                                  uint64_t id, uint64_t number,
                                                                  const char *decision,
                                                                  bool unreadable,
                                                                  struct doppel_error *error);

/** It is done if all of its inputs are decided, and it has not ended; else nothing. */
DOPPEL_API enum doppel_status doppel_library_complete_job(struct doppel_library *library,
                                                          uint64_t id, struct doppel_error *error);

/** Its inputs that are not decided are forgotten. @param state FAILED or CANCELLED. @param problem
 * NULL: none. DOPPEL_E_NOT_FOUND: there is no such job, or it has ended */
DOPPEL_API enum doppel_status doppel_library_end_job(struct doppel_library *library, uint64_t id,
                                                     enum doppel_job_state state,
                                                     const char *problem,
                                                     struct doppel_error *error);

/** The job whose webhook is due first; a damaged row is passed over. @param out given
 * (doppel_job_free). DOPPEL_E_NOT_FOUND: none is */
DOPPEL_API enum doppel_status doppel_library_next_job_call(struct doppel_library *library,
                                                           struct doppel_job *out,
                                                           struct doppel_error *error);

/** Its webhook was called. @param problem NULL: it was told. @param next_ns when it is tried again;
 * 0: never */
DOPPEL_API enum doppel_status doppel_library_job_called(struct doppel_library *library, uint64_t id,
                                                        const char *problem, int64_t next_ns,
                                                        struct doppel_error *error);

/** Which ended jobs are to be forgotten, with what was decided of their inputs, but those whose
 * webhook is still to be called. */
struct doppel_job_age {
    int64_t ended_before_ns;
    uint64_t newest; /**< so many of the newest jobs stay, until they are that old */
    uint64_t most;   /**< of one call */
};
DOPPEL_API enum doppel_status doppel_library_forget_jobs(struct doppel_library *library,
                                                         const struct doppel_job_age *age,
                                                         uint64_t *out_forgotten,
                                                         struct doppel_error *error);

struct doppel_job_counts {
    uint64_t waiting, running, failed; /**< jobs that are not forgotten */
    uint64_t bytes;                    /**< of those that have not ended */
};
DOPPEL_API enum doppel_status doppel_library_count_jobs(struct doppel_library *library,
                                                        struct doppel_job_counts *out,
                                                        struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
