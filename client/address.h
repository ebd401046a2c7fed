/* Addresses and hosts that may be called. */
#ifndef DOPPEL_CLIENT_ADDRESS_H
#define DOPPEL_CLIENT_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/* Whether it is one of the public internet: of no private or special network (IANA's registries of
 * special-purpose addresses, RFC 6890), of which version 6 is taken from 2000::/3 alone. */
bool address_is_public(const struct sockaddr *address);

/* An address, as text, without brackets. @return false: it is a name */
bool address_parse(const char *text, struct sockaddr_storage *out);
bool address_equal(const struct sockaddr *a, const struct sockaddr *b);

/* A host, and its port, 0: none is said. */
struct host_port {
    char host[256]; /* without brackets, in small letters */
    unsigned port;
};

/* "HOST", "HOST:PORT", "[ADDRESS]", "[ADDRESS]:PORT", up to a character of `ends` or the end.
 * @return the place behind it; NULL: it is none */
const char *host_port_parse(const char *text, const char *ends, struct host_port *out);

#endif
