/* What is carried, as JSON Lines: docs/formats.md, "An export". */
#ifndef DOPPEL_EXCHANGE_MODEL_WRITE_H
#define DOPPEL_EXCHANGE_MODEL_WRITE_H

#include <jansson.h>

#include "exchange/model.h"

enum { EXPORT_FORMAT = 1 };

/* The first line. */
json_t *export_head(void);

/* ---- to JSON; given (json_decref) ---- */

json_t *json_of_item(const struct carried_item *item);
json_t *json_of_text(const struct carried_text *text);
json_t *json_of_policy(const struct doppel_keep_policy *policy);
json_t *json_of_source(const char *pattern, int64_t authority);
json_t *json_of_list(const char *name, enum doppel_list_state state);
json_t *json_of_text_options(const struct doppel_text_options *options,
                             const struct doppel_text_limits *limits);
json_t *json_of_mark(const struct doppel_mark *mark);
json_t *json_of_log(const struct doppel_log_entry *entry);

/* ---- from JSON ---- */

/* Give an object to the sink, as what it is; entries of the log are passed over.
 * @return DOPPEL_E_ARGUMENT, with a sentence, when it is nothing that is known; DOPPEL_E_VERSION of
 * a first line of another format; else what the sink returned */
enum doppel_status carry_json(const json_t *object, const struct carry_sink *sink,
                              struct doppel_error *error);

#endif
