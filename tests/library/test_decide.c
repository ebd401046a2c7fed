/* Decisions of one text to one before it, and the dates they rest on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <doppel/library.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "library/items/date.h"

/* ---- dates ---- */

static void test_dates(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double begin, end;
    } known[] = {
        {"1970", 0, 365 * 86400.0},
        {"2024", 1704067200, 1735689600},
        {"0000", -62167219200, -62135596800},
        {"2024-02", 1706745600, 1709251200},
        {"2024-02-29", 1709164800, 1709251200},
        {"20240229", 1709164800, 1709251200},
        {"2024-02-29T12", 1709208000, 1709211600},
        {"2024-02-29T12:30", 1709209800, 1709209860},
        {"2024-02-29T12:30:05", 1709209805, 1709209806},
        {"2024-02-29 12:30:05Z", 1709209805, 1709209806},
        {"2024-02-29t12:30:05z", 1709209805, 1709209806},
        {"20240229T123005Z", 1709209805, 1709209806},
        {"20240229T1230", 1709209800, 1709209860},
        {"2024-02-29T12:30:05.5Z", 1709209805.5, 1709209805.5},
        {"2024-02-29T12:30:05,25+02:00", 1709202605.25, 1709202605.25},
        {"2024-02-29T12:30:05-0330", 1709222405, 1709222406},
        {"2024-02-29 12:30:05 +0200", 1709202605, 1709202606},
        {"2024-02-29T12:30:05+02", 1709202605, 1709202606},
        {"2024-02-29+02:00", 1709157600, 1709244000},
        {"2024-02-29T24:00", 1709251200, 1709251260},
        {"2016-12-31T23:59:60Z", 1483228800, 1483228801},
        {"1709209805", 1709209805, 1709209806},
        {"1709209805.5", 1709209805.5, 1709209805.5},
        {"-5", -5, -4},
        {"0", 0, 1},
        {"20240230", 20240230, 20240231},
        {"123456", 123456, 123457},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct date_span span = {0};
        if (!date_read(known[i].text, &span))
            fail_msg("%s", known[i].text);
        if (span.begin != known[i].begin || span.end != known[i].end)
            fail_msg("%s: %.3f to %.3f", known[i].text, span.begin, span.end);
    }
}

static void test_no_dates(void **state)
{
    (void)state;
    static const char *const unknown[] = {
        "",
        "-",
        "yesterday",
        "2024-",
        "2024-13",
        "2024-00",
        "2023-02-29",
        "2024-02-30",
        "2024-02-2",
        "2024-2-29",
        "2024-02-29T",
        "2024-02-29T25",
        "2024-02-29T12:",
        "2024-02-29T12:60",
        "2024-02-29T24:01",
        "2024-02-29T12:30:61",
        "2024-02-29T12:30:05+",
        "2024-02-29T12:30:05+2",
        "2024-02-29x",
        "2024-W05-3",
        "2024-031",
        "12/31/2024",
        "1e9",
        "1.2.3",
        "0x10",
        "9999999999999999999",
        "2024-02-29T12:30:05Zx",
        " 2024",
    };
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        struct date_span span = {3, 4};
        if (date_read(unknown[i], &span))
            fail_msg("%s", unknown[i]);
        assert_true(span.begin == 3 && span.end == 4);
    }
}

/* The C library is the oracle, over four centuries. */
static void test_the_calendar(void **state)
{
    (void)state;
    for (int64_t day = -80000; day < 80000; day += 13) {
        time_t seconds = (time_t)(day * 86400);
        struct tm parts;
        char text[32];
        gmtime_r(&seconds, &parts);
        strftime(text, sizeof text, "%Y-%m-%d", &parts);
        struct date_span span;
        assert_true(date_read(text, &span));
        assert_true(span.begin == (double)seconds && span.end == (double)seconds + 86400);
    }
}

/* What is read of any bytes ends, and makes a span. */
static void test_random_dates(void **state)
{
    (void)state;
    static const char letters[] = "0123456789-:T Z+.,";
    srand(5);
    for (int trial = 0; trial < 200000; trial++) {
        char text[24];
        size_t length = (size_t)rand() % (sizeof text - 1);
        for (size_t i = 0; i < length; i++)
            text[i] = letters[(size_t)rand() % (sizeof letters - 1)];
        text[length] = '\0';
        struct date_span span;
        if (date_read(text, &span))
            assert_true(span.begin <= span.end && span.end - span.begin <= 366 * 86400.0);
    }
}

static bool is_later(const char *a, const char *b)
{
    struct date_span first, second;
    assert_true(date_read(a, &first));
    assert_true(date_read(b, &second));
    return date_is_later(&first, &second);
}

