/* Who may ask, for what, how often.
 *
 * A file of keys has a line for each: the SHA-256 of the key in hex, a name, its right (`read`,
 * `write` or `admin`), and, if it is limited, how many requests a second it may make. Blanks
 * between; a line that begins with # says nothing. A client sends the key as `Authorization:
 * Bearer KEY`. */
#ifndef DOPPEL_SERVE_KEYS_H
#define DOPPEL_SERVE_KEYS_H

#include "serve/exchange.h"

struct client_keys;

/* @param path NULL: everybody has every right. @param out given (keys_free). DOPPEL_E_FORMAT, with
 * the line; DOPPEL_E_NOT_FOUND; DOPPEL_E_IO; DOPPEL_E_MEMORY */
enum doppel_status keys_read(const char *path, struct client_keys **out,
                             struct doppel_error *error);
void keys_free(struct client_keys *keys);

/* Whether a request may be made; else its reply says why not. The client is set. Thread-safe. */
bool keys_admit(struct client_keys *keys, struct exchange *exchange);

#endif
