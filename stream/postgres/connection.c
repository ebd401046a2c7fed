/* A connection to PostgreSQL: each wait has a time limit, and ends when the run is cancelled. */
#include "core/clock.h"
#include "stream/postgres/connection.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "stream/pause.h"

enum { CONNECT_MS = 10000, ANSWER_MS = 60000, SLICE_MS = 100, COPY_PIECE = 1 << 16 };

/* ---- sentences ---- */

/* What libpq says, in one line; it names hosts and users, never a password. */
static void one_line(const char *text, char *out, size_t size)
{
    size_t used = 0;
    for (; *text && used + 1 < size; text++) {
        bool blank = *text == '\n' || *text == '\t' || *text == ' ';
        if (!blank)
            out[used++] = *text;
        else if (used && out[used - 1] != ' ')
            out[used++] = ' ';
    }
    while (used && out[used - 1] == ' ')
        used--;
    out[used] = '\0';
}

static enum doppel_status fail_connection(const struct pg_connection *connection,
                                          enum doppel_status status, struct doppel_error *error)
{
    char why[400];
    one_line(connection->pq->errorMessage(connection->handle), why, sizeof why);
    return doppel_fail(error, status, "PostgreSQL: %s", *why ? why : "the connection is lost");
}

/* SQLSTATE classes after which another try may succeed: connection, rollback, resources, locks,
 * operator intervention, system error; and a server that is read-only during a failover. */
static bool is_passing_state(const char *state)
{
    static const char *const passing[] = {"08", "40", "53", "55P03", "57P", "58", "25006"};
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        if (strncmp(state, passing[i], strlen(passing[i])) == 0)
            return true;
    return false;
}

static enum doppel_status fail_result(const struct pg_connection *connection,
                                      const PGresult *result, struct doppel_error *error)
{
    const struct libpq *pq = connection->pq;
    const char *state = pq->resultErrorField(result, PG_DIAG_SQLSTATE);
    const char *message = pq->resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    char why[400];
    if (!state || pq->status(connection->handle) == CONNECTION_BAD)
        return fail_connection(connection, DOPPEL_E_BUSY, error);
    one_line(message ? message : "", why, sizeof why);
    return doppel_fail(error, is_passing_state(state) ? DOPPEL_E_BUSY : DOPPEL_E_IO,
                       "PostgreSQL: %s (%s)", why, state);
}

/* ---- the address ---- */

static bool has_secret(const PQconninfoOption *options)
{
    bool has = false;
    for (; options->keyword; options++)
        has |= options->val && *options->val &&
               (strcmp(options->keyword, "password") == 0 ||
                strcmp(options->keyword, "sslpassword") == 0);
    return has;
}

/* A port of each host, with commas between; an empty one is the usual one. */
static bool are_ports(const char *text)
{
    for (;;) {
        const size_t size = strcspn(text, ",");
        char *end = NULL;
        const unsigned long port = size ? strtoul(text, &end, 10) : 0;
        if (size && (end != text + size || !port || port > 65535))
            return false;
        if (!text[size])
            return true;
        text += size + 1;
    }
}

static bool has_odd_port(const PQconninfoOption *options)
{
    bool odd = false;
    for (; options->keyword; options++)
        odd |= options->val && strcmp(options->keyword, "port") == 0 && !are_ports(options->val);
    return odd;
}

enum doppel_status pg_check_address(const struct libpq *pq, const char *url,
                                    struct doppel_error *error)
{
    bool is_url = strncmp(url, "postgresql://", 13) == 0 || strncmp(url, "postgres://", 11) == 0;
    PQconninfoOption *options = is_url ? pq->conninfoParse(url, NULL) : NULL;
    if (!options)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "the address of a database is postgresql://USER@HOST/DATABASE, with "
                           "what else libpq takes behind '?'");
    const bool secret = has_secret(options), odd = has_odd_port(options);
    pq->conninfoFree(options);
    if (odd)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "the address of the database has a port that is no number from 1 to "
                           "65535");
    return secret ? doppel_fail(error, DOPPEL_E_ARGUMENT,
                                "the address of the database has a password, which others of this "
                                "machine can see: put it into ~/.pgpass, or into a file that "
                                "$PGPASSFILE names")
                  : DOPPEL_OK;
}

