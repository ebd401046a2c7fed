/* The one thread of the service that writes: what is ingested, what changes the library. */
#ifndef DOPPEL_SERVE_WRITER_H
#define DOPPEL_SERVE_WRITER_H

#include "serve/deciding.h"

struct writer;

/* The library is made if there is none. @param out given (writer_close) */
enum doppel_status writer_open(struct service *service, struct writer **out,
                               struct doppel_error *error);
void writer_close(struct writer *writer);

/* Have a task decided about, and what it says remembered; then its connection goes on. @param task
 * taken */
void writer_give(struct writer *writer, struct decision_task *task);

/* Change the library by a call, between what is ingested: `change` has it for itself. The log says
 * whose request it was. */
typedef enum doppel_status library_change(void *context, struct doppel_library *library,
                                          struct doppel_error *error);
enum doppel_status writer_change(struct exchange *exchange, library_change *change, void *context,
                                 struct doppel_error *error);

#endif
