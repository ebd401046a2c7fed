/* Copying the log of a library to PostgreSQL, page by page, each in a transaction that begins after
 * the last entry there. After a lost connection it looks up how far it came. */
#include "core/clock.h"
#include "stream/postgres/sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/printable.h"
#include "core/try.h"
#include "stream/pause.h"
#include "stream/postgres/connection.h"
#include "stream/postgres/sink_rows.h"

struct sink {
    struct pg_connection connection;
    struct doppel_library *library;
    const struct doppel_log_sink_options *options;
    struct doppel_log_sink_counts counts;
    char *name; /* of the library, as a literal of SQL */

    uint64_t position;       /* the last entry that is there */
    struct doppel_json rows; /* of the page that is read */
    uint64_t row_count, latest;
    bool moved; /* another process has written there, too */
    struct doppel_error trouble;

    bool reached; /* once, at least */
    struct backoff away;
};

/* ---- the table ---- */

/* With a lock, as two processes could find it missing at once. */
static enum doppel_status make_table(struct sink *sink, struct doppel_error *error)
{
    static const char find[] = "SELECT to_regclass('decisions')";
    char *found[2] = {NULL, NULL};
    enum doppel_status status;
    TRY(pg_run(&sink->connection, find, found, error));
    if (found[0])
        goto done;
    TRY(pg_run(&sink->connection, "BEGIN; SELECT pg_advisory_xact_lock(hashtext('doppel'))", NULL,
               error));
    TRY(pg_run(&sink->connection, find, found, error));
    if (!found[0])
        TRY(pg_run(&sink->connection, SINK_TABLE, NULL, error));
    TRY(pg_run(&sink->connection, "COMMIT", NULL, error));
done:
    free(found[0]);
    free(found[1]);
    return status;
}

/* @param format with %s for the library's name. @param out as pg_run's */
static enum doppel_status run_of_library(struct sink *sink, const char *format, char *out[2],
                                         struct doppel_error *error)
{
    char *sql = NULL;
    if (asprintf(&sql, format, sink->name) < 0)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a statement");
    enum doppel_status status = pg_run(&sink->connection, sql, out, error);
    free(sql);
    return status;
}

/* ---- where it stands ---- */

struct entry_time {
    bool met, damaged;
    int64_t time_us;
};

static bool take_entry_time(void *context, const struct doppel_log_entry *entry,
                            const struct doppel_error *error)
{
    struct entry_time *out = context;
    out->met = true;
    out->damaged = error->status;
    out->time_us = entry->time_ns / 1000;
    return false;
}

/* Check that the last entry there is of this library. Otherwise another library has its name, or it
 * was created again, and entries would be missing. */
static enum doppel_status check_entry_time(struct sink *sink, const char *time_us,
                                           struct doppel_error *error)
{
    struct entry_time found = {0};
    const struct doppel_log_query one = {
        .first = sink->position, .last = sink->position, .limit = 1};
    enum doppel_status status =
        doppel_library_each_log(sink->library, &one, take_entry_time, &found, error);
    if (status && status != DOPPEL_E_CANCELLED)
        return status;
    if (found.damaged || (found.met && found.time_us == strtoll(time_us, NULL, 10)))
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_ARGUMENT,
                       "the database has %" PRIu64 " entries of another library named %s: give "
                       "this one another name",
                       sink->position, sink->options->name);
}

static enum doppel_status find_position(struct sink *sink, struct doppel_error *error)
{
    char *found[2] = {NULL, NULL};
    enum doppel_status status;
    TRY(run_of_library(sink,
                       "SELECT entry, (extract(epoch FROM time) * 1000000)::bigint FROM decisions"
                       " WHERE library = %s ORDER BY entry DESC LIMIT 1",
                       found, error));
    sink->position = found[0] ? strtoull(found[0], NULL, 10) : 0;
    if (found[0] && found[1])
        TRY(check_entry_time(sink, found[1], error));
done:
    free(found[0]);
    free(found[1]);
    return status;
}

/* Its name as an SQL literal, which depends on the encoding of the connection. */
static enum doppel_status name_library(struct sink *sink, struct doppel_error *error)
{
    const struct libpq *pq = sink->connection.pq;
    if (sink->name)
        pq->freemem(sink->name);
    sink->name = pq->escapeLiteral(sink->connection.handle, sink->options->name,
                                   strlen(sink->options->name));
    return sink->name ? DOPPEL_OK : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a name");
}

/* Rows between the first and the last that are not there. Those before the first may have been
 * deleted because they were old. */
static enum doppel_status report_missing(struct sink *sink, struct doppel_error *error)
{
    char *found[2] = {NULL, NULL};
    enum doppel_status status;
    TRY(run_of_library(sink,
                       "SELECT max(entry) - min(entry) + 1 - count(*), min(entry) FROM decisions"
                       " WHERE library = %s",
                       found, error));
    const uint64_t missing = found[0] ? strtoull(found[0], NULL, 10) : 0;
    if (missing)
        doppel_run_notice(sink->connection.run,
                          "the table has not all entries: %" PRIu64 " from %s to %" PRIu64
                          " are missing, which were deleted there or are damaged in the log",
                          missing, found[1] ? found[1] : "the first", sink->position);
done:
    free(found[0]);
    free(found[1]);
    return status;
}