/* ---- waiting ---- */

/* @param events of poll(). DOPPEL_E_BUSY: in vain; DOPPEL_E_CANCELLED */
static enum doppel_status wait_for_socket(struct pg_connection *connection, short events,
                                          int64_t end_ms, struct doppel_error *error)
{
    for (;;) {
        struct pollfd wanted = {connection->pq->socket(connection->handle), events, 0};
        if (doppel_run_cancelled(connection->run))
            return doppel_fail(error, DOPPEL_E_CANCELLED, "ended while PostgreSQL was waited for");
        if (wanted.fd < 0)
            return fail_connection(connection, DOPPEL_E_BUSY, error);
        int ready = poll(&wanted, 1, SLICE_MS);
        if (ready > 0)
            return DOPPEL_OK;
        if (ready < 0 && errno != EINTR)
            return doppel_fail(error, DOPPEL_E_BUSY, "PostgreSQL: %s", strerror(errno));
        if (monotonic_ms() > end_ms)
            return doppel_fail(error, DOPPEL_E_BUSY, "PostgreSQL does not answer");
    }
}

/* All that is to be sent, while what comes meanwhile is read. */
static enum doppel_status flush_connection(struct pg_connection *connection, int64_t end_ms,
                                           struct doppel_error *error)
{
    int left;
    while ((left = connection->pq->flush(connection->handle)) > 0) {
        enum doppel_status status = wait_for_socket(connection, POLLIN | POLLOUT, end_ms, error);
        if (status)
            return status;
        if (!connection->pq->consumeInput(connection->handle))
            return fail_connection(connection, DOPPEL_E_BUSY, error);
    }
    return left < 0 ? fail_connection(connection, DOPPEL_E_BUSY, error) : DOPPEL_OK;
}

/* @param out given (PQclear); NULL: there is none any more */
static enum doppel_status next_result(struct pg_connection *connection, PGresult **out,
                                      struct doppel_error *error)
{
    const struct libpq *pq = connection->pq;
    const int64_t end_ms = monotonic_ms() + ANSWER_MS;
    enum doppel_status status = flush_connection(connection, end_ms, error);
    while (!status && pq->isBusy(connection->handle)) {
        status = wait_for_socket(connection, POLLIN, end_ms, error);
        if (!status && !pq->consumeInput(connection->handle))
            status = fail_connection(connection, DOPPEL_E_BUSY, error);
    }
    if (!status)
        *out = pq->getResult(connection->handle);
    return status;
}

/* ---- connecting ---- */

static void receive_no_notice(void *context, const PGresult *result)
{
    (void)context, (void)result;
}

/* Whether the server accepts connections: then it refuses this one in particular. */
static bool is_refused_by_server(const struct pg_connection *connection, const char *const *names,
                                 const char *const *values)
{
    const PGPing ping = connection->pq->pingParams(names, values, 1);
    return ping == PQPING_OK || ping == PQPING_NO_ATTEMPT;
}

static enum doppel_status finish_connecting(struct pg_connection *connection,
                                            struct doppel_error *error)
{
    const int64_t end_ms = monotonic_ms() + CONNECT_MS;
    for (;;) {
        PostgresPollingStatusType step = connection->pq->connectPoll(connection->handle);
        if (step == PGRES_POLLING_OK)
            return DOPPEL_OK;
        if (step == PGRES_POLLING_FAILED)
            return fail_connection(connection, DOPPEL_E_BUSY, error);
        enum doppel_status status = wait_for_socket(
            connection, step == PGRES_POLLING_READING ? POLLIN : POLLOUT, end_ms, error);
        if (status)
            return status;
    }
}

