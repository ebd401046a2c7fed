/* The bodies of requests. */
#include "serve/inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare/record_fields.h"
#include "serve/input_record.h"
#include "serve/service.h"

enum { MOST_INPUTS = 100000, LARGEST_JSON = 64 << 20 };

struct request_input *inputs_add(struct inputs *inputs, enum input_form form)
{
    struct request_input input = {.form = form};
    return array_push(&inputs->all, input) ? &inputs->all.items[inputs->all.count - 1] : NULL;
}

static bool without_memory(struct exchange *exchange)
{
    exchange_problem(exchange, HTTP_UNAVAILABLE, "no memory for the request");
    return false;
}

/* ---- codes ---- */

static const struct doppel_scheme *scheme_named(const struct service *service, const char *name,
                                                struct doppel_error *error)
{
    const struct doppel_compare_options *compare = &service->options->decide.search.compare;
    const struct doppel_scheme *scheme =
        name ? doppel_scheme_by_name(name) : doppel_compare_scheme(compare, DOPPEL_KIND_IMAGE);
    if (!scheme)
        doppel_fail(error, DOPPEL_E_ARGUMENT, "there is no scheme '%s'", name ? name : "");
    return scheme;
}

static void set_code(struct request_input *input, const struct doppel_scheme *scheme)
{
    (void)doppel_fingerprint_from_hex(scheme, input->code, &input->fingerprint, &input->error);
}

/* ---- JSON ---- */

/* @return false: it is no string */
static bool json_word(const json_t *object, const char *key, const char **out)
{
    const json_t *value = json_object_get(object, key);
    *out = json_string_value(value);
    return !value || json_is_null(value) || *out;
}

static bool json_words(const json_t *object, const char *key, char ***out, size_t *out_count)
{
    json_t *list = json_object_get(object, key);
    size_t count = json_array_size(list);
    if (!list || json_is_null(list))
        return true;
    char **words = json_is_array(list) ? calloc(count ? count : 1, sizeof *words) : NULL;
    for (size_t i = 0; words && i < count; i++)
        if (!(words[i] = (char *)json_string_value(json_array_get(list, i)))) {
            free(words);
            words = NULL;
        }
    *out = words;
    *out_count = words ? count : 0;
    return words;
}

bool input_read_metadata(const json_t *object, struct request_input *input)
{
    struct doppel_metadata *metadata = &input->metadata;
    json_t *meta = json_object_get(object, "meta");
    const char *id;
    if (!json_word(object, "source", &input->source) || !json_word(object, "date", &input->date) ||
        !json_word(object, "id", &id) ||
        !json_words(object, "lists", &metadata->lists, &metadata->list_count) ||
        !json_words(object, "labels", &metadata->labels, &metadata->label_count))
        return false;
    input->id = input->name = id;
    metadata->external_id = (char *)id;
    if (meta)
        metadata->meta = json_dumps(meta, JSON_COMPACT | JSON_ENCODE_ANY);
    return !meta || metadata->meta;
}

const char *unknown_field(json_t *object, const char *const *known)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        size_t i = 0;
        while (known[i] && strcmp(known[i], key) != 0)
            i++;
        if (!known[i])
            return key;
    }
    return NULL;
}

/* ---- what was computed elsewhere ---- */

/* Of a text that is one of a corpus, the signature alone is known. */
static enum doppel_status read_signature(struct fields *fields, struct request_input *input)
{
    const char *name = json_string_value(json_object_get(fields->object, "scheme"));
    const char *lanes = json_string_value(json_object_get(fields->object, "lanes"));
    const struct doppel_scheme *scheme = name ? doppel_scheme_by_name(name) : NULL;
    int64_t version = 0;
    input->form = INPUT_SIGNATURE;
    input->lanes = calloc(DOPPEL_TEXT_MAX_LANES, sizeof *input->lanes);
    input->signature = calloc(1, sizeof *input->signature);
    if (!input->lanes || !input->signature)
        return doppel_fail(fields->error, DOPPEL_E_MEMORY, "no memory for a text");
    if (!scheme || scheme->kind != DOPPEL_KIND_TEXT)
        field_is_wrong(fields, "scheme", "one of texts");
    field_number(fields, "version", 0, UINT16_MAX, &version);
    read_signature_fields(fields, input->signature, input->lanes);
    input->signature_version = (uint16_t)version;
    return fields->status ? fields->status
                          : doppel_fingerprint_from_hex(scheme, lanes ? lanes : "",
                                                        &input->fingerprint, fields->error);
}

