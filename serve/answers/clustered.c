/* Routes of a library in a cluster. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/try.h"
#include "serve/answers/answers.h"
#include "serve/cluster_openings.h"
#include "serve/deciding.h"
#include "serve/input_record.h"
#include "serve/metrics.h"

enum { SOME_INPUTS = 64, MOST_FOUND = 1000 };

/* The inputs of a request, some at a time. */
struct cluster_request {
    struct exchange *exchange;
    struct inputs inputs;
    struct doppel_shards *shards;
    struct doppel_compare_options compare;
    double most;  /* matches of an input */
    bool dry_run; /* to decide */

    /* of those at hand */
    size_t first, count;
    struct doppel_record records[SOME_INPUTS];
    size_t asked[SOME_INPUTS]; /* those that can be, by their number among these */
    size_t asked_count;
};

/* What is in the way becomes the input's error. */
static void read_some_inputs(struct cluster_request *request)
{
    const size_t left = request->inputs.all.count - request->first;
    request->count = left < SOME_INPUTS ? left : SOME_INPUTS;
    request->asked_count = 0;
    for (size_t i = 0; i < request->count; i++) {
        struct request_input *input = &request->inputs.all.items[request->first + i];
        struct doppel_record *record = &request->records[i];
        struct doppel_error error;
        const struct doppel_scheme *scheme =
            doppel_compare_scheme(&request->compare, DOPPEL_KIND_IMAGE);
        const char *obstacle = NULL;
        *record = (struct doppel_record){0};
        enum doppel_status status = input_record(request->exchange->service, input, record, &error);
        if (!status)
            obstacle = doppel_shards_obstacle(record);
        if (obstacle)
            status = doppel_fail(&error, DOPPEL_E_UNSUPPORTED, "%s", obstacle);
        else if (!status && (!scheme || scheme->id != record->scheme))
            status = doppel_fail(&error, DOPPEL_E_VERSION,
                                 "it is not of %s, by which this service compares (--scheme)",
                                 scheme ? scheme->name : "a scheme");
        if (status)
            input->error = error;
        else
            request->asked[request->asked_count++] = i;
    }
}

static void forget_some_inputs(struct cluster_request *request)
{
    for (size_t i = 0; i < request->count; i++)
        doppel_record_free(&request->records[i]);
    request->first += request->count;
}

/* @return false: the reply says what is wrong */
static bool read_cluster_thresholds(struct cluster_request *request)
{
    double distance = -1, similarity = -1, rate = -1;
    struct exchange *exchange = request->exchange;
    request->most = MOST_FOUND;
    request->compare = exchange->service->options->decide.search.compare;
    if (!read_number(exchange, "max_distance", 256, &distance) ||
        !read_number(exchange, "min_similarity", 1, &similarity) ||
        !read_limit_over_zero(exchange, "max_fp_rate", &rate) ||
        !read_number(exchange, "limit", MOST_FOUND, &request->most))
        return false;
    if (distance >= 0)
        request->compare.max_distance = (int32_t)distance;
    if (similarity >= 0)
        request->compare.min_similarity = similarity;
    if (rate > 0)
        request->compare.max_false_positives = rate;
    if (exchange_wants(exchange, "semantic") || exchange_wants(exchange, "previews") ||
        exchange_header(exchange, "Idempotency-Key"))
        exchange_problem(exchange, HTTP_BAD_REQUEST,
                         "a library in a cluster has no meanings, previews and keys of requests: "
                         "what has the same id is the same item, and is decided about once");
    else if (distance >= 0 && similarity >= 0)
        exchange_problem(exchange, HTTP_BAD_REQUEST,
                         "give 'max_distance' or 'min_similarity', not both");
    return !exchange->status;
}

/* ---- finding ---- */

static void put_cluster_matches(const struct cluster_request *request,
                                const struct doppel_shards_answers *answers, size_t number)
{
    struct doppel_json *json = &request->exchange->json;
    const struct doppel_search_results *results = &answers->results[number];
    const size_t most = (size_t)request->most;
    doppel_json_boolean(json, "match", results->count > 0);
    doppel_shards_missing_to_json(json, answers);
    if (results->count > most)
        doppel_json_integer(json, "found", results->count);
    doppel_json_array_begin(json, "matches");
    for (size_t i = 0; i < results->count && i < most; i++) {
        doppel_json_object_begin(json, NULL);
        doppel_shards_result_to_json(json, answers, &results->items[i]);
        doppel_json_object_end(json);
    }
    doppel_json_array_end(json);
}

