/* What handlers share. */
#include "serve/answers/answers.h"

#include <stdlib.h>

enum handled answer_by_reader(struct exchange *exchange, put_from_reader *put)
{
    return exchange->at_desk ? answer_by_reader_at_once(exchange, put) : TAKES_TIME;
}

enum handled answer_by_reader_at_once(struct exchange *exchange, put_from_reader *put)
{
    struct doppel_error error;
    struct library_reader *reader;
    enum doppel_status status = reader_take(exchange->service, &reader, &error);
    if (!status) {
        status = put(exchange, reader, &error);
        reader_give(reader);
    }
    if (status)
        exchange_fail(exchange, &error);
    return ANSWERED;
}

bool read_number(struct exchange *exchange, const char *name, double most, double *out)
{
    const char *word = exchange_argument(exchange, name);
    char *end;
    if (!word)
        return true;
    double value = strtod(word, &end);
    if (end == word || *end || !(value >= 0 && value <= most)) {
        exchange_problem(exchange, HTTP_BAD_REQUEST, "'%s' is a number from 0 to %.15g", name,
                         most);
        return false;
    }
    *out = value;
    return true;
}

void begin_results(struct exchange *exchange)
{
    exchange->status = HTTP_OK;
    if (exchange->form == BODY_LINES) {
        exchange->type = "application/x-ndjson";
        return;
    }
    doppel_json_object_begin(&exchange->json, NULL);
    doppel_json_array_begin(&exchange->json, "results");
}

/* What was written goes behind the lines that are there. */
static void flush_result_lines(struct exchange *exchange)
{
    struct doppel_error error;
    struct doppel_json *json = &exchange->json;
    const uint64_t most = service_most_kept(exchange->service);
    if (json->failed)
        return;
    if (exchange->lines.size + json->size > most) {
        exchange_problem(exchange, HTTP_TOO_LARGE,
                         "the answers to the lines of a request have at most %llu bytes (16 times "
                         "--max-body): send fewer at a time",
                         (unsigned long long)most);
        return;
    }
    if (json->size && large_buffer_append(&exchange->lines, json->bytes, json->size,
                                          service_temporary(exchange->service), &error))
        exchange_fail(exchange, &error);
    else
        doppel_json_clear(json);
}

void end_result(struct exchange *exchange)
{
    enum { PIECE = 1 << 16 };
    if (exchange->form != BODY_LINES)
        return;
    doppel_json_end_line(&exchange->json);
    if (exchange->json.size >= PIECE)
        flush_result_lines(exchange);
}

void end_results(struct exchange *exchange)
{
    if (exchange->status != HTTP_OK)
        return;
    if (exchange->form == BODY_LINES) {
        flush_result_lines(exchange);
        return;
    }
    doppel_json_array_end(&exchange->json);
    doppel_json_object_end(&exchange->json);
}

void put_name(struct doppel_json *json, const char *key, const struct request_input *input)
{
    if (input->path)
        doppel_json_path(json, key, input->path);
    else
        doppel_json_text(json, key, input->name ? input->name : input->code);
}

void put_input_failure(struct exchange *exchange, const struct inputs *inputs,
                       const struct doppel_error *error)
{
    if (!inputs->many) {
        exchange_fail(exchange, error);
        return;
    }
    char detail[SENTENCE_BYTES];
    exchange_sentence(exchange, error->message, detail);
    doppel_json_object_begin(&exchange->json, "error");
    doppel_json_text(&exchange->json, "reason", doppel_status_name(error->status));
    doppel_json_text(&exchange->json, "detail", detail);
    doppel_json_object_end(&exchange->json);
}
