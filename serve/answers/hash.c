/* POST /v1/hash and /v1/compare: inputs by themselves, without the library. */
#include "serve/answers/answers.h"
#include "serve/input_record.h"

#include "core/try.h"

/* ---- hash ---- */

static void put_input_hash(struct exchange *exchange, const struct inputs *inputs,
                           struct request_input *input, bool codes)
{
    struct doppel_record record = {0};
    struct doppel_error error;
    doppel_json_object_begin(&exchange->json, NULL);
    put_name(&exchange->json, "path", input);
    if (input_record(exchange->service, input, &record, &error))
        put_input_failure(exchange, inputs, &error);
    else
        doppel_record_to_json(&exchange->json, &record, &exchange->service->options->read.text,
                              codes);
    doppel_record_free(&record);
    if (exchange->status != HTTP_OK)
        return;
    doppel_json_object_end(&exchange->json);
    end_result(exchange);
}

enum handled answer_hash(struct exchange *exchange)
{
    struct inputs inputs = {0};
    bool codes = exchange_wants(exchange, "codes");
    if (!exchange->at_desk)
        return TAKES_TIME;
    if (inputs_read(exchange, &inputs)) {
        begin_results(exchange);
        for (size_t i = 0; i < inputs.all.count && exchange->status == HTTP_OK; i++)
            put_input_hash(exchange, &inputs, &inputs.all.items[i], codes);
        end_results(exchange);
    }
    inputs_free(&inputs);
    return ANSWERED;
}

/* ---- compare ---- */

static enum doppel_status compare_records(struct exchange *exchange, const struct inputs *inputs,
                                          struct doppel_record records[2],
                                          struct doppel_error *error)
{
    const struct doppel_compare_options *options =
        &exchange->service->options->decide.search.compare;
    struct doppel_comparison pair = {0};
    struct doppel_json *json = &exchange->json;
    enum doppel_status status;
    for (size_t i = 0; i < 2; i++)
        TRY(input_record(exchange->service, &inputs->all.items[i], &records[i], error));
    bool comparable = doppel_comparable(&records[0], &records[1]);
    if (comparable)
        TRY(doppel_compare(exchange->service->run, &records[0], &records[1], options, &pair,
                           error));
    exchange->status = HTTP_OK;
    doppel_json_object_begin(json, NULL);
    put_name(json, "a", &inputs->all.items[0]);
    put_name(json, "b", &inputs->all.items[1]);
    doppel_compare_result_to_json(json, &records[0], &records[1], options,
                                  comparable ? &pair : NULL);
    doppel_json_object_end(json);
done:
    doppel_comparison_free(&pair);
    return status;
}

enum handled answer_compare(struct exchange *exchange)
{
    struct inputs inputs = {0};
    struct doppel_record records[2] = {0};
    struct doppel_error error;
    if (!exchange->at_desk)
        return TAKES_TIME;
    bool read = inputs_read(exchange, &inputs);
    if (read && inputs.all.count != 2)
        exchange_problem(exchange, HTTP_BAD_REQUEST, "two inputs are compared, not %zu",
                         inputs.all.count);
    else if (read && compare_records(exchange, &inputs, records, &error))
        exchange_fail(exchange, &error);
    doppel_record_free(&records[0]);
    doppel_record_free(&records[1]);
    inputs_free(&inputs);
    return ANSWERED;
}