static enum doppel_status open_sink(struct sink *sink, struct doppel_error *error)
{
    enum doppel_status status;
    TRY(pg_connect(&sink->connection, sink->options->url, !sink->reached, error));
    const bool first = !sink->reached;
    sink->reached = true;
    TRY(name_library(sink, error));
    TRY(make_table(sink, error));
    TRY(find_position(sink, error));
    if (first)
        TRY(report_missing(sink, error));
done:
    return status;
}

/* ---- a page ---- */

static bool keep_row(void *context, const struct doppel_log_entry *entry,
                     const struct doppel_error *error)
{
    struct sink *sink = context;
    sink->latest = entry->entry;
    if (error->status) {
        doppel_run_failed(sink->connection.run, "the log", error);
        return true;
    }
    sink_row(&sink->rows, sink->options->name, entry);
    sink->row_count++;
    return !sink->rows.failed;
}

/* One writer of a library holds the lock at a time; one that waited for it may find the page
 * already there. */
static enum doppel_status write_page(struct sink *sink, struct doppel_error *error)
{
    char *found[2] = {NULL, NULL};
    enum doppel_status status;
    TRY(run_of_library(sink,
                       "BEGIN; SELECT pg_advisory_xact_lock(hashtext('doppel'), hashtext(%s))",
                       NULL, error));
    TRY(run_of_library(sink, "SELECT max(entry) FROM decisions WHERE library = %s", found, error));
    sink->moved = (found[0] ? strtoull(found[0], NULL, 10) : 0) != sink->position;
    if (!sink->moved)
        TRY(pg_copy(&sink->connection, "COPY decisions (" SINK_COLUMNS ") FROM STDIN",
                    sink->rows.bytes, sink->rows.size, error));
    TRY(pg_run(&sink->connection, sink->moved ? "ROLLBACK" : "COMMIT", NULL, error));
done:
    free(found[0]);
    free(found[1]);
    return status;
}

/* @return false: stop, because of a failure, or to go on from the database's last entry */
static bool send_page(void *context, struct doppel_error *error)
{
    struct sink *sink = context;
    enum doppel_status status = doppel_json_status(&sink->rows, error);
    if (status)
        return false;
    if (sink->row_count)
        status = write_page(sink, &sink->trouble);
    if (!status && !sink->moved && sink->row_count) {
        sink->position = sink->latest;
        sink->counts.written += sink->row_count;
        sink->counts.last = sink->latest;
        sink->away = (struct backoff){0};
    }
    doppel_json_clear(&sink->rows);
    sink->row_count = 0;
    sink->trouble.status = status;
    return !status && !sink->moved;
}

static enum doppel_status send_pages(struct sink *sink, struct doppel_error *error)
{
    const struct doppel_log_follower follower = {keep_row, send_page, sink};
    struct doppel_log_follow_options options = {.follow = sink->options->follow,
                                                .poll_ms = sink->options->poll_ms};
    do {
        options.query.first = sink->position + 1;
        sink->moved = false;
        sink->trouble = (struct doppel_error){0};
        enum doppel_status status =
            doppel_log_follow(sink->connection.run, sink->library, &options, &follower, error);
        if (status)
            return status;
        if (sink->trouble.status)
            return doppel_fail(error, sink->trouble.status, "%s", sink->trouble.message);
        if (sink->moved)
            status = find_position(sink, error);
        if (status)
            return status;
    } while (sink->moved);
    return DOPPEL_OK;
}

/* ---- while it is away ---- */

/* @return false: it was away for too long, or the run is cancelled */
static bool wait_for_database(struct sink *sink, const char *why)
{
    const uint32_t patience_ms = sink->options->patience_ms;
    struct doppel_run *run = sink->connection.run;
    if (!sink->away.pause_ms)
        doppel_run_notice(run, "the database is away, and waited for: %s", why);
    else if (patience_ms && monotonic_ms() - sink->away.away_since_ms >= patience_ms)
        return false;
    sink->counts.retries++;
    return backoff_pause(&sink->away, run);
}

static enum doppel_status keep_log(struct sink *sink, struct doppel_error *error)
{
    for (;;) {
        struct doppel_error why = {0};
        enum doppel_status status = open_sink(sink, &why);
        if (!status)
            status = send_pages(sink, &why);
        pg_close(&sink->connection);
        if (!status || status == DOPPEL_E_CANCELLED)
            return DOPPEL_OK;
        if (status != DOPPEL_E_BUSY || !wait_for_database(sink, why.message))
            return doppel_run_cancelled(sink->connection.run)
                       ? DOPPEL_OK
                       : doppel_fail(error, status, "%s", why.message);
    }
}

/* ---- the call ---- */

enum doppel_status postgres_sink(struct doppel_run *run, struct doppel_library *library,
                                 const struct doppel_log_sink_options *options,
                                 struct doppel_log_sink_counts *out_counts,
                                 struct doppel_error *error)
{
    struct sink sink = {.connection.run = run, .library = library, .options = options};
    enum doppel_status status;
    if (!options->name || !*options->name || !utf8_valid(options->name))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a library has a name in UTF-8 there");
    TRY(libpq_load(&sink.connection.pq, error));
    TRY(pg_check_address(sink.connection.pq, options->url, error));
    status = keep_log(&sink, error);
    if (out_counts)
        *out_counts = sink.counts;
done:
    if (sink.name)
        sink.connection.pq->freemem(sink.name);
    doppel_json_free(&sink.rows);
    return status;
}
