/* What a record says of itself beside its text. */
#include "corpus/read/record_metadata.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/try.h"
#include "corpus/read/value.h"
#include "core/text/text_copy.h"

enum { MAX_NAMES = 1000 }; /* labels, or lists, of a record */

bool record_metadata_is_any(const struct metadata_tokens *tokens)
{
    return tokens->external_id.bytes || tokens->meta.bytes || tokens->labels.bytes ||
           tokens->lists[0].bytes || tokens->lists[1].bytes;
}

static void free_label_names(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

/* Reading corpora wants no library. */
void record_metadata_free(struct doppel_metadata *about)
{
    if (!about)
        return;
    free(about->external_id);
    free(about->meta);
    free_label_names(about->labels, about->label_count);
    free_label_names(about->lists, about->list_count);
    free(about);
}

static enum doppel_status no_memory_for_metadata(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a record");
}

static enum doppel_status is_no(const struct metadata_token *token, const char *wanted,
                                struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_FORMAT,
                       "\"%s\" is no %s; --ignore-metadata leaves it unread", token->name, wanted);
}

/* Bytes of the string, number or word that a value is. */
static size_t scalar_size(const struct metadata_token *token)
{
    const char *at = token->bytes, *end = at + token->size;
    if (*at == '"')
        return json_extent(at, token->size);
    while (at < end && !strchr(",}] \t\r\n", *at))
        at++;
    return (size_t)(at - token->bytes);
}

static enum doppel_status check_nul(const struct metadata_token *token, const char *bytes,
                                    size_t size, struct doppel_error *error)
{
    if (!memchr(bytes, '\0', size))
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_FORMAT, "\"%s\" holds a NUL character", token->name);
}

/* ---- strings ---- */

/* @param out given; NULL where the value is null or not there */
static enum doppel_status read_string(const struct metadata_token *token, bool or_number,
                                      char **out, struct doppel_error *error)
{
    const char *wanted = or_number ? "string or number" : "string or array of strings";
    struct value value = {0};
    enum doppel_status status = DOPPEL_OK;
    enum value_kind kind = VALUE_ABSENT;
    if (token->bytes)
        kind = value_decode(&value, token->bytes, scalar_size(token));
    if (kind == VALUE_NO_MEMORY)
        status = no_memory_for_metadata(error);
    else if (kind == VALUE_OTHER || kind == VALUE_BROKEN || (kind == VALUE_NUMBER && !or_number))
        status = is_no(token, wanted, error);
    else if (kind != VALUE_ABSENT)
        status = check_nul(token, value.bytes, value.size, error);
    if (!status && kind != VALUE_ABSENT && !(*out = strdup(value.bytes)))
        status = no_memory_for_metadata(error);
    value_free(&value);
    return status;
}

typedef ARRAY(char *) name_array;

struct metadata_reading {
    const struct metadata_token *token;
    name_array names;
    struct doppel_error *error;
    enum doppel_status status;
};

static bool take_string(void *context, const char *bytes, size_t size)
{
    struct metadata_reading *reading = context;
    reading->status = check_nul(reading->token, bytes, size, reading->error);
    if (!reading->status && reading->names.count == MAX_NAMES)
        reading->status = doppel_fail(reading->error, DOPPEL_E_FORMAT, "\"%s\" has more than %d",
                                      reading->token->name, MAX_NAMES);
    if (reading->status)
        return false;
    char *name = strndup(bytes, size);
    if (!name || !array_push(&reading->names, name)) {
        free(name);
        reading->status = no_memory_for_metadata(reading->error);
    }
    return !reading->status;
}

