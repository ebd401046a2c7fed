/* Inputs as JSON, and back. */
#include "serve/jobs/job_inputs.h"

#include <stdlib.h>
#include <string.h>

/* ---- to JSON ---- */

/* A member that is there, or nothing. @return false: there is no memory for it, or it is no UTF-8
 */
static bool set_member(json_t *object, const char *key, json_t *value, bool wanted)
{
    return !wanted || (value && !json_object_set_new(object, key, value));
}

static bool set_word(json_t *object, const char *key, const char *word)
{
    return set_member(object, key, word ? json_string(word) : NULL, word != NULL);
}

static bool set_input_metadata(json_t *object, const struct request_input *input)
{
    const char *meta = input->metadata.meta;
    return set_word(object, "id", input->id) &&
           set_member(object, "meta", meta ? json_loads(meta, JSON_DECODE_ANY, NULL) : NULL, meta);
}

static bool set_input_content(json_t *object, const struct request_input *input)
{
    if (input->form == INPUT_FILE)
        return set_member(object, "upload", json_true(), true);
    if (input->form == INPUT_TEXT)
        return set_member(object, "text", json_stringn(input->text, input->text_size), true);
    return set_word(object, "code", input->code) &&
           set_word(object, "scheme", doppel_scheme_by_id(input->fingerprint.scheme)->name);
}

/* What was read from JSON is that; the rest are files, texts of a form, and codes of a list. */
char *job_input_to_json(const struct request_input *input)
{
    if (input->object)
        return json_dumps(input->object, JSON_COMPACT);
    json_t *object = json_object();
    bool whole = object && set_input_content(object, input) && set_input_metadata(object, input);
    char *text = whole ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    return text;
}

/* ---- from JSON ---- */

static enum doppel_status read_upload(struct inputs *inputs, const json_t *object,
                                      struct doppel_error *error)
{
    struct request_input *input = inputs_add(inputs, INPUT_FILE);
    if (!input || !input_read_metadata(object, input))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an input");
    if (!input->name) /* a client calls it so, who gave it no id */
        input->name =
            json_string_value(json_object_get(json_object_get(object, "meta"), "filename"));
    return DOPPEL_OK;
}

enum doppel_status job_input_from_json(const struct service *service, const char *text,
                                       struct inputs *out, struct doppel_error *error)
{
    json_error_t why;
    out->json = json_loads(text, JSON_ALLOW_NUL, &why);
    if (!out->json)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "an input of a job cannot be read: %s",
                           why.text);
    return json_object_get(out->json, "upload") ? read_upload(out, out->json, error)
                                                : inputs_add_object(service, out, out->json, error);
}
