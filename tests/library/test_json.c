/* Numbers, lists, marks and failures of a library as JSON, by calls. */
#include "tests/library/fixture.h"

#include <doppel/json_writer.h>

#define ZEROS_32 "00000000000000000000000000000000"

static void end_as(struct doppel_json *json, const char *expected)
{
    doppel_json_object_end(json);
    assert_string_equal(json->bytes, expected);
    doppel_json_free(json);
}

static void numbers(void **state)
{
    (void)state;
    const struct doppel_library_stats stats = {.items = 3,
                                               .texts = 2,
                                               .share_count = 1,
                                               .shares = {{.items = 3}},
                                               .decisions = {1, 1},
                                               .lists = {1},
                                               .oldest_ns = 1500000000,
                                               .newest_ns = 2500000000};
    struct doppel_json json = {0};
    doppel_json_object_begin(&json, NULL);
    doppel_library_stats_to_json(&json, &stats);
    end_as(&json,
           "{\"items\":3,\"old_items\":0,\"kinds\":[{\"kind\":\"unknown\",\"scheme\":\"none\","
           "\"version\":0,\"items\":3,\"old\":false}],\"records\":2,\"decisions\":{\"new\":1,"
           "\"duplicate\":1,\"revision\":0,\"part\":0,\"too_short\":0,\"unreadable\":0,"
           "\"conflict\":0},\"groups\":0,\"duplicates\":0,\"lists\":{\"active\":1,"
           "\"disabled\":0,\"benign\":0},\"listed\":0,\"labels\":0,\"sources\":0,\"marks\":0,"
           "\"digests\":0,\"failures\":0,\"log_entries\":0,\"oldest\":1.5,\"newest\":2.5,"
           "\"catalogue_bytes\":0,\"sounds_bytes\":0,\"videos_bytes\":0,\"parts_bytes\":0,"
           "\"codes_bytes\":0}");
}

struct written {
    struct doppel_library *library;
    struct doppel_json json;
};

static bool write_list(void *context, const struct doppel_list *list)
{
    struct written *written = context;
    struct doppel_list shown = *list;
    shown.last_match_ns = 0; /* it is now */
    doppel_json_object_begin(&written->json, NULL);
    assert_int_equal(doppel_list_to_json(&written->json, written->library, &shown, NULL),
                     DOPPEL_OK);
    doppel_json_object_end(&written->json);
    return true;
}

/* An item that matched more often than its list allows is to be reviewed. */
static void a_list(void **state)
{
    char *lists[] = {"stock"};
    const struct doppel_metadata about = {.external_id = "x", .lists = lists, .list_count = 1};
    const struct doppel_list_rule rule = {DOPPEL_LIMIT_DISTANCE, 9, 1};
    struct written written = {.library = open_library(*state)};
    const uint64_t id = 1;
    assert_int_equal(add_numbered(written.library, id, record_make(1), NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_metadata(written.library, id, &about, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_list_rule(written.library, "stock", &rule, NULL),
                     DOPPEL_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(doppel_library_count_matches(written.library, &id, 1, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_each_list(written.library, write_list, &written, NULL),
                     DOPPEL_OK);
    assert_non_null(
        strstr(written.json.bytes,
               "{\"list\":\"stock\",\"state\":\"active\",\"items\":1,\"max_distance\":9,"
               "\"flood\":1,\"matches\":2,\"matches_last_day\":2,\"in_review\":1,"
               "\"review\":[{\"item\":1,\"name\":\"x\",\"since\":"));
    doppel_json_free(&written.json);
    doppel_library_close(written.library);
}

static void a_mark(void **state)
{
    struct doppel_library *library = open_library(*state);
    const struct doppel_mark mark = {
        .word = DOPPEL_LABEL_DISTINCT, .time_ns = 1500000000, .note = "two"};
    struct doppel_json json = {0};
    doppel_json_object_begin(&json, NULL);
    doppel_mark_to_json(&json, library, &mark);
    end_as(&json, "{\"mark\":\"distinct\",\"a_digest\":\"" ZEROS_32 "\",\"b_digest\":\"" ZEROS_32
                  "\",\"time\":1.5,\"note\":\"two\"}");
    doppel_library_close(library);
}

/* Of what has no file there is no path. */
static void a_mark_of_codes(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_item item = {.record = record_make(1)}, kept;
    enum doppel_added added;
    uint64_t id;
    assert_int_equal(doppel_library_import(library, &item, NULL, &added, &id, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_get(library, id, false, &kept, NULL), DOPPEL_OK);
    const struct doppel_mark mark = {.word = DOPPEL_LABEL_SAME, .a = kept.record.digest};
    struct doppel_json json = {0};
    doppel_json_object_begin(&json, NULL);
    doppel_mark_to_json(&json, library, &mark);
    doppel_json_object_end(&json);
    assert_null(strstr(json.bytes, "\"a\":"));
    doppel_json_free(&json);
    doppel_item_free(&kept);
    doppel_record_free(&item.record);
    doppel_library_close(library);
}

static void a_failure(void **state)
{
    (void)state;
    const struct doppel_file_stamp stamp = {.size = 7, .mtime_ns = 1500000000};
    const struct doppel_failure failure = {
        "/files/a", &stamp, 2500000000, {DOPPEL_E_FORMAT, "no image"}, ""};
    struct doppel_json json = {0};
    doppel_json_object_begin(&json, NULL);
    doppel_failure_to_json(&json, &failure);
    end_as(&json, "{\"path\":\"/files/a\",\"status\":\"format\",\"reason\":\"no image\","
                  "\"time\":2.5,\"size\":7,\"mtime\":1.5}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),  IN_FOLDER(a_list),           IN_FOLDER(a_mark),
        IN_FOLDER(a_mark_of_codes), cmocka_unit_test(a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
