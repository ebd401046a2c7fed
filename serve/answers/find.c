/* POST /v1/find: what in the library is like the inputs. */
#include "serve/answers/previews.h"
#include "serve/input_record.h"

#include <string.h>

#include "core/try.h"

/* So many codes are looked up by the thread of the connection; more take time. */
enum { FEW_CODES = 64, SMALL_BODY = 64 << 10, MOST_MATCHES = 1000 };

struct library_query {
    struct exchange *exchange;
    struct inputs *inputs;
    struct library_reader *reader;
    struct doppel_search *search;              /* one of the reader's */
    double most;                               /* matches of an input */
    bool semantic;                             /* texts are also searched for by their meaning */
    struct doppel_semantic_results by_meaning; /* of the input in hand */
    struct preview_group *seen; /* the input in hand and its matches; NULL: no previews wanted */
};

static bool takes_time(const struct exchange *exchange, const struct inputs *inputs)
{
    if (inputs->all.count > FEW_CODES || exchange_wants(exchange, "semantic"))
        return true;
    for (size_t i = 0; i < inputs->all.count; i++)
        if (inputs->all.items[i].form != INPUT_CODE)
            return true;
    return false;
}

/* ---- thresholds of the request ---- */

/* @return false: the reply says what is wrong */
static bool read_thresholds(struct exchange *exchange, struct doppel_search_options *options,
                            bool *out_given)
{
    double distance = -1, similarity = -1, rate = -1;
    if (!read_number(exchange, "max_distance", 256, &distance) ||
        !read_number(exchange, "min_similarity", 1, &similarity) ||
        !read_limit_over_zero(exchange, "max_fp_rate", &rate))
        return false;
    *out_given = distance >= 0 || similarity >= 0 || rate > 0;
    if (distance >= 0 && similarity >= 0) {
        exchange_problem(exchange, HTTP_BAD_REQUEST,
                         "give 'max_distance' or 'min_similarity', not both");
        return false;
    }
    if (distance >= 0)
        options->compare.max_distance = (int32_t)distance;
    if (similarity >= 0)
        options->compare.min_similarity = similarity;
    if (rate > 0)
        options->compare.max_false_positives = rate;
    return true;
}

static enum doppel_status choose_search(struct library_query *query, struct doppel_error *error)
{
    struct exchange *exchange = query->exchange;
    struct library_reader *reader = query->reader;
    struct doppel_search_options options = exchange->service->options->decide.search;
    bool given = false;
    query->search = reader->search;
    if (!read_thresholds(exchange, &options, &given) || !given)
        return DOPPEL_OK;
    return reader_search(reader, &options, &query->search, error);
}

/* @return false: the reply says what is wrong */
static bool want_meaning(struct library_query *query)
{
    struct exchange *exchange = query->exchange;
    struct library_reader *reader = query->reader;
    struct wanted_meaning wanted;
    struct doppel_error error;
    if (!exchange_wants(exchange, "semantic") && !exchange_argument(exchange, "min_cosine"))
        return true; /* a rate is that of other kinds */
    if (!read_wanted_meaning(exchange, &wanted))
        return false;
    query->semantic =
        !meaning_want(exchange->service, reader->library, &wanted, false, &reader->meaning, &error);
    if (!query->semantic)
        exchange_fail_meaning(exchange, &error);
    return query->semantic;
}

/* ---- one input ---- */

/* What is listed by a digest of others is found also where it cannot be read.
 * @param out of what is no code; given (doppel_record_free), also when it fails */
static enum doppel_status search_input(struct library_query *query, struct request_input *input,
                                       struct doppel_record *out, struct doppel_error *error)
{
    struct service *service = query->exchange->service;
    struct doppel_search_results *results = &query->reader->results;
    struct doppel_error failure;
    bool listed = false;
    if (input->form == INPUT_CODE && !input->error.status)
        return doppel_search_code(query->search, &input->fingerprint, results, error);
    doppel_search_results_free(results);
    out->error.status = input_record(service, input, out, error);
    enum doppel_status status = out->error.status;
    query->reader->input = input;
    if (!status)
        status = doppel_search_record(query->search, out, input->name ? input->name : "the input",
                                      results, error);
    query->reader->input = NULL;
    if (status && !out->error.status)
        return status;
    if (input_exact(service, query->reader->library, input, &failure) ||
        (input->exact &&
         doppel_search_exact(query->search, input->exact, out, results, &listed, &failure))) {
        *error = failure;
        return failure.status;
    }
    return listed ? DOPPEL_OK : status;
}

static bool is_match_shown(const struct doppel_search_result *result)
{
    return result->state != DOPPEL_LIST_DISABLED && !result->suppressed_by &&
           !result->below_threshold;
}

/* One that was removed meanwhile is none. */
static enum doppel_status put_match(struct library_query *query,
                                    const struct doppel_search_result *result, size_t *put,
                                    struct doppel_error *error)
{
    struct doppel_json match = {0};
    struct doppel_library *library = query->reader->library;
    const struct doppel_compare_options *compare =
        &query->exchange->service->options->decide.search.compare;
    enum doppel_status status;
    doppel_json_object_begin(&match, NULL);
    TRY(doppel_search_result_to_json(&match, library, compare, result, error));
    doppel_json_object_end(&match);
    TRY(doppel_json_status(&match, error));
    if (query->seen)
        TRY(preview_group_add_item(query->seen, library, result->id, &result->comparison.match,
                                   error));
    doppel_json_raw(&query->exchange->json, NULL, match.bytes, match.size);
    ++*put;
done:
    doppel_json_free(&match);
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
}

/* Texts that mean the same, but those that were found by their words. @param json NULL: they are
 * counted alone */