/* One string, or an array of them, behind those that are there. */
static enum doppel_status read_names_token(const struct metadata_token *token, struct json *json,
                                           name_array *names, struct doppel_error *error)
{
    struct metadata_reading reading = {.token = token, .names = *names, .error = error};
    char *one = NULL;
    if (!token->bytes)
        return DOPPEL_OK;
    if (*token->bytes != '[') {
        reading.status = read_string(token, false, &one, error);
        if (one)
            take_string(&reading, one, strlen(one));
        free(one);
    } else {
        enum json_problem problem = json_visit_strings(
            json, token->bytes, json_extent(token->bytes, token->size), take_string, &reading);
        if (problem == JSON_MEMORY)
            reading.status = no_memory_for_metadata(error);
        else if (problem != JSON_FINE)
            reading.status = is_no(token, "string or array of strings", error);
    }
    *names = reading.names;
    return reading.status;
}

/* ---- any JSON ---- */

/* Whether a string in it has a NUL, which many who read it do not take. */
static bool has_nul(const char *json, size_t size)
{
    for (size_t i = 0; i + 1 < size; i++) {
        if (json[i] != '\\')
            continue;
        if (size - i > 5 && memcmp(json + i, "\\u0000", 6) == 0)
            return true;
        i++;
    }
    return false;
}

static enum doppel_status read_meta(const struct metadata_token *token, struct json *json,
                                    char **out, struct doppel_error *error)
{
    size_t size = token->bytes ? scalar_size(token) : 0;
    if (!token->bytes || (size == 4 && memcmp(token->bytes, "null", 4) == 0))
        return DOPPEL_OK;
    size = *token->bytes == '{' ? json_extent(token->bytes, token->size) : 0;
    enum json_problem problem = size ? json_check_object(json, token->bytes, size) : JSON_NO_OBJECT;
    if (problem == JSON_MEMORY)
        return no_memory_for_metadata(error);
    if (problem == JSON_NO_OBJECT)
        return is_no(token, "object", error);
    if (problem != JSON_FINE)
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "broken JSON, or a number out of range, in \"%s\"", token->name);
    if (has_nul(token->bytes, size))
        return doppel_fail(error, DOPPEL_E_FORMAT, "\"%s\" holds a NUL character", token->name);
    *out = strndup(token->bytes, size);
    return *out ? DOPPEL_OK : no_memory_for_metadata(error);
}

/* ---- all ---- */

enum doppel_status record_metadata_read(const struct metadata_tokens *tokens, struct json *json,
                                        struct doppel_metadata **out, struct doppel_error *error)
{
    name_array labels = {0}, lists = {0};
    struct doppel_metadata *about = calloc(1, sizeof *about);
    if (!about)
        return no_memory_for_metadata(error);
    enum doppel_status status;
    TRY(read_string(&tokens->external_id, true, &about->external_id, error));
    TRY(read_meta(&tokens->meta, json, &about->meta, error));
    TRY(read_names_token(&tokens->labels, json, &labels, error));
    for (int i = 0; i < 2; i++)
        TRY(read_names_token(&tokens->lists[i], json, &lists, error));
done:
    about->labels = labels.items;
    about->label_count = labels.count;
    about->lists = lists.items;
    about->list_count = lists.count;
    if (status)
        record_metadata_free(about);
    else
        *out = about;
    return status;
}

/* ---- copies ---- */

static char **copy_names(char *const *names, size_t count, size_t *out_count, bool *failed)
{
    char **copies = count ? calloc(count, sizeof *copies) : NULL;
    *failed |= count && !copies;
    for (size_t i = 0; copies && i < count; i++)
        copies[i] = copy_text(names[i], failed);
    *out_count = copies ? count : 0;
    return copies;
}

struct doppel_metadata *record_metadata_copy(const struct doppel_metadata *metadata)
{
    struct doppel_metadata *copy = calloc(1, sizeof *copy);
    bool failed = false;
    if (!copy)
        return NULL;
    copy->external_id = copy_text(metadata->external_id, &failed);
    copy->meta = copy_text(metadata->meta, &failed);
    copy->labels = copy_names(metadata->labels, metadata->label_count, &copy->label_count, &failed);
    copy->lists = copy_names(metadata->lists, metadata->list_count, &copy->list_count, &failed);
    if (!failed)
        return copy;
    record_metadata_free(copy);
    return NULL;
}
