/* Signals: codes by PDQ, and MD5 digests of videos. */
#include "serve/hma/hma.h"
#include "serve/input_record.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "intake/exact_digests.h"

enum { PDQ_BITS = 256 };

const struct doppel_scheme *hma_pdq(void)
{
    return doppel_scheme_by_id(DOPPEL_SCHEME_PDQ);
}

const char *hma_type_name(const struct hma_signal *signal)
{
    return signal->is_md5 ? "video_md5" : "pdq";
}

/* Room for a signal in hex. */
enum { HMA_HEX_BYTES = 65 };

static void hma_signal_to_hex(const struct hma_signal *signal, char out[static HMA_HEX_BYTES])
{
    if (signal->is_md5)
        doppel_hex_encode(signal->md5, sizeof signal->md5, out);
    else
        doppel_code_to_hex(&signal->code, PDQ_BITS, out);
}

void hma_put_signal(struct doppel_json *json, const struct hma_signal *signal)
{
    char hex[HMA_HEX_BYTES];
    hma_signal_to_hex(signal, hex);
    doppel_json_text(json, hma_type_name(signal), hex);
}

/* ---- reading ---- */

bool hma_read_signal(struct exchange *exchange, const char *type, const char *text,
                     struct hma_signal *out)
{
    *out = (struct hma_signal){.is_md5 = type && strcmp(type, "video_md5") == 0};
    if (!type || (!out->is_md5 && strcmp(type, "pdq") != 0))
        exchange_problem(exchange, HTTP_BAD_REQUEST,
                         "there is no signal type '%.64s': there are pdq and video_md5",
                         type ? type : "");
    else if (!text || (out->is_md5 ? doppel_hex_decode(text, out->md5, sizeof out->md5)
                                   : doppel_code_from_hex(text, PDQ_BITS, &out->code)))
        exchange_problem(exchange, HTTP_BAD_REQUEST, "a signal of %s has %d digits in hex", type,
                         out->is_md5 ? 2 * HMA_MD5_BYTES : PDQ_BITS / 4);
    else
        return true;
    return false;
}

static enum doppel_status md5_of(const struct large_buffer *file, uint8_t out[HMA_MD5_BYTES],
                                 struct doppel_error *error)
{
    struct doppel_digest digest;
    struct doppel_exact_digests exact = {.kinds = 1U << DOPPEL_EXACT_MD5};
    int fd = large_buffer_open(file);
    if (fd < 0)
        return doppel_fail(error, DOPPEL_E_IO, "a temporary file: %s", strerror(errno));
    enum doppel_status status = exact_digest_fd(fd, &digest, &exact, error);
    close(fd);
    if (!status)
        memcpy(out, exact.bytes[DOPPEL_EXACT_MD5], HMA_MD5_BYTES);
    return status;
}

static enum doppel_status pdq_of(struct service *service, const struct large_buffer *file,
                                 struct doppel_code *out, struct doppel_error *error)
{
    struct doppel_read_options read = service->options->read;
    struct doppel_record record = {0};
    read.kind = DOPPEL_KIND_IMAGE;
    read.schemes[DOPPEL_KIND_IMAGE] = *hma_pdq();
    enum doppel_status status = upload_record(service, file, &read, &record, error);
    if (!status && (record.scheme != DOPPEL_SCHEME_PDQ || !record.fingerprint.count))
        status = doppel_fail(error, DOPPEL_E_FORMAT, "it is no photo");
    if (!status)
        *out = record.fingerprint.codes[0];
    doppel_record_free(&record);
    return status;
}

static const struct form_part *the_file(struct exchange *exchange)
{
    const struct form_part *file = NULL;
    size_t files = 0;
    for (size_t i = 0; i < exchange->parts.count; i++)
        if (exchange->parts.items[i].filename) {
            file = &exchange->parts.items[i];
            files++;
        }
    if (files == 1)
        return file;
    exchange_problem(exchange, HTTP_BAD_REQUEST,
                     "a request has one file, in a form (multipart/form-data), not %zu", files);
    return NULL;
}

bool hma_read_upload(struct exchange *exchange, struct hma_signal *out)
{
    struct doppel_error error;
    const struct form_part *file = the_file(exchange);
    if (!file)
        return false;
    *out = (struct hma_signal){.is_md5 = strcmp(file->field, "video") == 0};
    if (!out->is_md5 && strcmp(file->field, "photo") != 0)
        exchange_problem(exchange, HTTP_BAD_REQUEST,
                         "the field of a file is its content type, 'photo' or 'video', not '%.64s'",
                         file->field);
    else if (!hma_names(exchange_argument(exchange, "types"), hma_type_name(out)))
        exchange_problem(exchange, HTTP_BAD_REQUEST, "the one signal type of a %s is %s",
                         file->field, hma_type_name(out));
    else if (out->is_md5 ? md5_of(&file->content, out->md5, &error)
                         : pdq_of(exchange->service, &file->content, &out->code, &error))
        exchange_fail(exchange, &error);
    else
        return true;
    return false;
}

