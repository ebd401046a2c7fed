/* What a library says of an item and of a text of a corpus, as JSON by calls. */
#include "tests/library/fixture.h"

#include <string.h>

#include <doppel/compare.h>

static const struct doppel_item_json_options brief = {0},
                                             whole = {.details = true, .content = true};

static void end_as(struct doppel_json *json, const char *expected)
{
    doppel_json_object_end(json);
    assert_string_equal(json->bytes, expected);
    doppel_json_free(json);
}

static void assert_item(struct doppel_library *library, const struct doppel_item *item,
                        const struct doppel_item_json_options *options, const char *expected)
{
    struct doppel_json json = {0};
    doppel_json_object_begin(&json, NULL);
    assert_int_equal(doppel_item_to_json(&json, library, item, options, NULL), DOPPEL_OK);
    end_as(&json, expected);
}

static void assert_by_id(struct doppel_library *library, uint64_t id,
                         const struct doppel_item_json_options *options, const char *expected)
{
    struct doppel_json json = {0};
    doppel_json_object_begin(&json, NULL);
    assert_int_equal(doppel_item_by_id_to_json(&json, library, id, options, NULL), DOPPEL_OK);
    end_as(&json, expected);
}

static void say(struct doppel_library *library, uint64_t id)
{
    char list[] = "stock", meta[] = "{ \"place\": \"Pune\" }";
    char *lists[] = {list};
    const struct doppel_metadata metadata = {.meta = meta, .lists = lists, .list_count = 1};
    assert_int_equal(doppel_library_set_metadata(library, id, &metadata, NULL), DOPPEL_OK);
}

#define ZEROS_32 "00000000000000000000000000000000"
#define ZEROS_128 ZEROS_32 ZEROS_32 ZEROS_32 ZEROS_32
#define DETAILS ",\"lists\":[\"stock\"],\"meta\":{\"place\":\"Pune\"}}"
#define ITEM                                                                                       \
    "{\"id\":1,\"path\":\"/files/a\",\"kind\":\"image\",\"scheme\":\"pdq\",\"version\":1,"         \
    "\"codes\":1,\"quality\":100,\"size\":7,\"mtime\":0.0,\"added\":1.5,\"digest\":\"" ZEROS_32    \
    "\""
#define TEXT                                                                                       \
    "{\"id\":1,\"record\":\"r1\",\"path\":\"/files/a.jsonl\",\"line\":3,\"kind\":\"text\","        \
    "\"scheme\":\"minhash128\",\"decision\":\"new\",\"words\":9,\"size\":40,\"added\":1.5,"        \
    "\"digest\":\"" ZEROS_32 "\""

static void an_item(void **state)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_PDQ);
    struct doppel_record record = {.kind = DOPPEL_KIND_IMAGE,
                                   .scheme = scheme->id,
                                   .version = scheme->version,
                                   .quality = 100};
    struct doppel_library *library = open_library(*state);
    struct doppel_item item;
    uint64_t id;
    assert_int_equal(doppel_fingerprint_make(scheme, 256, 1, &record.fingerprint, NULL), DOPPEL_OK);
    const struct doppel_file_stamp stamp = {.size = 7};
    enum doppel_added added;
    assert_int_equal(doppel_library_add(library, "/files/a", &stamp, &record, &added, &id, NULL),
                     DOPPEL_OK);
    say(library, id);
    assert_int_equal(doppel_library_get(library, id, true, &item, NULL), DOPPEL_OK);
    item.added_ns = 1500000000;
    assert_item(library, &item, &brief, ITEM "}");
    assert_item(library, &item, &whole,
                ITEM ",\"code\":\"" ZEROS_32 ZEROS_32 "\",\"sequence\":[[\"" ZEROS_32 ZEROS_32
                     "\",0]]" DETAILS);
    doppel_item_free(&item);
    doppel_record_free(&record);
    doppel_library_close(library);
}

static void a_text(void **state)
{
    const struct doppel_text_options options = doppel_text_options_default();
    const struct doppel_text_limits limits = {.min_similarity = 0.7};
    const uint16_t lanes[128] = {0};
    const struct doppel_library_text text = {.record_id = "r1",
                                             .path = "/files/a.jsonl",
                                             .line = 3,
                                             .size = 40,
                                             .added_ns = 1500000000,
                                             .words = 9,
                                             .lanes = lanes,
                                             .lane_count = 128};
    struct doppel_library *library = open_library(*state);
    uint64_t id;
    assert_int_equal(doppel_library_set_text_options(library, &options, &limits, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_add_text(library, &text, &id, NULL), DOPPEL_OK);
    say(library, id);
    assert_by_id(library, id, &brief, TEXT "}");
    assert_by_id(library, id, &whole,
                 TEXT ",\"code\":\"" ZEROS_128 ZEROS_128 ZEROS_128 ZEROS_128
                      "\",\"codes\":1,\"shingles_kept\":0" DETAILS);
    doppel_library_close(library);
}

static void what_there_is_not(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_json json = {0};
    struct doppel_error error;
    assert_int_equal(doppel_item_by_id_to_json(&json, library, 9, &whole, &error),
                     DOPPEL_E_NOT_FOUND);
    assert_true(*error.message);
    assert_int_equal(json.size, 0);
    doppel_library_close(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(an_item),
        IN_FOLDER(a_text),
        IN_FOLDER(what_there_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
