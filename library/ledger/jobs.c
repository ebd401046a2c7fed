/* Jobs: what was accepted and is done later. Each row of a job is sealed again after a change. */
#include "library/sums.h"

#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "library/ledger/ledger.h"

#define SELECT_JOB "SELECT " JOB_SUM ", " IS_WHOLE(JOB_SUM) " FROM job "
#define IS_OPEN "ended_ns IS NULL"

enum {
    COLUMN_ID,
    COLUMN_STATE,
    COLUMN_CLIENT,
    COLUMN_ADDED,
    COLUMN_BEGUN,
    COLUMN_ENDED,
    COLUMN_INPUTS,
    COLUMN_DECIDED,
    COLUMN_UNREADABLE,
    COLUMN_BYTES,
    COLUMN_PROBLEM,
    COLUMN_WEBHOOK,
    COLUMN_CALLS,
    COLUMN_NEXT_CALL,
    COLUMN_CALL_PROBLEM,
    COLUMN_IS_WHOLE
};

const char *doppel_job_state_name(enum doppel_job_state state)
{
    static const char *const names[DOPPEL_JOB_STATES] = {
        [DOPPEL_JOB_WAITING] = "waiting",     [DOPPEL_JOB_RUNNING] = "running",
        [DOPPEL_JOB_DONE] = "done",           [DOPPEL_JOB_FAILED] = "failed",
        [DOPPEL_JOB_CANCELLED] = "cancelled",
    };
    return state >= DOPPEL_JOB_WAITING && state <= DOPPEL_JOB_CANCELLED ? names[state] : "unknown";
}

/* ---- reading ---- */

/* @return false: the row is damaged */
static bool read_job(sqlite3_stmt *row, struct doppel_job *out)
{
    int state = sqlite3_column_int(row, COLUMN_STATE);
    *out = (struct doppel_job){
        .id = (uint64_t)sqlite3_column_int64(row, COLUMN_ID),
        .state = (enum doppel_job_state)state,
        .client = (char *)sqlite3_column_text(row, COLUMN_CLIENT),
        .added_ns = sqlite3_column_int64(row, COLUMN_ADDED),
        .begun_ns = sqlite3_column_int64(row, COLUMN_BEGUN),
        .ended_ns = sqlite3_column_int64(row, COLUMN_ENDED),
        .inputs = (uint64_t)sqlite3_column_int64(row, COLUMN_INPUTS),
        .decided = (uint64_t)sqlite3_column_int64(row, COLUMN_DECIDED),
        .unreadable = (uint64_t)sqlite3_column_int64(row, COLUMN_UNREADABLE),
        .bytes = (uint64_t)sqlite3_column_int64(row, COLUMN_BYTES),
        .problem = (char *)sqlite3_column_text(row, COLUMN_PROBLEM),
        .webhook = (char *)sqlite3_column_text(row, COLUMN_WEBHOOK),
        .calls = (uint64_t)sqlite3_column_int64(row, COLUMN_CALLS),
        .next_call_ns = sqlite3_column_int64(row, COLUMN_NEXT_CALL),
        .call_problem = (char *)sqlite3_column_text(row, COLUMN_CALL_PROBLEM),
    };
    return sqlite3_column_int(row, COLUMN_IS_WHOLE) == 1 && state >= DOPPEL_JOB_WAITING &&
           state < DOPPEL_JOB_STATES;
}

void doppel_job_free(struct doppel_job *job)
{
    char **const strings[] = {&job->client, &job->problem, &job->webhook, &job->call_problem};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        free(*strings[i]);
        *strings[i] = NULL;
    }
}

/* Strings of a row are the row's: who keeps them has copies. */
static bool copy_job(const struct doppel_job *job, struct doppel_job *out)
{
    *out = *job;
    char **const strings[] = {&out->client, &out->problem, &out->webhook, &out->call_problem};
    bool whole = true;
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        char *string = *strings[i];
        *strings[i] = string ? strdup(string) : NULL;
        whole &= !string || *strings[i];
    }
    return whole;
}

/* @return DOPPEL_E_NOT_FOUND without a sentence */
static enum doppel_status first_job(struct doppel_library *library, const char *sql,
                                    struct values values, struct doppel_job *out,
                                    struct doppel_error *error)
{
    sqlite3_stmt *row;
    struct doppel_job job, copy = {0};
    enum doppel_status status = rows_first(library, sql, values, &row, error);
    if (status)
        return status;
    if (!row)
        return DOPPEL_E_NOT_FOUND;
    if (!read_job(row, &job))
        status = doppel_fail(error, DOPPEL_E_CORRUPT, "%s: job %llu is damaged", library->directory,
                             (unsigned long long)job.id);
    else if (!copy_job(&job, &copy))
        status = doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", library->directory);
    sqlite3_reset(row); /* while it is open, nothing newer is seen */
    if (status)
        doppel_job_free(&copy);
    else
        *out = copy;
    return status;
}

