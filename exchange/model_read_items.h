/* Items and texts on their way from JSON to a sink. */
#ifndef DOPPEL_EXCHANGE_MODEL_READ_ITEMS_H
#define DOPPEL_EXCHANGE_MODEL_READ_ITEMS_H

#include "exchange/model.h"
#include "exchange/json_fields.h"

enum doppel_status carry_item(struct fields *fields, const struct carry_sink *sink);
enum doppel_status carry_text(struct fields *fields, const struct carry_sink *sink);

#endif
