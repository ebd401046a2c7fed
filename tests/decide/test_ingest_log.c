/* The log of an ingest: a line for each decision, which says what was answered. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/decide/ingest_case.h"

enum { RECORDS = 250 };

struct answer {
    struct doppel_dedup_decision decision;
    char reason[256], path[256];
};

struct answers {
    struct answer items[RECORDS];
    size_t count, logged;
    const struct ingest_case *made;
};

static bool take_decision(void *context, const struct doppel_dedup_decision *decision)
{
    struct answers *answers = context;
    struct answer *answer = &answers->items[answers->count++];
    answer->decision = *decision;
    snprintf(answer->reason, sizeof answer->reason, "%s", decision->reason ? decision->reason : "");
    snprintf(answer->path, sizeof answer->path, "%s", decision->path);
    return true;
}

static void ingest(const struct ingest_case *made, struct doppel_library *library,
                   struct answers *out, bool check)
{
    struct doppel_ingest_options options = ingest_options(&made->options);
    struct doppel_error error;
    options.check = check;
    *out = (struct answers){.made = made};
    if (doppel_ingest(library, &options, take_decision, out, &error))
        fail_msg("%s", error.message);
}

static void assert_same_match(const struct doppel_log_entry *entry,
                              const struct doppel_match *match)
{
    assert_int_equal(entry->scheme, match->scheme);
    assert_int_equal(entry->bits, match->bits);
    assert_int_equal(entry->distance, match->distance);
    assert_true(fabs(entry->similarity - match->similarity) < 1e-9);
    bool plain =
        match->relation == DOPPEL_RELATION_SAME && match->verified == DOPPEL_VERIFIED_EXACT;
    assert_int_equal(entry->detail == NULL, plain);
    if (plain)
        return;
    double query = -1, item = -1;
    const char *shares = strstr(entry->detail, "\"query_coverage\"");
    assert_non_null(strstr(entry->detail, doppel_relation_name(match->relation)));
    assert_non_null(strstr(entry->detail, doppel_verified_name(match->verified)));
    assert_int_equal(shares != NULL, match->has_coverage);
    if (!shares)
        return;
    assert_int_equal(sscanf(shares, "\"query_coverage\":%lf,\"item_coverage\":%lf}", &query, &item),
                     2);
    assert_true(fabs(query - match->query_coverage) < 1e-4);
    assert_true(fabs(item - match->item_coverage) < 1e-4);
}

static void assert_limit(const struct doppel_log_entry *entry, const struct ingest_case *made)
{
    bool near = strcmp(entry->reason, "near") == 0 || strcmp(entry->reason, "newer") == 0;
    bool part = strcmp(entry->reason, "part") == 0 || strcmp(entry->reason, "contains") == 0 ||
                strcmp(entry->reason, "contained") == 0;
    assert_int_equal(entry->limit_kind != DOPPEL_LIMIT_NONE, near || part);
    if (near)
        assert_true(fabs(entry->limit - made->options.limits.min_similarity) < 1e-9);
    if (part)
        assert_true(fabs(entry->limit - made->options.limits.min_containment) < 1e-9);
}

/* Who is to be kept of a group changes only by a decision that says so. */
static void take_canonical(const struct answers *answers, const struct doppel_log_entry *entry)
{
    assert_true(answers->logged > 0);
    const struct answer *answer = &answers->items[answers->logged - 1];
    assert_int_equal(entry->item, answer->decision.item);
    assert_non_null(answer->decision.replaces);
    assert_string_equal(entry->reason, answer->reason);
}

/* What is answered as before leaves no line of its own. */
static void skip_replayed(struct answers *answers)
{
    while (answers->logged < answers->count && answers->items[answers->logged].decision.replayed)
        answers->logged++;
}

static bool take_entry(void *context, const struct doppel_log_entry *entry,
                       const struct doppel_error *error)
{
    struct answers *answers = context;
    if (entry->action == DOPPEL_LOG_CANONICAL) {
        take_canonical(answers, entry);
        return true;
    }
    skip_replayed(answers);
    const struct answer *answer = &answers->items[answers->logged];
    const struct doppel_dedup_decision *decision = &answer->decision;
    const struct made *record = &answers->made->corpus.records[answers->logged++];
    char place[300];
    snprintf(place, sizeof place, "%s:%llu", answer->path, (unsigned long long)decision->line);
    assert_int_equal(error->status, DOPPEL_OK);
    assert_int_equal(entry->action, DOPPEL_LOG_DECIDED);
    assert_true(entry->decided);
    assert_int_equal(entry->decision, decision->decision);
    assert_int_equal(entry->item, decision->item);
    assert_int_equal(entry->of, decision->of_item);
    assert_int_equal(entry->former, decision->replaces ? decision->of_item : 0);
    assert_string_equal(entry->reason ? entry->reason : "", answer->reason);
    assert_string_equal(entry->name, record->id ? record->id : place);
    if (record->source)
        assert_string_equal(entry->source, record->source);
    else
        assert_null(entry->source);
    assert_int_equal(entry->has_match, decision->has_match);
    assert_null(entry->former_name);
    if (!entry->has_match)
        return true;
    assert_same_match(entry, &decision->match);
    assert_limit(entry, answers->made);
    return true;
}

static void each_decision_has_a_line(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        static struct answers answers;
        struct ingest_case made;
        const struct doppel_log_query all = {0};
        case_begin(
            &(struct corpus_plan){
                .seed = seed * 32452843, .count = RECORDS, .templates = seed % 3, .same_ids = true},
            &made);
        for (size_t i = 0; i < RECORDS; i++) /* a broken line says not what it would have had */
            if (made.corpus.records[i].broken) {
                free(made.corpus.records[i].id);
                free(made.corpus.records[i].source);
                made.corpus.records[i].id = made.corpus.records[i].source = NULL;
            }
        case_write(&made, 0, RECORDS);
        made.options.on_same_id = (enum doppel_same_id)(seed % 3);
        struct doppel_library *library = case_open(&made);
        ingest(&made, library, &answers, false);
        assert_int_equal(doppel_library_each_log(library, &all, take_entry, &answers, NULL),
                         DOPPEL_OK);
        skip_replayed(&answers);
        assert_int_equal(answers.count, RECORDS);
        assert_int_equal(answers.logged, RECORDS);
        doppel_library_close(library);
        case_end(&made);
    }
}

static bool count_entry(void *context, const struct doppel_log_entry *entry,
                        const struct doppel_error *error)
{
    (void)entry, (void)error;
    ++*(size_t *)context;
    return true;
}

static void a_check_leaves_no_line(void **state)
{
    (void)state;
    static struct answers answers;
    struct ingest_case made;
    const struct doppel_log_query all = {0};
    size_t count = 0;
    case_begin(&(struct corpus_plan){.seed = 9, .count = 50}, &made);
    struct doppel_library *library = case_open(&made);
    ingest(&made, library, &answers, true);
    assert_int_equal(answers.count, 50);
    assert_int_equal(doppel_library_each_log(library, &all, count_entry, &count, NULL), DOPPEL_OK);
    assert_int_equal(count, 0);
    doppel_library_close(library);
    case_end(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_decision_has_a_line),
        cmocka_unit_test(a_check_leaves_no_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
