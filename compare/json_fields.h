/* The fields of an object in JSON, taken with their bounds. The first that is wrong is reported;
 * those that are not there leave what they would fill as it is. */
#ifndef DOPPEL_COMPARE_JSON_FIELDS_H
#define DOPPEL_COMPARE_JSON_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include <doppel/core.h>

struct fields {
    const json_t *object;
    struct doppel_error *error;
    enum doppel_status status; /* DOPPEL_OK; DOPPEL_E_ARGUMENT, _MEMORY, with a sentence */
};

/* A field is wrong. */
void field_is_wrong(struct fields *fields, const char *key, const char *wanted);

/* A string of any bytes but NUL: where KEY_base64 is, that counts. Given (free). */
void field_bytes(struct fields *fields, const char *key, char **out);

void field_number(struct fields *fields, const char *key, int64_t least, int64_t most,
                  int64_t *out);
void field_real(struct fields *fields, const char *key, double least, double most, double *out);
void field_bool(struct fields *fields, const char *key, bool *out);

/* Hex. */
void field_digest(struct fields *fields, const char *key, struct doppel_digest *out);

/* Base64; given (free). */
void field_base64(struct fields *fields, const char *key, uint8_t **out, size_t *out_size);

/* A list of strings; given (free each, and the list). */
void field_names(struct fields *fields, const char *key, char ***out, size_t *out_count);

/* A word: which one, by the names that `name` gives from 0 on, up to `most`. */
void field_word(struct fields *fields, const char *key, const char *(*name)(int), int most,
                int *out);

#endif
