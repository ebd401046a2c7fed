/* An entry of a library's log as JSON, by a call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <doppel/decide.h>

static void assert_entry(const struct doppel_log_entry *entry, const char *expected)
{
    struct doppel_json json = {0};
    doppel_json_object_begin(&json, NULL);
    doppel_log_entry_to_json(&json, entry);
    doppel_json_object_end(&json);
    assert_string_equal(json.bytes, expected);
    doppel_json_free(&json);
}

static void an_entry(void **state)
{
    (void)state;
    struct doppel_log_entry entry = {.entry = 4,
                                     .time_ns = 1500000000,
                                     .action = DOPPEL_LOG_DECIDED,
                                     .item = 7,
                                     .name = "r1",
                                     .decided = true,
                                     .decision = DOPPEL_DECISION_DUPLICATE,
                                     .of = 3,
                                     .reason = "near"};
    assert_entry(&entry,
                 "{\"entry\":4,\"time\":1.5,\"action\":\"decided\",\"item\":7,"
                 "\"record\":\"r1\",\"decision\":\"duplicate\",\"of\":3,\"reason\":\"near\"}");
    entry.name = "/files/a";
    entry.has_match = true;
    entry.scheme = DOPPEL_SCHEME_PDQ;
    entry.version = 1;
    entry.distance = 9;
    entry.bits = 256;
    entry.similarity = 0.93;
    entry.limit = 31;
    entry.limit_kind = DOPPEL_LIMIT_DISTANCE;
    entry.false_positive_rate = -1;
    entry.detail = "{ \"relation\": \"near\" }";
    assert_entry(&entry, "{\"entry\":4,\"time\":1.5,\"action\":\"decided\",\"item\":7,"
                         "\"path\":\"/files/a\",\"decision\":\"duplicate\",\"of\":3,"
                         "\"reason\":\"near\",\"scheme\":\"pdq\",\"version\":1,\"distance\":9,"
                         "\"bits\":256,\"similarity\":0.93,\"limit\":{\"max_distance\":31},"
                         "\"detail\":{\"relation\":\"near\"}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