static enum doppel_status read_whole_record(const json_t *object, struct request_input *input,
                                            struct doppel_error *error)
{
    struct fields fields = {.object = object, .error = error};
    if (!json_is_object(object))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "'record' is an object, as exports have it");
    if (json_object_get(object, "lanes"))
        return read_signature(&fields, input);
    input->record = calloc(1, sizeof *input->record);
    if (!input->record)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a record");
    read_record_fields(&fields, input->record);
    return fields.status;
}

/* Digests of a file that stays where it is, by which lists of hashes know it. */
static enum doppel_status read_exact_digests(json_t *object, struct request_input *input,
                                             struct doppel_error *error)
{
    const char *names[DOPPEL_EXACT_KINDS + 1] = {NULL};
    struct doppel_exact_digests *exact = calloc(1, sizeof *exact);
    input->exact = exact;
    if (!exact)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the request");
    for (unsigned i = 0; i < DOPPEL_EXACT_KINDS; i++)
        names[i] = doppel_exact_name((enum doppel_exact)(DOPPEL_EXACT_MD5 + i));
    bool known = json_object_size(object) && !unknown_field(object, names);
    for (unsigned i = 0; known && names[i]; i++) {
        const enum doppel_exact algorithm = (enum doppel_exact)(DOPPEL_EXACT_MD5 + i);
        const json_t *digest = json_object_get(object, names[i]);
        if (!digest)
            continue;
        known = json_is_string(digest) &&
                !doppel_hex_decode(json_string_value(digest), exact->bytes[algorithm],
                                   doppel_exact_bytes(algorithm));
        exact->kinds |= 1u << algorithm;
    }
    return known ? DOPPEL_OK
                 : doppel_fail(error, DOPPEL_E_ARGUMENT,
                               "'exact' has digests in hex: 'md5', 'sha1', 'sha256'");
}

enum doppel_status inputs_add_object(const struct service *service, struct inputs *inputs,
                                     json_t *object, struct doppel_error *error)
{
    static const char *const fields[] = {"text",   "code", "scheme", "path",   "record",
                                         "exact",  "id",   "date",   "source", "lists",
                                         "labels", "meta", NULL};
    const char *text, *code, *scheme, *path;
    const json_t *record = json_object_get(object, "record");
    json_t *exact = json_object_get(object, "exact");
    if (!json_is_object(object))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "an input is an object, as {\"text\":\"…\"}");
    const char *unknown = unknown_field(object, fields);
    if (unknown)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "an input has no field '%.64s'", unknown);
    if (!json_word(object, "text", &text) || !json_word(object, "code", &code) ||
        !json_word(object, "scheme", &scheme) || !json_word(object, "path", &path) ||
        !text + !code + !path + !(record || exact) != 3)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "an input has one of 'text', 'code' and 'path', a string, or a "
                           "'record', 'exact' digests, or both");
    struct request_input *input = inputs_add(inputs, text     ? INPUT_TEXT
                                                     : code   ? INPUT_CODE
                                                     : record ? INPUT_RECORD
                                                     : exact  ? INPUT_DIGESTS
                                                              : INPUT_PATH);
    if (!input)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the request");
    if (!input_read_metadata(object, input))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'id', 'source' and 'date' are strings, 'lists' and 'labels' lists of "
                           "strings");
    input->object = object;
    input->text = text;
    input->text_size = text ? json_string_length(json_object_get(object, "text")) : 0;
    input->code = code;
    if (path)
        input_name_path(service, input, path);
    const struct doppel_scheme *known = code ? scheme_named(service, scheme, &input->error) : NULL;
    if (known)
        set_code(input, known);
    if (record)
        input->error.status = read_whole_record(record, input, &input->error);
    if (exact && !input->error.status)
        input->error.status = read_exact_digests(exact, input, &input->error);
    return DOPPEL_OK;
}

static bool read_one_input(struct exchange *exchange, struct inputs *inputs, json_t *object)
{
    struct doppel_error error;
    if (!inputs_add_object(exchange->service, inputs, object, &error))
        return true;
    exchange_fail(exchange, &error);
    return false;
}

