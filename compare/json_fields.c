/* The fields of an object in JSON. */
#include "compare/json_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/base64.h"

enum { KEY_BYTES = 64 };

void field_is_wrong(struct fields *fields, const char *key, const char *wanted)
{
    if (!fields->status)
        fields->status =
            doppel_fail(fields->error, DOPPEL_E_ARGUMENT, "\"%s\" is not %s", key, wanted);
}

static void *field_memory(struct fields *fields, void *memory)
{
    if (!memory && !fields->status)
        fields->status = doppel_fail(fields->error, DOPPEL_E_MEMORY, "no memory for a line");
    return memory;
}

/* A string, or NULL: it is none (told), or not there. */
static const char *text_of_field(struct fields *fields, const char *key)
{
    const json_t *value = json_object_get(fields->object, key);
    if (value && !json_is_null(value) && !json_is_string(value))
        field_is_wrong(fields, key, "a string");
    return json_string_value(value);
}

void field_base64(struct fields *fields, const char *key, uint8_t **out, size_t *out_size)
{
    const char *text = text_of_field(fields, key);
    uint8_t *bytes = text ? (uint8_t *)base64_decode(text, out_size) : NULL;
    if (text && !bytes)
        field_is_wrong(fields, key, "base64");
    if (bytes)
        *out = bytes;
}

void field_bytes(struct fields *fields, const char *key, char **out)
{
    char encoded[KEY_BYTES];
    uint8_t *bytes = NULL;
    size_t size = 0;
    snprintf(encoded, sizeof encoded, "%s_base64", key);
    field_base64(fields, encoded, &bytes, &size);
    if (bytes && strlen((const char *)bytes) != size) {
        field_is_wrong(fields, encoded, "base64 of bytes other than NUL");
        free(bytes);
        return;
    }
    const char *text = bytes ? NULL : text_of_field(fields, key);
    if (bytes)
        *out = (char *)bytes;
    else if (text)
        *out = field_memory(fields, strdup(text));
}

void field_number(struct fields *fields, const char *key, int64_t least, int64_t most, int64_t *out)
{
    const json_t *value = json_object_get(fields->object, key);
    int64_t number = json_integer_value(value);
    char wanted[96];
    if (!value || json_is_null(value))
        return;
    if (json_is_integer(value) && number >= least && number <= most) {
        *out = number;
        return;
    }
    snprintf(wanted, sizeof wanted, "a whole number from %lld to %lld", (long long)least,
             (long long)most);
    field_is_wrong(fields, key, wanted);
}

void field_real(struct fields *fields, const char *key, double least, double most, double *out)
{
    const json_t *value = json_object_get(fields->object, key);
    double number = json_number_value(value);
    if (!value)
        return;
    if (json_is_number(value) && number >= least && number <= most)
        *out = number;
    else
        field_is_wrong(fields, key, "a number in its range");
}

void field_bool(struct fields *fields, const char *key, bool *out)
{
    const json_t *value = json_object_get(fields->object, key);
    if (json_is_boolean(value))
        *out = json_is_true(value);
    else if (value)
        field_is_wrong(fields, key, "true or false");
}

/* Hex of so many bytes. */
static void field_hex(struct fields *fields, const char *key, void *out, size_t size)
{
    const char *text = text_of_field(fields, key);
    char wanted[48];
    snprintf(wanted, sizeof wanted, "%zu hex digits", 2 * size);
    if (text && doppel_hex_decode(text, out, size))
        field_is_wrong(fields, key, wanted);
}

void field_digest(struct fields *fields, const char *key, struct doppel_digest *out)
{
    field_hex(fields, key, out->bytes, sizeof out->bytes);
}

void field_names(struct fields *fields, const char *key, char ***out, size_t *out_count)
{
    const json_t *list = json_object_get(fields->object, key), *name;
    size_t i, count = json_array_size(list);
    if (list && !json_is_array(list))
        field_is_wrong(fields, key, "a list of strings");
    if (!count)
        return;
    *out = field_memory(fields, calloc(count, sizeof **out));
    if (!*out)
        return;
    json_array_foreach(list, i, name)
    {
        char *copy = NULL;
        if (!json_is_string(name))
            field_is_wrong(fields, key, "a list of strings");
        else if ((copy = field_memory(fields, strdup(json_string_value(name)))))
            (*out)[(*out_count)++] = copy;
    }
}

void field_word(struct fields *fields, const char *key, const char *(*name)(int), int most,
                int *out)
{
    const char *text = text_of_field(fields, key);
    for (int i = 0; text && i <= most; i++)
        if (strcmp(text, name(i)) == 0) {
            *out = i;
            return;
        }
    if (text)
        field_is_wrong(fields, key, "a word that is known there");
}
