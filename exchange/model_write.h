/* What is exchanged, as JSON Lines: docs/formats.md, "An export". */
#ifndef DOPPEL_EXCHANGE_MODEL_WRITE_H
#define DOPPEL_EXCHANGE_MODEL_WRITE_H

#include <doppel/json_writer.h>

#include "exchange/model.h"

enum { EXPORT_FORMAT = 1 };

/* Append an object. The first line: */
void write_export_head(struct doppel_json *json);

void write_item(struct doppel_json *json, const struct exchange_item *item);
void write_text(struct doppel_json *json, const struct exchange_text *text);
void write_policy(struct doppel_json *json, const struct doppel_keep_policy *policy);
void write_source(struct doppel_json *json, const char *pattern, int64_t authority);
void write_list(struct doppel_json *json, const struct doppel_list *list);
void write_text_options(struct doppel_json *json, const struct doppel_text_options *options,
                        const struct doppel_text_limits *limits);
void write_mark(struct doppel_json *json, const struct doppel_mark *mark);
void write_log(struct doppel_json *json, const struct doppel_log_entry *entry);

#endif