static bool read_code_list(struct exchange *exchange, struct inputs *inputs, json_t *root)
{
    static const char *const fields[] = {"codes", "scheme", NULL};
    const char *name;
    struct doppel_error error;
    json_t *codes = json_object_get(root, "codes");
    const char *unknown = unknown_field(root, fields);
    if (unknown || !json_is_array(codes) || !json_word(root, "scheme", &name)) {
        exchange_problem(exchange, HTTP_BAD_REQUEST,
                         "'codes' is a list of strings, and beside it stands 'scheme' alone");
        return false;
    }
    const struct doppel_scheme *scheme = scheme_named(exchange->service, name, &error);
    if (!scheme) {
        exchange_fail(exchange, &error);
        return false;
    }
    for (size_t i = 0; i < json_array_size(codes); i++) {
        const char *code = json_string_value(json_array_get(codes, i));
        struct request_input *input = code ? inputs_add(inputs, INPUT_CODE) : NULL;
        if (!code) {
            exchange_problem(exchange, HTTP_BAD_REQUEST, "code %zu of the list is no string", i);
            return false;
        }
        if (!input)
            return without_memory(exchange);
        input->code = code;
        set_code(input, scheme);
    }
    return true;
}

static bool read_input_list(struct exchange *exchange, struct inputs *inputs, json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!read_one_input(exchange, inputs, json_array_get(list, i)))
            return false;
    return true;
}

static bool read_json(struct exchange *exchange, struct inputs *inputs)
{
    json_error_t why;
    const char *text = large_buffer_text(&exchange->body);
    if (exchange->body.size > LARGEST_JSON) {
        exchange_problem(exchange, HTTP_TOO_LARGE,
                         "JSON has at most %d MB; more goes as application/x-ndjson",
                         LARGEST_JSON >> 20);
        return false;
    }
    if (text) {
        inputs->json = json_loadb(text, exchange->body.size, JSON_REJECT_DUPLICATES, &why);
    } else {
        int fd = large_buffer_open(&exchange->body);
        if (fd < 0)
            return without_memory(exchange);
        inputs->json = json_loadfd(fd, JSON_REJECT_DUPLICATES, &why);
        close(fd);
    }
    json_t *root = inputs->json, *list = json_object_get(root, "inputs");
    if (!root) {
        exchange_problem(exchange, HTTP_BAD_REQUEST, "the body is no JSON: %s (line %d, column %d)",
                         why.text, why.line, why.column);
        return false;
    }
    inputs->many = true;
    if (json_object_get(root, "codes"))
        return read_code_list(exchange, inputs, root);
    if (json_is_array(root))
        return read_input_list(exchange, inputs, root);
    if (json_is_array(list) && json_object_size(root) == 1)
        return read_input_list(exchange, inputs, list);
    inputs->many = false;
    return read_one_input(exchange, inputs, root);
}

/* ---- lines ---- */

/* What is no input has its answer, too. */
static bool read_input_line(struct exchange *exchange, struct inputs *inputs, const char *line,
                            size_t size)
{
    json_error_t why;
    struct doppel_error error = {0};
    size_t before = inputs->all.count;
    json_t *object = json_loadb(line, size, JSON_REJECT_DUPLICATES, &why);
    enum doppel_status status =
        object ? inputs_add_object(exchange->service, inputs, object, &error)
               : doppel_fail(&error, DOPPEL_E_ARGUMENT, "the line is no JSON: %s", why.text);
    if (object && json_array_append_new(inputs->json, object))
        return without_memory(exchange);
    if (!status)
        return true;
    if (inputs->all.count == before && !inputs_add(inputs, INPUT_TEXT))
        return without_memory(exchange);
    struct request_input *input = &inputs->all.items[inputs->all.count - 1];
    input->error = error;
    input->error.status = status;
    return status != DOPPEL_E_MEMORY || without_memory(exchange);
}

/* From a file, where the body is too long for memory. */
static bool read_json_lines(struct exchange *exchange, struct inputs *inputs)
{
    int fd = large_buffer_open(&exchange->body);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    char *line = NULL;
    size_t capacity = 0;
    bool read = file != NULL;
    inputs->many = true;
    inputs->json = json_array();
    if (!file && fd >= 0)
        close(fd);
    if (!inputs->json || !file) {
        if (file)
            (void)fclose(file);
        return without_memory(exchange);
    }
    for (ssize_t size; read && (size = getline(&line, &capacity, file)) >= 0;)
        if (line[strspn(line, " \t\r\n")] && inputs->all.count <= MOST_INPUTS)
            read = read_input_line(exchange, inputs, line, (size_t)size);
    read = read && (feof(file) || without_memory(exchange));
    free(line);
    (void)fclose(file);
    return read;
}

/* ---- forms and files ---- */