enum doppel_status pg_connect(struct pg_connection *connection, const char *url, bool first,
                              struct doppel_error *error)
{
    static const char *const names[] = {"connect_timeout", "fallback_application_name", "dbname",
                                        "client_encoding", NULL};
    const char *const values[] = {"5", "doppel", url, "UTF8", NULL};
    const struct libpq *pq = connection->pq;
    enum doppel_status status;
    pg_close(connection);
    connection->handle = pq->connectStartParams(names, values, 1);
    if (!connection->handle)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a connection");
    if (pq->status(connection->handle) == CONNECTION_BAD)
        TRY(fail_connection(connection, DOPPEL_E_BUSY, error));
    pq->setNoticeReceiver(connection->handle, receive_no_notice, NULL);
    TRY(finish_connecting(connection, error));
    if (pq->setnonblocking(connection->handle, 1))
        TRY(fail_connection(connection, DOPPEL_E_BUSY, error));
done:
    if (status)
        pg_close(connection);
    if (status == DOPPEL_E_BUSY && first && is_refused_by_server(connection, names, values)) {
        error->status = DOPPEL_E_ARGUMENT;
        return DOPPEL_E_ARGUMENT;
    }
    return status;
}

void pg_close(struct pg_connection *connection)
{
    if (connection->handle)
        connection->pq->finish(connection->handle);
    connection->handle = NULL;
}

/* ---- statements ---- */

static enum doppel_status take_values(const struct pg_connection *connection,
                                      const PGresult *result, char *out[2],
                                      struct doppel_error *error)
{
    const struct libpq *pq = connection->pq;
    const int rows = pq->ntuples(result);
    for (int i = 0; i < 2 && rows; i++) {
        free(out[i]);
        out[i] =
            pq->getisnull(result, rows - 1, i) ? NULL : strdup(pq->getvalue(result, rows - 1, i));
        if (!out[i] && !pq->getisnull(result, rows - 1, i))
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an answer");
    }
    return DOPPEL_OK;
}

/* The results up to the end, or to a COPY that waits for rows. @param out may be NULL */
static enum doppel_status take_results(struct pg_connection *connection, char *out[2],
                                       struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (bool copies = false; !copies;) {
        PGresult *result = NULL;
        enum doppel_status step = next_result(connection, &result, status ? NULL : error);
        if (step)
            return status ? status : step;
        if (!result)
            return status;
        const ExecStatusType kind = connection->pq->resultStatus(result);
        copies = kind == PGRES_COPY_IN;
        if (!copies && kind != PGRES_COMMAND_OK && kind != PGRES_TUPLES_OK && !status)
            status = fail_result(connection, result, error);
        if (kind == PGRES_TUPLES_OK && out && !status)
            status = take_values(connection, result, out, error);
        connection->pq->clear(result);
    }
    return status;
}

static enum doppel_status send_query(struct pg_connection *connection, const char *sql,
                                     struct doppel_error *error)
{
    return connection->pq->sendQuery(connection->handle, sql)
               ? DOPPEL_OK
               : fail_connection(connection, DOPPEL_E_BUSY, error);
}

enum doppel_status pg_run(struct pg_connection *connection, const char *sql, char *out[2],
                          struct doppel_error *error)
{
    enum doppel_status status = send_query(connection, sql, error);
    return status ? status : take_results(connection, out, error);
}

/* @param rows,size what is left of them */
static enum doppel_status send_copy_rows(struct pg_connection *connection, const char *rows,
                                         size_t size, struct doppel_error *error)
{
    const int64_t end_ms = monotonic_ms() + ANSWER_MS;
    while (size) {
        const size_t piece = size < COPY_PIECE ? size : COPY_PIECE;
        const int put = connection->pq->putCopyData(connection->handle, rows, (int)piece);
        if (put < 0)
            return fail_connection(connection, DOPPEL_E_BUSY, error);
        if (put > 0) {
            rows += piece;
            size -= piece;
        }
        enum doppel_status status = flush_connection(connection, end_ms, error);
        if (status)
            return status;
    }
    return DOPPEL_OK;
}

enum doppel_status pg_copy(struct pg_connection *connection, const char *sql, const char *rows,
                           size_t size, struct doppel_error *error)
{
    enum doppel_status status;
    TRY(pg_run(connection, sql, NULL, error));
    TRY(send_copy_rows(connection, rows, size, error));
    if (connection->pq->putCopyEnd(connection->handle, NULL) < 0)
        TRY(fail_connection(connection, DOPPEL_E_BUSY, error));
    status = take_results(connection, NULL, error);
done:
    return status;
}
