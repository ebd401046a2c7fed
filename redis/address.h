/* redis://[USER@]HOST[:PORT]/KEY[?db=N] */
#ifndef DOPPEL_REDIS_ADDRESS_H
#define DOPPEL_REDIS_ADDRESS_H

#include <doppel/core.h>

struct redis_address {
    char *user; /* NULL: none */
    char *host, *port, *key;
    unsigned database;
};

/* @param out given (redis_address_free). DOPPEL_E_ARGUMENT, by a sentence that repeats no password;
 * DOPPEL_E_UNSUPPORTED: TLS; DOPPEL_E_MEMORY */
enum doppel_status redis_address_parse(const char *url, struct redis_address *out,
                                       struct doppel_error *error);
void redis_address_free(struct redis_address *address);

#endif