json_t *hma_read_object(struct exchange *exchange)
{
    const char *text = large_buffer_text(&exchange->body);
    json_t *root =
        text ? json_loadb(text, exchange->body.size, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (json_is_object(root))
        return root;
    json_decref(root);
    exchange_problem(exchange, HTTP_BAD_REQUEST, "the body is to be an object in JSON");
    return NULL;
}

bool hma_is_asked(const struct exchange *exchange, const char *name)
{
    const char *word = exchange_argument(exchange, name);
    return word && (strcasecmp(word, "true") == 0 || strcmp(word, "1") == 0);
}

bool hma_names(const char *names, const char *name)
{
    size_t size = strlen(name);
    if (!names || !*names)
        return true;
    for (const char *at = names; *at;) {
        size_t length = strcspn(at, ",");
        if (length == size && strncmp(at, name, size) == 0)
            return true;
        at += length + (at[length] == ',');
    }
    return false;
}

/* ---- routes ---- */

static enum handled put_fixed(struct exchange *exchange, const char *type, const char *text)
{
    exchange->status = HTTP_OK;
    exchange->type = type;
    exchange->fixed = text;
    exchange->fixed_size = strlen(text);
    return ANSWERED;
}

enum handled hma_status(struct exchange *exchange)
{
    return put_fixed(exchange, "text/html; charset=utf-8", "I-AM-ALIVE");
}

enum handled hma_signal_types(struct exchange *exchange)
{
    return put_fixed(exchange, NULL,
                     "[{\"enabled_ratio\":1.0,\"name\":\"pdq\"},"
                     "{\"enabled_ratio\":1.0,\"name\":\"video_md5\"}]");
}

enum handled hma_content_types(struct exchange *exchange)
{
    return put_fixed(exchange, NULL,
                     "[{\"enabled\":true,\"name\":\"photo\"},{\"enabled\":true,\"name\":"
                     "\"video\"}]");
}

enum handled hma_fetch(struct exchange *exchange)
{
    exchange_problem(exchange, HTTP_FORBIDDEN,
                     "this service fetches no URL: send the file itself, by POST");
    return ANSWERED;
}

enum handled hma_hash(struct exchange *exchange)
{
    struct hma_signal signal;
    if (!exchange->at_desk)
        return TAKES_TIME;
    if (!hma_read_upload(exchange, &signal))
        return ANSWERED;
    exchange->status = HTTP_OK;
    doppel_json_object_begin(&exchange->json, NULL);
    hma_put_signal(&exchange->json, &signal);
    doppel_json_object_end(&exchange->json);
    return ANSWERED;
}

static void put_comparison(struct doppel_json *json, const struct hma_signal *a,
                           const struct hma_signal *b)
{
    uint32_t distance = doppel_code_distance(&a->code, &b->code, PDQ_BITS);
    doppel_json_array_begin(json, hma_type_name(a));
    doppel_json_boolean(json, NULL,
                        a->is_md5 ? memcmp(a->md5, b->md5, sizeof a->md5) == 0
                                  : distance <= hma_pdq()->max_distance);
    doppel_json_object_begin(json, NULL);
    if (!a->is_md5)
        doppel_json_integer(json, "distance", distance);
    doppel_json_object_end(json);
    doppel_json_array_end(json);
}

enum handled hma_compare(struct exchange *exchange)
{
    const char *type;
    json_t *pair, *root = hma_read_object(exchange);
    if (!root)
        return ANSWERED;
    doppel_json_object_begin(&exchange->json, NULL);
    json_object_foreach(root, type, pair)
    {
        struct hma_signal a, b;
        if (json_array_size(pair) != 2) {
            exchange_problem(exchange, HTTP_BAD_REQUEST, "of each type two signals are compared");
            break;
        }
        if (!hma_read_signal(exchange, type, json_string_value(json_array_get(pair, 0)), &a) ||
            !hma_read_signal(exchange, type, json_string_value(json_array_get(pair, 1)), &b))
            break;
        put_comparison(&exchange->json, &a, &b);
    }
    if (!exchange->status) {
        doppel_json_object_end(&exchange->json);
        exchange->status = HTTP_OK;
    }
    json_decref(root);
    return ANSWERED;
}
