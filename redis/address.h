/* Addresses of Redis: of a stream, and of a library in a cluster. */
#ifndef DOPPEL_REDIS_ADDRESS_H
#define DOPPEL_REDIS_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

#include <doppel/core.h>

/* One server, and a key there: redis://[USER@]HOST[:PORT]/KEY[?db=N], or rediss:// */
struct redis_address {
    char *user; /* NULL: none */
    char *host, *port, *key;
    unsigned database;
    bool tls;
};

/* Some nodes of a cluster, and the name of a library there:
 * redis://[USER@]HOST[:PORT][,HOST[:PORT]...][/NAME], or rediss:// */
struct redis_addresses {
    char *user;            /* NULL: none */
    char **hosts, **ports; /* `count` of each, at least one */
    size_t count;
    char *name; /* letters, digits, . _ -, at most 64; "doppel" by default */
    bool tls;
};

/* Whether a text begins with redis:// or rediss://. */
bool redis_address_is(const char *text);

/* @param out given (redis_address_free). DOPPEL_E_ARGUMENT, by a sentence that repeats no password;
 * DOPPEL_E_MEMORY */
enum doppel_status redis_address_parse(const char *url, struct redis_address *out,
                                       struct doppel_error *error);
void redis_address_free(struct redis_address *address);

/* Another host and port in the place of those that it has. @param place HOST:PORT, as a cluster
 * names a node; :PORT: of the same host. DOPPEL_E_FORMAT, DOPPEL_E_MEMORY: it is as it was */
enum doppel_status redis_address_move(struct redis_address *address, const char *place,
                                      struct doppel_error *error);

/* @param out given (redis_addresses_free). DOPPEL_E_ARGUMENT, by a sentence that repeats no
 * password; DOPPEL_E_MEMORY */
enum doppel_status redis_addresses_parse(const char *url, struct redis_addresses *out,
                                         struct doppel_error *error);
void redis_addresses_free(struct redis_addresses *addresses);

#endif
