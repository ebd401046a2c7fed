/* The body of a request, as it comes: a file, a form, JSON; or lines, which are answered part by
 * part, so that who sends them waits for those that decide, and no length of them is too long. */
#ifndef DOPPEL_SERVE_BODY_H
#define DOPPEL_SERVE_BODY_H

#include "serve/exchange.h"

/* By its head: what form it has. What cannot be taken is refused: then the reply says so. */
void body_begin(struct exchange *exchange);

/* Whether the body of a request that is refused is waited for: who sends it without having asked
 * (Expect: 100-continue) would find the connection closed, and never read the answer. */
bool body_is_read_on(const struct exchange *exchange);

/* Take a piece. @param size of it; then what is left of it for the next call: where a part is whole
 * (line_parts.whole), that is answered before any of the next is taken. @return false: the
 * connection is to be closed */
bool body_take(struct exchange *exchange, const char *data, size_t *size);

/* A part was answered: its lines make room for the next. */
void body_next_part(struct exchange *exchange);

/* All of it came. */
void body_end(struct exchange *exchange);

void body_free(struct exchange *exchange);

#endif