enum doppel_status doppel_library_get_job(struct doppel_library *library, uint64_t id,
                                          struct doppel_job *out, struct doppel_error *error)
{
    enum doppel_status status =
        first_job(library, SELECT_JOB "WHERE id = ?1", VALUES(ID(id)), out, error);
    return status == DOPPEL_E_NOT_FOUND ? doppel_fail(error, status, "%s: there is no job %llu",
                                                      library->directory, (unsigned long long)id)
                                        : status;
}

enum doppel_status doppel_library_next_job_call(struct doppel_library *library,
                                                struct doppel_job *out, struct doppel_error *error)
{
    /* One that is damaged is passed over: else nobody would be called any more. */
    enum doppel_status status = first_job(library,
                                          SELECT_JOB "WHERE next_call_ns IS NOT NULL AND " IS_WHOLE(
                                              JOB_SUM) " ORDER BY next_call_ns LIMIT 1",
                                          NO_VALUES, out, error);
    return status == DOPPEL_E_NOT_FOUND
               ? doppel_fail(error, status, "%s: nobody is to be called", library->directory)
               : status;
}

/* Those that are damaged are passed over: `verify` reports them. */
static enum doppel_status visit_jobs(struct doppel_library *library, const char *sql, uint64_t id,
                                     doppel_job_visitor *visitor, void *context,
                                     struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status = rows_prepare(library, sql, VALUES(ID(id)), &statement, error);
    while (!status && !(status = doppel_store_step(library->store, statement, &row, error)) &&
           row) {
        struct doppel_job job;
        if (read_job(statement, &job) && !visitor(context, &job))
            status = doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
    }
    if (status == DOPPEL_E_CANCELLED)
        sqlite3_reset(statement);
    return status;
}

enum doppel_status doppel_library_each_open_job(struct doppel_library *library, uint64_t first,
                                                doppel_job_visitor *visitor, void *context,
                                                struct doppel_error *error)
{
    return visit_jobs(library, SELECT_JOB "WHERE " IS_OPEN " AND id >= ?1 ORDER BY id", first,
                      visitor, context, error);
}

enum doppel_status doppel_library_each_job(struct doppel_library *library, uint64_t last,
                                           doppel_job_visitor *visitor, void *context,
                                           struct doppel_error *error)
{
    return visit_jobs(library, SELECT_JOB "WHERE id <= ?1 ORDER BY id DESC",
                      last ? last : INT64_MAX, visitor, context, error);
}

enum doppel_status doppel_library_each_job_input(struct doppel_library *library, uint64_t job,
                                                 uint64_t first, doppel_job_input_visitor *visitor,
                                                 void *context, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row, damaged = false;
    enum doppel_status status =
        rows_prepare(library,
                     "SELECT number, input, decision, " IS_WHOLE(
                         JOB_INPUT_SUM) " FROM job_input WHERE job = ?1 AND number >= ?2"
                                        " ORDER BY number",
                     VALUES(ID(job), ID(first)), &statement, error);
    while (!status && !(status = doppel_store_step(library->store, statement, &row, error)) &&
           row) {
        const struct doppel_job_input input = {
            .number = (uint64_t)sqlite3_column_int64(statement, 0),
            .input = (const char *)sqlite3_column_text(statement, 1),
            .decision = (const char *)sqlite3_column_text(statement, 2),
        };
        if (sqlite3_column_int(statement, 3) != 1)
            damaged = true;
        else if (!visitor(context, &input))
            status = doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
    }
    if (status == DOPPEL_E_CANCELLED)
        sqlite3_reset(statement);
    if (!status && damaged)
        status = doppel_fail(error, DOPPEL_E_CORRUPT, "%s: inputs of job %llu are damaged",
                             library->directory, (unsigned long long)job);
    return status;
}