static void test_later(void **state)
{
    (void)state;
    static const char *const ascending[] = {"2023",
                                            "2024-01",
                                            "2024-02-28",
                                            "2024-02-29T12:30:05+02:00",
                                            "2024-02-29T12:30:05",
                                            "2024-02-29T12:30:06.000",
                                            "2024-02-29T12:30:06.001",
                                            "2024-02-29T12:30:05-03:00",
                                            "1735689600"};
    size_t count = sizeof ascending / sizeof *ascending;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            assert_int_equal(is_later(ascending[i], ascending[j]), i > j);
    assert_false(is_later("2024-02-29T12:00", "2024-02-29")); /* it may have been before */
    assert_false(is_later("2024-02-29", "2024-02-29T12:00"));
    assert_true(is_later("2024-03", "2024-02-29T12:00"));
}

/* ---- decisions ---- */

static enum doppel_decision decide(enum doppel_relation relation, double query_coverage,
                                   double item_coverage)
{
    const struct doppel_match match = {.relation = relation,
                                       .has_coverage = true,
                                       .query_coverage = query_coverage,
                                       .item_coverage = item_coverage};
    const struct doppel_origin nowhere = {0};
    return doppel_decide(&match, &nowhere, &nowhere);
}

static void test_decisions(void **state)
{
    (void)state;
    assert_int_equal(decide(DOPPEL_RELATION_SAME, 0.9, 0.9), DOPPEL_DECISION_DUPLICATE);
    assert_int_equal(decide(DOPPEL_RELATION_CONTAINED, 1, 0.5), DOPPEL_DECISION_PART);
    assert_int_equal(decide(DOPPEL_RELATION_CONTAINED, 0.95, 0.1), DOPPEL_DECISION_PART);
    assert_int_equal(decide(DOPPEL_RELATION_CONTAINED, 1, 0.51), DOPPEL_DECISION_REVISION);
    assert_int_equal(decide(DOPPEL_RELATION_CONTAINS, 0.1, 1), DOPPEL_DECISION_REVISION);
    /* any sizes: 3 shingles in 6, 7 in 14, … */
    for (int size = 1; size < 2000; size++) {
        double common = size;
        assert_int_equal(decide(DOPPEL_RELATION_CONTAINED, common / size, common / (2.0 * size)),
                         DOPPEL_DECISION_PART);
        assert_int_equal(
            decide(DOPPEL_RELATION_CONTAINED, common / size, common / (2.0 * size - 1)),
            DOPPEL_DECISION_REVISION);
    }
}

static void test_origins(void **state)
{
    (void)state;
    static const struct {
        struct doppel_origin record, item;
        enum doppel_decision decision;
    } cases[] = {
        {{"a", "2024-02"}, {"a", "2024-01"}, DOPPEL_DECISION_REVISION},
        {{"a", "2024-01"}, {"a", "2024-02"}, DOPPEL_DECISION_DUPLICATE},
        {{"a", "2024-01"}, {"a", "2024-01"}, DOPPEL_DECISION_DUPLICATE},
        {{"a", "2024-02"}, {"b", "2024-01"}, DOPPEL_DECISION_DUPLICATE},
        {{"a", "2024-02"}, {NULL, "2024-01"}, DOPPEL_DECISION_DUPLICATE},
        {{NULL, "2024-02"}, {NULL, "2024-01"}, DOPPEL_DECISION_DUPLICATE},
        {{"a", "2024-02"}, {"a", NULL}, DOPPEL_DECISION_DUPLICATE},
        {{"a", NULL}, {"a", "2024-01"}, DOPPEL_DECISION_DUPLICATE},
        {{"a", "later"}, {"a", "2024-01"}, DOPPEL_DECISION_DUPLICATE},
        {{"a", "2024-02"}, {"a", "before"}, DOPPEL_DECISION_DUPLICATE},
        {{"a", "1709209805"}, {"a", "2024-01"}, DOPPEL_DECISION_REVISION},
    };
    const struct doppel_match match = {.relation = DOPPEL_RELATION_SAME, .similarity = 0.9};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(doppel_decide(&match, &cases[i].record, &cases[i].item),
                         cases[i].decision);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(doppel_decision_name(DOPPEL_DECISION_NEW), "new");
    assert_string_equal(doppel_decision_name(DOPPEL_DECISION_DUPLICATE), "duplicate");
    assert_string_equal(doppel_decision_name(DOPPEL_DECISION_REVISION), "revision");
    assert_string_equal(doppel_decision_name(DOPPEL_DECISION_PART), "part");
    assert_string_equal(doppel_decision_name(DOPPEL_DECISION_TOO_SHORT), "too_short");
    assert_string_equal(doppel_decision_name(DOPPEL_DECISION_UNREADABLE), "unreadable");
    assert_string_equal(doppel_decision_name(DOPPEL_DECISION_CONFLICT), "conflict");
    assert_string_equal(doppel_decision_name((enum doppel_decision)99), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dates),        cmocka_unit_test(test_no_dates),
        cmocka_unit_test(test_the_calendar), cmocka_unit_test(test_random_dates),
        cmocka_unit_test(test_later),        cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_origins),      cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
