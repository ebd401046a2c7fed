/* The bytes of a connection to Redis, plain or by TLS, with time limits. */
#ifndef DOPPEL_REDIS_TRANSPORT_H
#define DOPPEL_REDIS_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "redis/connection.h"

/* Connect a socket, and begin TLS. As redis_connect */
enum doppel_status transport_open(struct redis_connection *connection,
                                  const struct redis_address *address, struct doppel_error *error);
/* Also where there is none. */
void transport_close(struct redis_connection *connection);

/* How long to wait. @param usual_ms where the connection has no limit of its own */
int64_t transport_end_ms(const struct redis_connection *connection, uint32_t usual_ms);

/* @return false: not yet within the time */
bool transport_wait(struct redis_connection *connection, short events, int64_t end_ms);

/* @param out_sent how many went; 0: wait until it can be written to. DOPPEL_E_BUSY: it is lost */
enum doppel_status transport_send(struct redis_connection *connection, const char *bytes,
                                  size_t size, size_t *out_sent, struct doppel_error *error);
/* @param out_size how many came; 0: wait for some. DOPPEL_E_BUSY: it is lost; DOPPEL_E_ARGUMENT:
 * the server refuses who has no certificate */
enum doppel_status transport_receive(struct redis_connection *connection, char *bytes, size_t size,
                                     size_t *out_size, struct doppel_error *error);

/* As recv on the socket. */
ssize_t transport_pull(struct redis_connection *connection, void *bytes, size_t size);

/* What a peer speaks, by the first bytes that came from it; NULL: what it should, it seems */
const char *transport_peer(const struct redis_connection *connection);

enum doppel_status transport_fail_lost(const char *why, struct doppel_error *error);

#endif
