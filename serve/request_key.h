/* Requests with an Idempotency-Key: they are done once, however often they come. What is answered
 * to each input is kept with the decision about it, so that one that was cut short goes on. */
#ifndef DOPPEL_SERVE_REQUEST_KEY_H
#define DOPPEL_SERVE_REQUEST_KEY_H

#include "serve/deciding.h"

/* Keys of requests that are being answered. */
struct request_keys;
struct request_keys *request_keys_new(void);
void request_keys_free(struct request_keys *keys);

/* Take the key of a request, if it has one: no other has it until it is given back.
 * @return false: the exchange is answered, since the key is none, or another request has it */
bool request_key_take(struct exchange *exchange);
void request_key_give_back(struct exchange *exchange);

/* Look up what was answered to a task before. Within no transaction. @return DOPPEL_OK, also where
 * the exchange is answered, since its key came with another body */
enum doppel_status request_key_begin(struct decision_task *task, struct doppel_decider *decider,
                                     struct doppel_library *library, struct doppel_error *error);

#endif
