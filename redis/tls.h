/* TLS of connections to Redis, from 1.2 on, by GnuTLS. The server's certificate is checked: who
 * signs it, since and until when it is valid, and that it is for the host that was named. */
#ifndef DOPPEL_REDIS_TLS_H
#define DOPPEL_REDIS_TLS_H

#include <stddef.h>
#include <stdint.h>

#include <doppel/core.h>

#include "redis/address.h"

struct redis_connection;

/* Whom connections trust. Many of them share one, also in several threads. */
struct redis_tls;

/* @param ca_file certificates in PEM of who signs for servers; NULL: whom the system trusts.
 * @param option  the name of the option by which that file is given, for sentences; borrowed
 * @param out     given (redis_tls_free). DOPPEL_E_ARGUMENT: the file; DOPPEL_E_UNSUPPORTED: there
 *                is no GnuTLS; DOPPEL_E_MEMORY */
enum doppel_status redis_tls_new(const char *ca_file, const char *option, struct redis_tls **out,
                                 struct doppel_error *error);
void redis_tls_free(struct redis_tls *tls);

/* ---- for transport.c ---- */

/* Begin TLS on a socket that is connected. DOPPEL_OK; DOPPEL_E_BUSY: the connection is lost, or
 * it takes too long; DOPPEL_E_ARGUMENT: the peer is not one to talk to; DOPPEL_E_MEMORY */
enum doppel_status tls_begin(struct redis_connection *connection,
                             const struct redis_address *address, int64_t end_ms,
                             struct doppel_error *error);
/* Also where there is none. */
void tls_end(struct redis_connection *connection);

/* As transport_send and transport_receive. */
enum doppel_status tls_send(struct redis_connection *connection, const char *bytes, size_t size,
                            size_t *out_sent, struct doppel_error *error);
enum doppel_status tls_receive(struct redis_connection *connection, char *bytes, size_t size,
                               size_t *out_size, struct doppel_error *error);

#endif
