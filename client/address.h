/* Addresses and hosts that may be called. */
#ifndef DOPPEL_CLIENT_ADDRESS_H
#define DOPPEL_CLIENT_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* Whether it is one of the public internet: of no private or special network (IANA's registries of
 * special-purpose addresses, RFC 6890), of which version 6 is taken from 2000::/3 alone. */
bool address_is_public(const struct sockaddr *address);

/* Whether it is one of this machine's own: 127.0.0.0/8 or ::1. */
bool address_is_loopback(const struct sockaddr *address);

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

/* What a URL names, with the port that its scheme has, if it says none. @return false: it is no
 * URL of http or https, or has a user, a fragment, or characters that no URL has */
bool http_url_parse(const char *url, struct host_port *out);

/* Whether a host is among those allowed: "HOST", at the usual port of http and https, or
 * "HOST:PORT"; a version 6 address in brackets. */
bool host_is_allowed(const char *const *allowed, size_t count, const struct host_port *host);

#endif
