/* A connection to PostgreSQL: each wait has a time limit, and ends when the run is cancelled. */
#ifndef DOPPEL_STREAM_POSTGRES_CONNECTION_H
#define DOPPEL_STREAM_POSTGRES_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>

#include <doppel/run.h>

#include "stream/postgres/libpq.h"

struct pg_connection {
    const struct libpq *pq;
    struct doppel_run *run;
    PGconn *handle; /* NULL: there is none */
};

/* Check that an address is valid, and has no password. DOPPEL_E_ARGUMENT: the message does not
 * repeat it */
enum doppel_status pg_check_address(const struct libpq *pq, const char *url,
                                    struct doppel_error *error);

/* @param first this address was never reached: a refusal is final then, and not tried again.
 * DOPPEL_OK; DOPPEL_E_BUSY: try again later; DOPPEL_E_ARGUMENT: refused; DOPPEL_E_CANCELLED */
enum doppel_status pg_connect(struct pg_connection *connection, const char *url, bool first,
                              struct doppel_error *error);
/* Also where there is none. */
void pg_close(struct pg_connection *connection);

/* Run one or more statements. @param out the first two values of the last row, as text; given
 * (free); NULL where there is none. May be NULL.
 * DOPPEL_OK; DOPPEL_E_BUSY: the connection is lost, or the server cannot do it now; DOPPEL_E_IO: it
 * refuses; DOPPEL_E_CANCELLED; DOPPEL_E_MEMORY */
enum doppel_status pg_run(struct pg_connection *connection, const char *sql, char *out[2],
                          struct doppel_error *error);

/* Send the rows of a COPY … FROM STDIN. As pg_run */
enum doppel_status pg_copy(struct pg_connection *connection, const char *sql, const char *rows,
                           size_t size, struct doppel_error *error);

#endif
