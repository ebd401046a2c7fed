/* GET and POST /m/lookup, /m/raw_lookup: what the banks have that is like a signal. */
#include "serve/hma/hma.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/try.h"

/* An item in a bank, as often as it is in banks. */
struct hma_match {
    char *bank; /* given */
    uint64_t id;
    char distance[16];
};

struct hma_finding {
    struct exchange *exchange;
    struct library_reader *reader;
    bool raw; /* also what benign banks have, and what they hide */
    ARRAY(struct hma_match) matches;
};

static void free_matches(struct hma_finding *finding)
{
    for (size_t i = 0; i < finding->matches.count; i++)
        free(finding->matches.items[i].bank);
    array_free(&finding->matches);
}

/* ---- finding ---- */

/* @return whether matches of a bank are told */
static enum doppel_status is_bank_told(struct hma_finding *finding,
                                       const struct doppel_metadata *about, const char *bank,
                                       bool *out, struct doppel_error *error)
{
    const struct exchange *exchange = finding->exchange;
    enum doppel_list_state state = about->state;
    enum doppel_status status = DOPPEL_OK;
    *out = hma_names(exchange_argument(exchange, "banks"), bank);
    if (*out && about->list_count > 1)
        status = hma_bank_state(finding->reader->library, bank, &state, error);
    *out &= state == DOPPEL_LIST_ACTIVE || (finding->raw && state == DOPPEL_LIST_BENIGN);
    return status;
}

/* @param distance as HMA has it: "-" where there is none */
static enum doppel_status add_match(struct hma_finding *finding, uint64_t id, const char *distance,
                                    struct doppel_error *error)
{
    struct doppel_metadata about = {0};
    enum doppel_status status =
        doppel_library_get_metadata(finding->reader->library, id, &about, error);
    if (status)
        return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status; /* it was removed meanwhile */
    if (!finding->raw && about.state == DOPPEL_LIST_BENIGN)
        about.list_count = 0;
    for (size_t i = 0; i < about.list_count && !status; i++) {
        struct hma_match match = {.id = id};
        bool told = false;
        TRY(is_bank_told(finding, &about, about.lists[i], &told, error));
        if (!told)
            continue;
        snprintf(match.distance, sizeof match.distance, "%s", distance);
        match.bank = strdup(about.lists[i]);
        if (!match.bank || !array_push(&finding->matches, match)) {
            free(match.bank);
            TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the answer"));
        }
    }
done:
    doppel_metadata_free(&about);
    return status;
}

static enum doppel_status find_md5(struct hma_finding *finding, const struct hma_signal *signal,
                                   struct doppel_error *error)
{
    uint64_t id;
    enum doppel_status status = doppel_library_by_exact(finding->reader->library, DOPPEL_EXACT_MD5,
                                                        signal->md5, &id, error);
    if (status)
        return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
    return add_match(finding, id, "-", error);
}

static enum doppel_status add_results(struct hma_finding *finding, struct doppel_error *error)
{
    const struct doppel_search_results *results = &finding->reader->results;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < results->count && !status; i++) {
        const struct doppel_search_result *result = &results->items[i];
        char distance[16];
        snprintf(distance, sizeof distance, "%u", result->comparison.match.distance);
        if (!result->below_threshold && (finding->raw || !result->suppressed_by))
            status = add_match(finding, result->id, distance, error);
    }
    return status;
}

/* By the limit of PDQ, and not those of the service, unless the request has one. */
static enum doppel_status find_pdq(struct hma_finding *finding, const struct hma_signal *signal,
                                   struct doppel_error *error)
{
    const struct exchange *exchange = finding->exchange;
    struct doppel_library *library = finding->reader->library;
    struct doppel_search_results *results = &finding->reader->results;
    struct doppel_search_options options = exchange->service->options->decide.search;
    struct doppel_fingerprint code = {0};
    struct doppel_search *search = NULL;
    double distance = hma_pdq()->max_distance;
    enum doppel_status status;
    if (!read_number(finding->exchange, "max_distance", 256, &distance))
        return DOPPEL_OK;
    options.compare.schemes[DOPPEL_KIND_IMAGE] = *hma_pdq();
    options.compare.max_distance = (int32_t)distance;
    options.compare.min_similarity = -1;
    TRY(doppel_fingerprint_make(hma_pdq(), hma_pdq()->code_bits, 1, &code, error));
    code.codes[0] = signal->code;
    TRY(reader_search(finding->reader, &options, &search, error));
    TRY(doppel_search_code(search, &code, results, error));
    TRY(doppel_search_results_apply_lists(results, library, error));
    TRY(add_results(finding, error));
done:
    doppel_fingerprint_free(&code);
    return status;
}

static enum doppel_status find_signal(struct hma_finding *finding, const struct hma_signal *signal,
                                      struct doppel_error *error)
{
    return signal->is_md5 ? find_md5(finding, signal, error) : find_pdq(finding, signal, error);
}

/* ---- answering ---- */

static int by_bank(const void *left, const void *right)
{
    const struct hma_match *a = left, *b = right;
    int order = strcmp(a->bank, b->bank);
    if (!order)
        order = (int)strtol(a->distance, NULL, 10) - (int)strtol(b->distance, NULL, 10);
    return order ? order : (a->id > b->id) - (a->id < b->id);
}