static void put_found_inputs(struct cluster_request *request,
                             const struct doppel_shards_answers *answers)
{
    struct exchange *exchange = request->exchange;
    for (size_t i = 0, asked = 0; i < request->count && exchange->status == HTTP_OK; i++) {
        const struct request_input *input = &request->inputs.all.items[request->first + i];
        doppel_json_object_begin(&exchange->json, NULL);
        put_name(&exchange->json, "query", input);
        if (input->error.status)
            put_input_failure(exchange, &request->inputs, &input->error);
        else
            put_cluster_matches(request, answers, asked++);
        if (exchange->status != HTTP_OK)
            return;
        doppel_json_object_end(&exchange->json);
        end_result(exchange);
    }
}

static enum doppel_status find_some_inputs(struct cluster_request *request,
                                           struct doppel_error *error)
{
    const struct doppel_record *queries[SOME_INPUTS];
    struct doppel_shards_answers answers = {0};
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < request->asked_count; i++)
        queries[i] = &request->records[request->asked[i]];
    if (request->asked_count)
        TRY(doppel_shards_find(request->shards, queries, request->asked_count, &request->compare,
                               &answers, error));
    put_found_inputs(request, &answers);
done:
    doppel_shards_answers_free(&answers);
    return status;
}

/* ---- deciding ---- */

/* Borrows from both. */
static struct doppel_shards_item item_of_input(const struct request_input *input,
                                               const struct doppel_record *record)
{
    static char nowhere[] = "";
    struct timespec now;
    struct doppel_shards_item item = {.item = {.path = nowhere, .record = *record},
                                      .about = input->metadata};
    item.about.source = (char *)input->source;
    item.about.date = (char *)input->date;
    item.about.external_id = (char *)input->id;
    clock_gettime(CLOCK_REALTIME, &now);
    item.item.added_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    return item;
}

static enum doppel_status decide_some_inputs(struct cluster_request *request,
                                             struct doppel_error *error)
{
    const struct doppel_shards_decide_options options = {request->compare, request->dry_run};
    struct doppel_shards_item items[SOME_INPUTS];
    struct doppel_shards_decision decisions[SOME_INPUTS];
    struct exchange *exchange = request->exchange;
    enum doppel_status status = DOPPEL_OK;
    memset(decisions, 0, sizeof decisions);
    for (size_t i = 0; i < request->asked_count; i++)
        items[i] = item_of_input(&request->inputs.all.items[request->first + request->asked[i]],
                                 &request->records[request->asked[i]]);
    if (request->asked_count)
        TRY(doppel_shards_decide(request->shards, items, request->asked_count, &options, decisions,
                                 error));
    for (size_t i = 0, asked = 0; i < request->count; i++) {
        const struct request_input *input = &request->inputs.all.items[request->first + i];
        struct doppel_decided decided = {0};
        if (!input->error.status) {
            doppel_shards_decided(&items[asked], &request->compare, &decisions[asked], &decided);
            asked++;
        }
        put_decision(&exchange->json, input, input->error.status ? NULL : &decided);
        end_result(exchange);
    }
done:
    for (size_t i = 0; i < request->asked_count; i++)
        doppel_shards_decision_free(&decisions[i]);
    return status;
}

/* ---- both ---- */

typedef enum doppel_status some_inputs_taker(struct cluster_request *request,
                                             struct doppel_error *error);

static void take_all_inputs(struct cluster_request *request, some_inputs_taker *take)
{
    struct exchange *exchange = request->exchange;
    struct doppel_error error;
    enum doppel_status status = DOPPEL_OK;
    begin_results(exchange);
    while (request->first < request->inputs.all.count && !status && exchange->status == HTTP_OK) {
        read_some_inputs(request);
        status = take(request, &error);
        forget_some_inputs(request);
    }
    if (status)
        exchange_fail(exchange, &error);
    end_results(exchange);
}

static enum handled answer_inputs_of_cluster(struct exchange *exchange, some_inputs_taker *take,
                                             bool dry_run)
{
    if (!exchange->at_desk)
        return TAKES_TIME;
    struct cluster_openings *openings = exchange->service->cluster;
    struct cluster_request *request = calloc(1, sizeof *request);
    struct doppel_error error;
    if (!request) {
        exchange_problem(exchange, HTTP_UNAVAILABLE, "no memory for the request");
        return ANSWERED;
    }
    request->exchange = exchange;
    request->dry_run = dry_run;
    if (read_cluster_thresholds(request) && inputs_read(exchange, &request->inputs)) {
        if (cluster_take(openings, &request->shards, &error)) {
            exchange_fail(exchange, &error);
        } else {
            take_all_inputs(request, take);
            cluster_give(openings, request->shards);
        }
    }
    inputs_free(&request->inputs);
    free(request);
    return ANSWERED;
}

