/* What the library holds, in the formats of other tools, and as CSV. */
#ifndef DOPPEL_EXCHANGE_EXPORT_LISTS_H
#define DOPPEL_EXCHANGE_EXPORT_LISTS_H

#include <stdio.h>

#include "exchange/model.h"

/* Write what fits the format; a notice says how much did not. */
enum doppel_status export_lists(struct doppel_run *run, struct doppel_library *library, FILE *out,
                                const struct doppel_export_options *options,
                                struct doppel_error *error);

/* DOPPEL_E_IO when the stream has failed; DOPPEL_E_CANCELLED when nobody reads it any more. */
enum doppel_status export_written(FILE *out, struct doppel_error *error);

#endif
