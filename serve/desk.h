/* Threads that do what takes time: requests wait for one, in the order in which they came. */
#ifndef DOPPEL_SERVE_DESK_H
#define DOPPEL_SERVE_DESK_H

#include "serve/exchange.h"

struct desk;

/* @param out given (desk_free) */
enum doppel_status desk_open(uint32_t threads, struct desk **out, struct doppel_error *error);

/* Have a request answered by its handler, after which its connection goes on. @return false: too
 * many wait already, or the desk has ended */
bool desk_give(struct desk *desk, struct exchange *exchange);

/* Returns when what waits is done; nothing more is taken. */
void desk_end(struct desk *desk);

/* Ends it, too. Nobody may give to it any more. */
void desk_free(struct desk *desk);

#endif