static size_t put_meaning(const struct library_query *query, struct doppel_json *json, size_t most)
{
    size_t put = 0;
    for (size_t i = 0; i < query->by_meaning.count && put < most; i++) {
        const struct doppel_semantic_link *link = &query->by_meaning.links[i];
        if (doppel_search_results_find(&query->reader->results, link->of_item))
            continue;
        put++;
        if (!json)
            continue;
        doppel_json_object_begin(json, NULL);
        doppel_semantic_result_to_json(json, link);
        doppel_json_object_end(json);
    }
    return put;
}

static enum doppel_status put_matches(struct library_query *query, struct doppel_error *error)
{
    const struct doppel_search_results *results = &query->reader->results;
    struct doppel_json *json = &query->exchange->json;
    size_t shown = put_meaning(query, NULL, SIZE_MAX), put = 0;
    for (size_t i = 0; i < results->count; i++)
        shown += is_match_shown(&results->items[i]);
    doppel_json_boolean(json, "match", shown > 0);
    if (!shown && results->obstacle)
        doppel_json_text(json, "reason", results->obstacle);
    doppel_not_compared_to_json(json, results->not_compared);
    doppel_unreadable_to_json(json, &results->unreadable);
    if (shown > (size_t)query->most)
        doppel_json_integer(json, "found", shown);
    doppel_json_array_begin(json, "matches");
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < results->count && put < (size_t)query->most && !status; i++)
        if (is_match_shown(&results->items[i]))
            status = put_match(query, &results->items[i], &put, error);
    if (!status)
        put_meaning(query, json, (size_t)query->most - put);
    doppel_json_array_end(json);
    return status;
}

/* What the input is, and what it and its matches look like. */
static enum doppel_status put_input_previews(struct library_query *query,
                                             const struct doppel_record *record,
                                             struct doppel_error *error)
{
    enum { PIXELS = 960 };
    const struct service *service = query->exchange->service;
    struct doppel_json seen = {0};
    enum doppel_status status = preview_group_to_json(query->seen, service, PIXELS, &seen, error);
    if (!status) {
        doppel_json_object_begin(&query->exchange->json, "input");
        doppel_record_to_json(&query->exchange->json, record, &service->options->read.text, false);
        doppel_json_object_end(&query->exchange->json);
        doppel_json_raw(&query->exchange->json, "looks", seen.bytes, seen.size);
    }
    doppel_json_free(&seen);
    return status;
}

static enum doppel_status find_input(struct library_query *query, struct request_input *input,
                                     struct doppel_error *error)
{
    struct library_reader *reader = query->reader;
    struct doppel_record record = {0};
    bool previews = input->form != INPUT_CODE && exchange_wants(query->exchange, "previews");
    enum doppel_status status;
    TRY(search_input(query, input, &record, error));
    if (query->semantic && !record.error.status && record.kind == DOPPEL_KIND_TEXT)
        TRY(input_meaning(query->exchange->service, &reader->meaning, input, &query->by_meaning,
                          error));
    TRY(doppel_search_results_apply_lists(&reader->results, reader->library, error));
    if (previews) {
        TRY(preview_group_new(record.kind, &query->seen, error));
        TRY(preview_group_add_input(query->seen, query->exchange->service, input, &record, error));
    }
    TRY(put_matches(query, error));
    if (previews)
        TRY(put_input_previews(query, &record, error));
done:
    preview_group_free(query->seen);
    query->seen = NULL;
    doppel_semantic_results_free(&query->by_meaning);
    doppel_record_free(&record);
    return status;
}

static void answer_input(struct library_query *query, struct request_input *input)
{
    struct doppel_json *json = &query->exchange->json;
    struct doppel_error error;
    doppel_json_object_begin(json, NULL);
    put_name(json, "query", input);
    if (find_input(query, input, &error))
        put_input_failure(query->exchange, query->inputs, &error);
    if (query->exchange->status != HTTP_OK)
        return;
    doppel_json_object_end(json);
    end_result(query->exchange);
}

/* ---- all of them ---- */

static void answer_inputs(struct library_query *query)
{
    struct inputs *inputs = query->inputs;
    begin_results(query->exchange);
    doppel_library_begin_reading(query->reader->library);
    for (size_t i = 0; i < inputs->all.count && query->exchange->status == HTTP_OK; i++)
        answer_input(query, &inputs->all.items[i]);
    doppel_library_end_reading(query->reader->library);
    end_results(query->exchange);
}

static void find_inputs(struct exchange *exchange, struct inputs *inputs)
{
    struct library_query query = {.exchange = exchange, .inputs = inputs, .most = MOST_MATCHES};
    struct doppel_error error;
    if (!read_number(exchange, "limit", MOST_MATCHES, &query.most))
        return;
    enum doppel_status status = reader_take(exchange->service, &query.reader, &error);
    if (!status)
        status = choose_search(&query, &error);
    if (status)
        exchange_fail(exchange, &error);
    else if (!exchange->status && want_meaning(&query))
        answer_inputs(&query);
    if (query.reader)
        reader_give(query.reader);
}

enum handled answer_find(struct exchange *exchange)
{
    struct inputs inputs = {0};
    bool small =
        exchange->at_desk || (exchange->form == BODY_JSON && exchange->body.size <= SMALL_BODY);
    if (!small)
        return TAKES_TIME;
    bool read = inputs_read(exchange, &inputs);
    bool later = read && !exchange->at_desk && takes_time(exchange, &inputs);
    if (read && !later)
        find_inputs(exchange, &inputs);
    inputs_free(&inputs);
    return later ? TAKES_TIME : ANSWERED;
}