enum doppel_status doppel_library_count_jobs(struct doppel_library *library,
                                             struct doppel_job_counts *out,
                                             struct doppel_error *error)
{
    sqlite3_stmt *row;
    int64_t failed = 0;
    enum doppel_status status =
        rows_first(library,
                   "SELECT coalesce(sum(state = 1), 0), coalesce(sum(state = 2), 0),"
                   " coalesce(sum(bytes), 0) FROM job WHERE " IS_OPEN,
                   NO_VALUES, &row, error);
    if (status || !row)
        return status;
    struct doppel_job_counts counts = {
        .waiting = (uint64_t)sqlite3_column_int64(row, 0),
        .running = (uint64_t)sqlite3_column_int64(row, 1),
        .bytes = (uint64_t)sqlite3_column_int64(row, 2),
    };
    sqlite3_reset(row);
    status = rows_number(library, "SELECT count(*) FROM job WHERE state = 4", NO_VALUES, &failed,
                         NULL, error);
    counts.failed = (uint64_t)failed;
    if (!status)
        *out = counts;
    return status;
}

/* ---- changing ---- */

static enum doppel_status seal_job(struct doppel_library *library, uint64_t id,
                                   struct doppel_error *error)
{
    return rows_run(library, "UPDATE job SET checksum = " CHECKSUM_OF(JOB_SUM) " WHERE id = ?1",
                    VALUES(ID(id)), error);
}

static enum doppel_status insert_job(struct doppel_library *library, const struct doppel_job *job,
                                     size_t count, uint64_t *out_id, struct doppel_error *error)
{
    int64_t id = 0;
    enum doppel_status status;
    TRY(rows_run(library,
                 "INSERT INTO job(state, client, added_ns, inputs, decided, unreadable, bytes,"
                 " webhook, calls, checksum) VALUES(1, ?1, ?2, ?3, 0, 0, ?4, ?5, 0, 0)",
                 VALUES(value_text(job->client), value_integer(now_ns()), ID(count), ID(job->bytes),
                        value_text(job->webhook)),
                 error));
    TRY(rows_number(library, "SELECT last_insert_rowid()", NO_VALUES, &id, NULL, error));
    *out_id = (uint64_t)id;
    TRY(seal_job(library, *out_id, error));
done:
    return status;
}

static enum doppel_status insert_job_inputs(struct doppel_library *library, uint64_t job,
                                            const char *const *inputs, size_t count,
                                            struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < count && !status; i++)
        status = rows_run(library,
                          "INSERT INTO job_input(job, number, input, checksum)"
                          " VALUES(?1, ?2, ?3, " CHECKSUM_OF("?1, ?2, ?3, NULL") ")",
                          VALUES(ID(job), ID(i), value_text(inputs[i])), error);
    return status;
}

enum doppel_status doppel_library_add_job(struct doppel_library *library,
                                          const struct doppel_job *job, const char *const *inputs,
                                          size_t count, uint64_t *out_id,
                                          struct doppel_error *error)
{
    uint64_t id;
    if (!count)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a job has an input, or more");
    enum doppel_status status = library_begin(library, error);
    if (status)
        return status;
    status = insert_job(library, job, count, &id, error);
    if (!status)
        status = insert_job_inputs(library, id, inputs, count, error);
    if (!status)
        *out_id = id;
    return library_end(library, status);
}

/* A change of one row; nothing where no row is meant. */
static enum doppel_status change_job(struct doppel_library *library, uint64_t id, const char *sql,
                                     struct values values, bool *out_changed,
                                     struct doppel_error *error)
{
    enum doppel_status status;
    TRY(library_begin(library, error));
    TRY(rows_run(library, sql, values, error));
    *out_changed = rows_changed(library) > 0;
    if (*out_changed)
        TRY(seal_job(library, id, error));
done:
    return library_end(library, status);
}

enum doppel_status doppel_library_begin_job(struct doppel_library *library, uint64_t id,
                                            struct doppel_error *error)
{
    bool changed;
    return change_job(library, id,
                      "UPDATE job SET state = 2, begun_ns = ?2 WHERE id = ?1 AND state = 1",
                      VALUES(ID(id), value_integer(now_ns())), &changed, error);
}

/* Who is to be called is called at once. */
#define ENDED(time)                                                                                \
    "ended_ns = " time ", next_call_ns = CASE WHEN webhook IS NULL THEN NULL ELSE " time " END"

/* @param step how many more are decided by it */
static enum doppel_status update_job_input(struct doppel_library *library, uint64_t id,
                                           uint64_t number, const char *decision, int step,
                                           struct doppel_error *error)
{
    return rows_run(
        library,
        "UPDATE job_input SET input = NULL, decision = ?3,"
        " checksum = " CHECKSUM_OF(
            "?1, ?2, NULL, ?3") " WHERE job = ?1 AND number = ?2 AND (decision IS NULL) = ?4",
        VALUES(ID(id), ID(number), value_text(decision), ID(step)), error);
}

