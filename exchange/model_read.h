/* What is exchanged, from JSON to a sink. */
#ifndef DOPPEL_EXCHANGE_MODEL_READ_H
#define DOPPEL_EXCHANGE_MODEL_READ_H

#include <jansson.h>

#include "compare/json_fields.h"
#include "exchange/model.h"

/* Give an object to the sink, as what it is; entries of the log are passed over.
 * @return DOPPEL_E_ARGUMENT, with a sentence, when it is nothing that is known; DOPPEL_E_VERSION of
 * a first line of another format; else what the sink returned */
enum doppel_status exchange_json_line(const json_t *object, const struct exchange_sink *sink,
                                      struct doppel_error *error);

/* The same of an item or a text. */
enum doppel_status read_item(struct fields *fields, const struct exchange_sink *sink);
enum doppel_status read_text(struct fields *fields, const struct exchange_sink *sink);

#endif