static void put_bank_match(struct doppel_json *json, const struct hma_match *match)
{
    doppel_json_object_begin(json, NULL);
    doppel_json_integer(json, "bank_content_id", match->id);
    doppel_json_text(json, "distance", match->distance);
    doppel_json_object_end(json);
}

/* {"BANK":[…],…} */
static void put_banks(struct hma_finding *finding, const char *key)
{
    struct doppel_json *json = &finding->exchange->json;
    struct hma_match *matches = finding->matches.items;
    size_t count = finding->matches.count;
    if (count)
        qsort(matches, count, sizeof *matches, by_bank);
    doppel_json_object_begin(json, key);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(matches[i - 1].bank, matches[i].bank) != 0)
            doppel_json_array_begin(json, matches[i].bank);
        put_bank_match(json, &matches[i]);
        if (i + 1 == count || strcmp(matches[i + 1].bank, matches[i].bank) != 0)
            doppel_json_array_end(json);
    }
    doppel_json_object_end(json);
}

/* Each content once. */
static void put_contents(struct hma_finding *finding)
{
    struct doppel_json *json = &finding->exchange->json;
    const struct hma_match *matches = finding->matches.items;
    bool distances = hma_is_asked(finding->exchange, "include_distance");
    doppel_json_object_begin(json, NULL);
    doppel_json_array_begin(json, "matches");
    for (size_t i = 0; i < finding->matches.count; i++) {
        if (i && matches[i - 1].id == matches[i].id)
            continue;
        if (distances)
            put_bank_match(json, &matches[i]);
        else
            doppel_json_integer(json, NULL, matches[i].id);
    }
    doppel_json_array_end(json);
    doppel_json_object_end(json);
}

/* ---- routes ---- */

static enum doppel_status look_up_signal(struct hma_finding *finding, struct doppel_error *error)
{
    struct exchange *exchange = finding->exchange;
    struct hma_signal signal;
    if (exchange_argument(exchange, "url")) {
        hma_fetch(exchange);
        return DOPPEL_OK;
    }
    bool file = strcmp(exchange->method, "POST") == 0;
    bool read = file ? hma_read_upload(exchange, &signal)
                     : hma_read_signal(exchange, exchange_argument(exchange, "signal_type"),
                                       exchange_argument(exchange, "signal"), &signal);
    if (!read)
        return DOPPEL_OK;
    enum doppel_status status = find_signal(finding, &signal, error);
    if (status || exchange->status)
        return status;
    exchange->status = HTTP_OK;
    if (finding->raw) {
        put_contents(finding);
    } else if (file) {
        doppel_json_object_begin(&exchange->json, NULL);
        put_banks(finding, hma_type_name(&signal));
        doppel_json_object_end(&exchange->json);
    } else {
        put_banks(finding, NULL);
    }
    return DOPPEL_OK;
}

static enum doppel_status put_lookup(struct exchange *exchange, struct library_reader *reader,
                                     struct doppel_error *error)
{
    struct hma_finding finding = {
        .exchange = exchange, .reader = reader, .raw = exchange->route->handle == hma_raw_lookup};
    enum doppel_status status = look_up_signal(&finding, error);
    free_matches(&finding);
    return status;
}

enum handled hma_lookup(struct exchange *exchange)
{
    return answer_by_reader(exchange, put_lookup);
}

enum handled hma_lookup_file(struct exchange *exchange)
{
    return answer_by_reader(exchange, put_lookup);
}

enum handled hma_raw_lookup(struct exchange *exchange)
{
    return answer_by_reader(exchange, put_lookup);
}

/* ---- the index, which has all that is in the library ---- */

static void put_type_status(struct exchange *exchange, const char *type, uint64_t size)
{
    struct doppel_json *json = &exchange->json;
    if (!hma_names(exchange_argument(exchange, "signal_type"), type))
        return;
    doppel_json_object_begin(json, type);
    doppel_json_boolean(json, "present", size > 0);
    doppel_json_signed(json, "built_to", size ? (int64_t)time(NULL) : -1);
    doppel_json_integer(json, "size", size);
    doppel_json_object_end(json);
}

static enum doppel_status put_index_status(struct exchange *exchange, struct library_reader *reader,
                                           struct doppel_error *error)
{
    struct doppel_library_stats stats;
    uint64_t codes = 0;
    enum doppel_status status = doppel_library_stats(reader->library, &stats, error);
    if (status)
        return status;
    for (size_t i = 0; i < stats.share_count; i++)
        if (stats.shares[i].scheme == DOPPEL_SCHEME_PDQ)
            codes += stats.shares[i].items;
    exchange->status = HTTP_OK;
    doppel_json_object_begin(&exchange->json, NULL);
    put_type_status(exchange, "pdq", codes);
    put_type_status(exchange, "video_md5", stats.digests);
    doppel_json_object_end(&exchange->json);
    return DOPPEL_OK;
}

enum handled hma_index_status(struct exchange *exchange)
{
    return answer_by_reader(exchange, put_index_status);
}