static enum doppel_status update_decision(struct doppel_library *library, uint64_t id,
                                          uint64_t number, const char *decision, int step,
                                          bool unreadable, struct doppel_error *error)
{
    bool changed;
    enum doppel_status status;
    TRY(library_begin(library, error));
    TRY(update_job_input(library, id, number, decision, step, error));
    if (rows_changed(library)) /* else it was forgotten when the job ended */
        TRY(change_job(library, id,
                       "UPDATE job SET decided = decided + ?2, unreadable = unreadable + ?3"
                       " WHERE id = ?1",
                       VALUES(ID(id), ID(step), ID(unreadable)), &changed, error));
done:
    return library_end(library, status);
}

enum doppel_status doppel_library_put_job_decision(struct doppel_library *library, uint64_t id,
                                                   uint64_t number, const char *decision,
                                                   bool unreadable, struct doppel_error *error)
{
    return update_decision(library, id, number, decision, 1, unreadable, error);
}

enum doppel_status doppel_library_correct_job_decision(struct doppel_library *library, uint64_t id,
                                                       uint64_t number, const char *decision,
                                                       bool unreadable, struct doppel_error *error)
{
    return update_decision(library, id, number, decision, 0, unreadable, error);
}

enum doppel_status doppel_library_complete_job(struct doppel_library *library, uint64_t id,
                                               struct doppel_error *error)
{
    bool changed;
    return change_job(library, id,
                      "UPDATE job SET state = 3, " ENDED("?2") " WHERE id = ?1 AND " IS_OPEN
                                                               " AND decided = inputs",
                      VALUES(ID(id), value_integer(now_ns())), &changed, error);
}

enum doppel_status doppel_library_end_job(struct doppel_library *library, uint64_t id,
                                          enum doppel_job_state state, const char *problem,
                                          struct doppel_error *error)
{
    bool changed = false;
    enum doppel_status status;
    TRY(change_job(
        library, id,
        "UPDATE job SET state = ?2, problem = ?3, " ENDED("?4") " WHERE id = ?1 AND " IS_OPEN,
        VALUES(ID(id), ID(state), value_text(problem), value_integer(now_ns())), &changed, error));
    if (!changed)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "%s: there is no job %llu, or it has ended",
                           library->directory, (unsigned long long)id);
    TRY(rows_run(library, "DELETE FROM job_input WHERE job = ?1 AND decision IS NULL",
                 VALUES(ID(id)), error));
done:
    return library_end(library, status);
}

enum doppel_status doppel_library_job_called(struct doppel_library *library, uint64_t id,
                                             const char *problem, int64_t next_ns,
                                             struct doppel_error *error)
{
    bool changed;
    return change_job(
        library, id,
        "UPDATE job SET calls = calls + 1, call_problem = ?2, next_call_ns = ?3"
        " WHERE id = ?1",
        VALUES(ID(id), value_text(problem), value_if(next_ns != 0, value_integer(next_ns))),
        &changed, error);
}

/* ---- forgetting ---- */

static enum doppel_status oldest_to_forget(struct doppel_library *library,
                                           const struct doppel_job_age *age, int64_t *out,
                                           bool *out_found, struct doppel_error *error)
{
    enum doppel_status status =
        rows_number(library,
                    "SELECT id FROM job WHERE ended_ns < ?1 AND next_call_ns IS NULL"
                    " ORDER BY ended_ns LIMIT 1",
                    VALUES(value_integer(age->ended_before_ns)), out, out_found, error);
    if (status || *out_found)
        return status;
    return rows_number(library,
                       "SELECT id FROM job WHERE id <= (SELECT max(id) FROM job) - ?1"
                       " AND ended_ns IS NOT NULL AND next_call_ns IS NULL ORDER BY id LIMIT 1",
                       VALUES(ID(age->newest)), out, out_found, error);
}

enum doppel_status doppel_library_forget_jobs(struct doppel_library *library,
                                              const struct doppel_job_age *age,
                                              uint64_t *out_forgotten, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    uint64_t forgotten = 0;
    while (forgotten < age->most) {
        int64_t id;
        bool found;
        TRY(oldest_to_forget(library, age, &id, &found, error));
        if (!found)
            break;
        TRY(library_begin(library, error));
        TRY(rows_run(library, "DELETE FROM job_input WHERE job = ?1", VALUES(ID(id)), error));
        TRY(rows_run(library, "DELETE FROM job WHERE id = ?1", VALUES(ID(id)), error));
        forgotten++;
    }
    *out_forgotten = forgotten;
done:
    return library_end(library, status);
}