enum handled answer_cluster_find(struct exchange *exchange)
{
    return answer_inputs_of_cluster(exchange, find_some_inputs, true);
}

enum handled answer_cluster_check(struct exchange *exchange)
{
    return answer_inputs_of_cluster(exchange, decide_some_inputs, true);
}

enum handled answer_cluster_ingest(struct exchange *exchange)
{
    return answer_inputs_of_cluster(exchange, decide_some_inputs, false);
}

/* ---- items and numbers ---- */

typedef enum doppel_status put_from_cluster(struct exchange *exchange, struct doppel_shards *shards,
                                            struct doppel_error *error);

static enum handled answer_by_cluster(struct exchange *exchange, put_from_cluster *put)
{
    struct cluster_openings *openings = exchange->service->cluster;
    struct doppel_shards *shards;
    struct doppel_error error;
    if (!exchange->at_desk)
        return TAKES_TIME;
    enum doppel_status status = cluster_take(openings, &shards, &error);
    if (!status) {
        status = put(exchange, shards, &error);
        cluster_give(openings, shards);
    }
    if (status)
        exchange_fail(exchange, &error);
    return ANSWERED;
}

/* An id, or "id:" and an external id. */
static enum doppel_status find_item_id(const struct exchange *exchange,
                                       struct doppel_shards *shards, uint64_t *out,
                                       struct doppel_error *error)
{
    const char *external = doppel_reference_external_id(exchange->rest);
    if (external)
        return doppel_shards_get_id(shards, external, out, error);
    return doppel_reference_number(exchange->rest, out)
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_NOT_FOUND,
                             "items of a library in a cluster are named by their ids, or by 'id:' "
                             "and an external id");
}

static enum doppel_status put_cluster_item(struct exchange *exchange, struct doppel_shards *shards,
                                           struct doppel_error *error)
{
    struct doppel_shards_item item;
    uint64_t id;
    enum doppel_status status;
    TRY(find_item_id(exchange, shards, &id, error));
    TRY(doppel_shards_get(shards, id, &item, error));
    doppel_json_object_begin(&exchange->json, NULL);
    doppel_shards_item_to_json(&exchange->json, &item, true);
    doppel_json_object_end(&exchange->json);
    doppel_shards_item_free(&item);
    exchange->status = HTTP_OK;
done:
    return status;
}

enum handled answer_cluster_item(struct exchange *exchange)
{
    return answer_by_cluster(exchange, put_cluster_item);
}

static enum doppel_status remove_cluster_item(struct exchange *exchange,
                                              struct doppel_shards *shards,
                                              struct doppel_error *error)
{
    uint64_t id;
    enum doppel_status status;
    TRY(find_item_id(exchange, shards, &id, error));
    TRY(doppel_shards_remove(shards, id, error));
    exchange->status = HTTP_NO_CONTENT;
done:
    return status;
}

enum handled answer_cluster_remove_item(struct exchange *exchange)
{
    return answer_by_cluster(exchange, remove_cluster_item);
}

static enum doppel_status put_cluster_stats(struct exchange *exchange, struct doppel_shards *shards,
                                            struct doppel_error *error)
{
    struct doppel_shards_stats stats;
    struct doppel_json *json = &exchange->json;
    const enum doppel_status status = doppel_shards_get_stats(shards, &stats, error);
    if (status)
        return status;
    doppel_json_object_begin(json, NULL);
    doppel_json_text(json, "version", doppel_version());
    doppel_json_number(json, "uptime", metrics_uptime(exchange->service->metrics), 3);
    doppel_json_object_begin(json, "library");
    doppel_json_integer(json, "items", stats.items);
    doppel_json_integer(json, "nodes", stats.nodes);
    doppel_json_integer(json, "replicas", stats.replicas);
    doppel_json_object_end(json);
    doppel_json_object_end(json);
    exchange->status = HTTP_OK;
    return DOPPEL_OK;
}

enum handled answer_cluster_stats(struct exchange *exchange)
{
    return answer_by_cluster(exchange, put_cluster_stats);
}

/* The cluster can be asked. */
static enum doppel_status put_cluster_ready(struct exchange *exchange, struct doppel_shards *shards,
                                            struct doppel_error *error)
{
    struct doppel_shards_stats stats;
    const enum doppel_status status = doppel_shards_get_stats(shards, &stats, error);
    if (!status)
        (void)answer_health(exchange);
    return status;
}

enum handled answer_cluster_ready(struct exchange *exchange)
{
    if (!atomic_load(&exchange->service->ending))
        return answer_by_cluster(exchange, put_cluster_ready);
    exchange_problem(exchange, HTTP_UNAVAILABLE, "the service is ending");
    return ANSWERED;
}
