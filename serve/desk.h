/* Threads that do what takes time: requests wait for one, in the order in which they came. */
#ifndef DOPPEL_SERVE_DESK_H
#define DOPPEL_SERVE_DESK_H

#include "serve/exchange.h"

struct desk;

/* @param out given (desk_close) */
enum doppel_status desk_open(uint32_t threads, struct desk **out, struct doppel_error *error);

/* Have a request answered by its handler, after which its connection goes on. @return false: too
 * many wait already */
bool desk_give(struct desk *desk, struct exchange *exchange);

/* Ends when what waits is done. */
void desk_close(struct desk *desk);

#endif
