/* A call of doppel_endpoint_embed as JSON: options and texts on standard input, what came of it on
 * standard output. For endpoint.py. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <doppel/embed.h>

static json_t *asked, *refused;
static int stops; /* how often `stopped` was asked */

static bool stop_after(void *context)
{
    (void)context;
    return ++stops > json_integer_value(json_object_get(asked, "stop_after"));
}

static void keep_refusal(void *context, size_t text, const struct doppel_error *reason)
{
    (void)context;
    json_array_append_new(refused, json_pack("[i,s]", (int)text, reason->message));
}

static const char *word(const char *key)
{
    return json_string_value(json_object_get(asked, key));
}

static void take_number(const char *key, uint32_t *out)
{
    json_t *number = json_object_get(asked, key);
    if (number)
        *out = (uint32_t)json_integer_value(number);
}

static void print_info(const struct doppel_endpoint *endpoint, json_t *out)
{
    const struct doppel_endpoint_info *info = doppel_endpoint_info(endpoint);
    json_t *probe = json_array();
    for (uint32_t i = 0; i < info->dimension; i++)
        json_array_append_new(probe, json_real((double)info->probe[i]));
    json_object_set_new(out, "model", json_string(info->model));
    json_object_set_new(out, "revision", json_string(info->revision));
    json_object_set_new(out, "dimension", json_integer(info->dimension));
    json_object_set_new(out, "probe", probe);
    json_object_set_new(out, "tokens", json_integer((json_int_t)info->tokens));
    json_object_set_new(out, "requests", json_integer((json_int_t)info->requests));
}

static enum doppel_status embed_texts(struct doppel_endpoint *endpoint, json_t *out,
                                      struct doppel_error *error)
{
    const json_t *given = json_object_get(asked, "texts");
    uint32_t dimension = doppel_endpoint_info(endpoint)->dimension;
    size_t count = json_array_size(given);
    const char **texts = calloc(count + 1, sizeof *texts);
    size_t *sizes = calloc(count + 1, sizeof *sizes);
    float *rows = malloc((count * dimension + 1) * sizeof *rows);
    enum doppel_status *each = calloc(count + 1, sizeof *each), status;
    json_t *words = json_array(), *all = json_array();
    for (size_t i = 0; i < count; i++) {
        texts[i] = json_string_value(json_array_get(given, i));
        sizes[i] = json_string_length(json_array_get(given, i));
    }
    status = doppel_endpoint_embed(endpoint, &(struct doppel_model_texts){texts, sizes, count},
                                   rows, each, error);
    for (size_t i = 0; i < count; i++) {
        json_t *row = json_array();
        for (uint32_t j = 0; j < dimension; j++)
            json_array_append_new(row, json_real((double)rows[i * dimension + j]));
        json_array_append_new(all, row);
        json_array_append_new(words, json_string(doppel_status_name(each[i])));
    }
    json_object_set_new(out, "rows", all);
    json_object_set_new(out, "each", words);
    free(texts);
    free(sizes);
    free(rows);
    free(each);
    return status;
}

static const struct doppel_endpoint_known *take_known(struct doppel_endpoint_known *out)
{
    static float probe[DOPPEL_MODEL_MAX_DIMENSION];
    const json_t *known = json_object_get(asked, "known");
    const json_t *numbers = json_object_get(known, "probe");
    if (!known)
        return NULL;
    for (size_t i = 0; i < json_array_size(numbers); i++)
        probe[i] = (float)json_number_value(json_array_get(numbers, i));
    *out = (struct doppel_endpoint_known){json_string_value(json_object_get(known, "revision")),
                                          probe, (uint32_t)json_array_size(numbers)};
    return out;
}

int main(void)
{
    struct doppel_endpoint_options options = doppel_endpoint_options_default();
    struct doppel_endpoint *endpoint = NULL;
    struct doppel_error error = {0};
    struct doppel_endpoint_known known;
    json_t *out = json_object();
    const char *allowed;
    uint32_t most_texts = (uint32_t)options.most_texts, most_bytes = (uint32_t)options.most_bytes;
    asked = json_loadf(stdin, JSON_ALLOW_NUL, NULL);
    refused = json_array();
    allowed = word("allowed");
    options.url = word("url");
    options.model = word("model");
    options.prefix = word("prefix");
    options.key = word("key");
    options.allowed = &allowed;
    options.allowed_count = allowed != NULL;
    take_number("most_texts", &most_texts);
    take_number("most_bytes", &most_bytes);
    options.most_texts = most_texts;
    options.most_bytes = most_bytes;
    take_number("min_letters", &options.min_letters);
    take_number("timeout_ms", &options.timeout_ms);
    take_number("tries", &options.tries);
    take_number("wait_ms", &options.wait_ms);
    take_number("most_wait_ms", &options.most_wait_ms);
    options.known = take_known(&known);
    options.stopped = json_object_get(asked, "stop_after") ? stop_after : NULL;
    options.on_refused = keep_refusal;
    enum doppel_status status = doppel_endpoint_open(&options, &endpoint, &error);
    json_object_set_new(out, "opened", json_boolean(!status));
    if (!status)
        status = embed_texts(endpoint, out, &error);
    if (endpoint)
        print_info(endpoint, out);
    json_object_set_new(out, "status", json_string(doppel_status_name(status)));
    json_object_set_new(out, "message", json_string(status ? error.message : ""));
    json_object_set_new(out, "refused", refused);
    json_dumpf(out, stdout, JSON_COMPACT);
    doppel_endpoint_free(endpoint);
    json_decref(out);
    json_decref(asked);
    return 0;
}
