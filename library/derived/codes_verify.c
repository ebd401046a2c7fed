/* The indexes of codes: every byte of their segments, and whether they hold what the items have. */
#include "library/derived/codes.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include "core/mix64.h"
#include "core/try.h"
#include "library/verify.h"

/* What an index holds, or is to hold, in no order: nothing that grows with the library. */
struct code_sum {
    _Atomic uint64_t codes, mixed;
    enum code_table which;
};

struct code_check {
    struct verification *verification;
    enum code_table which;
    uint64_t problems;
    struct doppel_error *error;
};

/* A text in an index of passages is as long as it has words. */
static void sum_passages(struct code_sum *sum, uint64_t id, uint32_t words)
{
    sum->codes++;
    sum->mixed += mix64(id ^ mix64(words));
}

static bool sum_item(void *context, const struct item_codes *codes)
{
    struct code_sum *sum = context;
    if (is_passage_table(sum->which)) {
        sum_passages(sum, *codes->payloads, (uint32_t)*codes->codes);
        return true;
    }
    sum->codes += codes->count;
    for (size_t i = 0; i < codes->count; i++)
        sum->mixed += mix64(codes->payloads[i]);
    return true;
}

static bool sum_held(void *context, uint64_t payload)
{
    struct code_sum *sum = context;
    sum->codes++;
    sum->mixed += mix64(payload);
    return false;
}

static bool take_no_hit(void *context, const struct doppel_index_hit *hit)
{
    (void)context;
    (void)hit;
    return true;
}

static enum doppel_status report_code_problem(struct code_check *check, const char *detail)
{
    char sentence[640];
    check->problems++;
    snprintf(sentence, sizeof sentence, "the index '%s': %s", code_tables[check->which].folder,
             detail);
    const struct doppel_problem problem = {
        .problem = "index", .detail = sentence, .repaired = check->verification->repair};
    return verify_tell(check->verification, &problem, check->error);
}

static bool tell_damaged(void *context, const struct doppel_store_segment *segment)
{
    return !segment->error || !report_code_problem(context, segment->error->message);
}

/* Within as many bits as a code has is every code; the filter keeps none of them. */
static enum doppel_status sum_held_codes(const struct doppel_index *index, struct code_sum *held,
                                         struct doppel_error *error)
{
    static const uint64_t any[CODE_MAX_WORDS];
    const struct doppel_index_request request = {.queries = any,
                                                 .count = 1,
                                                 .radius = UINT32_MAX,
                                                 .every = true,
                                                 .filter = sum_held,
                                                 .filter_context = held};
    return doppel_index_search(index, &request, take_no_hit, NULL, error);
}

static enum doppel_status sum_held_passages(const struct doppel_index *index, struct code_sum *held,
                                            struct doppel_error *error)
{
    struct doppel_index_axis *axis;
    enum doppel_status status = doppel_index_axis_take(index, &axis, error);
    if (status)
        return status;
    const uint64_t length = doppel_index_axis_length(axis);
    for (uint64_t at = 0, next; at < length; at = next) {
        const struct doppel_index_place place = doppel_index_item_at(axis, at);
        next = place.start + place.length > at ? place.start + place.length : at + 1;
        if (!place.removed)
            sum_passages(held, place.payload, place.length);
    }
    doppel_index_axis_free(axis);
    return DOPPEL_OK;
}

static enum doppel_status compare_sums(struct code_check *check, struct doppel_store_index *kept)
{
    struct doppel_library *library = check->verification->library;
    const struct doppel_index *index = doppel_store_index_get(kept);
    const bool passages = is_passage_table(check->which);
    struct code_sum expected = {.which = check->which}, held = {.which = check->which};
    char detail[160];
    bool damaged = true, counted = true;
    enum doppel_status status;
    TRY(codes_of_items(library->store, check->which, sum_item, &expected, check->error));
    TRY(codes_are_uncertain(library, check->which, &damaged, check->error));
    if (damaged)
        return DOPPEL_OK;
    TRY((passages ? sum_held_passages : sum_held_codes)(index, &held, check->error));
    if (passages)
        TRY(passages_are_counted(library->store, check->which, &counted, check->error));
    if (expected.codes == held.codes && expected.mixed == held.mixed && counted)
        return DOPPEL_OK;
    snprintf(detail, sizeof detail,
             "it has %" PRIu64 " codes, not just the %" PRIu64 " that the items have", held.codes,
             expected.codes);
    TRY(report_code_problem(check, counted ? detail : "how much is in it is miscounted"));
done:
    return status;
}

/* As of one moment, whatever is written meanwhile. */
static enum doppel_status compare_now(struct code_check *check, const struct code_names *names,
                                      struct doppel_store_index **out_kept)
{
    struct doppel_store *store = check->verification->library->store;
    enum doppel_status status = doppel_store_execute(store, "BEGIN", check->error);
    if (status)
        return status;
    status = doppel_store_index_open(store, &names->options, out_kept, check->error);
    if (!status)
        status = compare_sums(check, *out_kept);
    doppel_store_execute(store, "ROLLBACK", NULL);
    return status;
}

static enum doppel_status check_codes(struct code_check *check, const struct code_names *names)
{
    struct doppel_store_index *kept = NULL;
    struct doppel_error failure = {0}, *error = check->error;
    check->error = &failure;
    enum doppel_status status = compare_now(check, names, &kept);
    if (!status)
        status = doppel_store_index_verify(kept, tell_damaged, check, &failure);
    doppel_store_index_close(kept);
    check->error = error;
    if (status == DOPPEL_E_NOT_FOUND) /* it is made when it is needed */
        return DOPPEL_OK;
    if (status == DOPPEL_E_CORRUPT || status == DOPPEL_E_VERSION || status == DOPPEL_E_FORMAT)
        return report_code_problem(check, failure.message);
    return status ? doppel_fail(error, status, "%s", failure.message) : DOPPEL_OK;
}

enum doppel_status verify_codes(struct verification *verification, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (int i = 0; i < CODE_TABLES && !status; i++) {
        struct code_check check = {
            .verification = verification, .which = (enum code_table)i, .error = error};
        struct code_names names;
        status = code_names_make(verification->library->directory, check.which, &names)
                     ? check_codes(&check, &names)
                     : doppel_fail(error, DOPPEL_E_MEMORY, "no memory");
        code_names_free(&names);
        if (!status && check.problems && verification->repair)
            status = codes_make_again(verification->library, check.which, error);
    }
    return status;
}
