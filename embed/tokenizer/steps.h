/* The steps of a tokenizer.json: its normalizer and its pre_tokenizer. */
#ifndef DOPPEL_EMBED_TOKENIZER_STEPS_H
#define DOPPEL_EMBED_TOKENIZER_STEPS_H

#include <jansson.h>

#include "embed/model_source.h"

/* @param json NULL or null: none. What is not understood is refused. DOPPEL_E_UNSUPPORTED;
 * DOPPEL_E_LIMIT; DOPPEL_E_CORRUPT; DOPPEL_E_MEMORY. Neither puts a STEP_END. */
enum doppel_status read_normalizer(const json_t *json, const char *path, struct model_source *out,
                                   struct doppel_error *error);
enum doppel_status read_pre_tokenizer(const json_t *json, const char *path,
                                      struct model_source *out, struct doppel_error *error);

#endif
