/* What a service will look up is read into memory while it answers already. */
#ifndef DOPPEL_SERVE_WARM_UP_H
#define DOPPEL_SERVE_WARM_UP_H

#include <doppel/core.h>

struct service;
struct warm_up;

/* Begin to. @param out given (warm_up_end). DOPPEL_E_MEMORY, or no thread */
enum doppel_status warm_up_begin(const struct service *service, struct warm_up **out,
                                 struct doppel_error *error);

/* Wherever it is. @param warm_up NULL: nothing happens */
void warm_up_end(struct warm_up *warm_up);

#endif