/* The name of a file is no id: others are called so, too. */
static bool name_file(struct request_input *input)
{
    struct doppel_json meta = {0};
    doppel_json_object_begin(&meta, NULL);
    doppel_json_text(&meta, "filename", input->name);
    doppel_json_object_end(&meta);
    input->metadata.meta = meta.bytes;
    return !meta.failed;
}

static bool read_form(struct exchange *exchange, struct inputs *inputs)
{
    if (exchange_argument(exchange, "id")) {
        exchange_problem(exchange, HTTP_BAD_REQUEST,
                         "'id' is of a file that is the body itself: send it with 'curl "
                         "--data-binary @a.jpg' and a Content-Type of its own");
        return false;
    }
    for (size_t i = 0; i < exchange->parts.count; i++) {
        struct form_part *part = &exchange->parts.items[i];
        bool text = !part->filename && strcmp(part->field, "text") == 0;
        if (!part->filename && !text) {
            exchange_problem(exchange, HTTP_BAD_REQUEST,
                             "a form has files and fields 'text', no '%.64s'", part->field);
            return false;
        }
        struct request_input *input = inputs_add(inputs, text ? INPUT_TEXT : INPUT_FILE);
        if (!input)
            return without_memory(exchange);
        input->name = part->filename;
        if (part->filename && !name_file(input))
            return without_memory(exchange);
        input->file = &part->content;
        input->text = text ? large_buffer_text(&part->content) : NULL;
        input->text_size = (size_t)part->content.size;
        if (text && !input->text)
            return without_memory(exchange);
    }
    inputs->many = inputs->all.count > 1;
    return true;
}

static bool read_file(struct exchange *exchange, struct inputs *inputs)
{
    if (!exchange->body.size)
        return true;
    struct request_input *input = inputs_add(inputs, INPUT_FILE);
    if (!input)
        return without_memory(exchange);
    const char *name = exchange_argument(exchange, "name");
    input->file = &exchange->body;
    input->name = name;
    input->id = exchange_argument(exchange, "id");
    input->metadata.external_id = (char *)input->id;
    if (name && !name_file(input))
        return without_memory(exchange);
    return true;
}

/* What curl -d and --data-binary send when they are not told otherwise. */
static bool refuse_fields(struct exchange *exchange, struct inputs *inputs)
{
    const char *text = large_buffer_text(&exchange->body);
    (void)inputs;
    if (text && (*text == '{' || *text == '['))
        exchange_problem(exchange, HTTP_UNKNOWN_TYPE,
                         "send JSON with 'Content-Type: application/json' (curl --json)");
    else
        exchange_problem(
            exchange, HTTP_UNKNOWN_TYPE,
            "send a file as a form ('curl -F file=@a.jpg') or with a Content-Type of its "
            "own ('application/octet-stream')");
    return false;
}

/* ---- all of them ---- */

bool inputs_read(struct exchange *exchange, struct inputs *out)
{
    static bool (*const readers[])(struct exchange *, struct inputs *) = {
        [BODY_FILE] = read_file, [BODY_JSON] = read_json,       [BODY_LINES] = read_json_lines,
        [BODY_FORM] = read_form, [BODY_FIELDS] = refuse_fields,
    };
    bool read = readers[exchange->form](exchange, out);
    if (read && !out->all.count)
        exchange_problem(exchange, HTTP_BAD_REQUEST,
                         "the request has no input: send a file, or JSON as {\"text\":\"…\"}");
    if (read && out->all.count > MOST_INPUTS)
        exchange_problem(exchange, HTTP_TOO_LARGE,
                         "a request has at most %d inputs: send more of them", (int)MOST_INPUTS);
    return !exchange->status;
}

json_t *exchange_json(struct exchange *exchange)
{
    const char *text = exchange->form == BODY_JSON ? large_buffer_text(&exchange->body) : NULL;
    return text ? json_loadb(text, exchange->body.size, JSON_REJECT_DUPLICATES, NULL) : NULL;
}

void input_free(struct request_input *input)
{
    doppel_fingerprint_free(&input->fingerprint);
    if (input->record)
        doppel_record_free(input->record);
    free(input->record);
    free(input->signature);
    free(input->lanes);
    free(input->metadata.lists);
    free(input->metadata.labels);
    free(input->metadata.meta);
    free(input->path);
    free(input->exact);
}

void inputs_free(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->all.count; i++)
        input_free(&inputs->all.items[i]);
    array_free(&inputs->all);
    json_decref(inputs->json);
    inputs->json = NULL;
}
