/* What records say of themselves, against jansson; and blank lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "corpus/read/record_metadata.h"
#include "files.h"

static struct parser *make_parser(const struct doppel_corpus_fields *fields)
{
    struct doppel_corpus_fields usual = doppel_corpus_fields_default();
    struct parser *parser = parser_new(fields ? fields : &usual);
    assert_non_null(parser);
    assert_true(parser_take_metadata(parser));
    return parser;
}

/* A copy that ends where readable memory may end, followed by the worst that may follow. */
static void parse(struct parser *parser, const char *line, struct doppel_corpus_record *out)
{
    size_t size = strlen(line);
    char *copy = malloc(size + PARSE_SLACK);
    assert_non_null(copy);
    memcpy(copy, line, size);
    memset(copy + size, '}', PARSE_SLACK);
    parser_line(parser, copy, size, out);
    free(copy);
}

/* ---- the oracle ---- */

static bool name_is_good(const json_t *value)
{
    return json_is_string(value) && strlen(json_string_value(value)) == json_string_length(value);
}

static bool names_are_good(const json_t *value)
{
    size_t i;
    json_t *one;
    if (!value || json_is_null(value) || name_is_good(value))
        return true;
    json_array_foreach(value, i, one) if (!name_is_good(one)) return false;
    return json_is_array(value);
}

static bool is_good(const json_t *record)
{
    const json_t *id = json_object_get(record, "external_id");
    const json_t *meta = json_object_get(record, "meta");
    return (!id || json_is_null(id) || json_is_number(id) || name_is_good(id)) &&
           (!meta || json_is_null(meta) || json_is_object(meta)) &&
           names_are_good(json_object_get(record, "labels")) &&
           names_are_good(json_object_get(record, "list")) &&
           names_are_good(json_object_get(record, "lists"));
}

/* The names of a field are those of `names` from `*at` on. */
static void check_names(const json_t *value, char *const *names, size_t count, size_t *at)
{
    size_t wanted = json_is_string(value) ? 1 : json_array_size(value);
    for (size_t i = 0; i < wanted; i++, ++*at) {
        const json_t *one = json_is_string(value) ? value : json_array_get(value, i);
        assert_true(*at < count);
        assert_string_equal(names[*at], json_string_value(one));
    }
}

static void check_said(const json_t *record, const struct doppel_metadata *said)
{
    static const struct doppel_metadata nothing;
    const struct doppel_metadata *about = said ? said : &nothing;
    const json_t *id = json_object_get(record, "external_id");
    const json_t *meta = json_object_get(record, "meta");
    size_t labels = 0, lists = 0;
    assert_int_equal(about->external_id != NULL, id && !json_is_null(id));
    if (json_is_string(id))
        assert_string_equal(about->external_id, json_string_value(id));
    if (json_is_integer(id))
        assert_int_equal(strtoll(about->external_id, NULL, 10), json_integer_value(id));
    assert_int_equal(about->meta != NULL, json_is_object(meta));
    if (about->meta) {
        json_t *read = json_loads(about->meta, 0, NULL);
        assert_true(json_equal(read, meta));
        json_decref(read);
    }
    check_names(json_object_get(record, "labels"), about->labels, about->label_count, &labels);
    check_names(json_object_get(record, "list"), about->lists, about->list_count, &lists);
    check_names(json_object_get(record, "lists"), about->lists, about->list_count, &lists);
    assert_int_equal(labels, about->label_count);
    assert_int_equal(lists, about->list_count);
    assert_true(!about->source && !about->date);
}

/* ---- random records ---- */

#define PICK(seed, of) of[random_next(seed) % (sizeof of / sizeof *of)]

static void add_value(struct bytes *line, uint64_t *seed)
{
    static const char *const values[] = {"null",
                                         "true",
                                         "7",
                                         "-2.5e3",
                                         "\"one\"",
                                         "\"t\\u0077o \\\"]}\"",
                                         "\"n\\u0000l\"",
                                         "\"\"",
                                         "[]",
                                         "[\"a\",\"b\" , \"\\u00e4\\\\\"]",
                                         "[ \"a\", 1]",
                                         "[\"a\",[\"b\"]]",
                                         "[\"z\\u0000\"]",
                                         "[null]",
                                         "{}",
                                         "{\"a\":{\"b]\":[1,2.5,\"}\"]},\"\xC3\xA4\":null}",
                                         "{ \"meta\" : {\"labels\":[3]} }"};
    bytes_add_text(line, PICK(seed, values));
}

static void add_record(struct bytes *line, uint64_t *seed)
{
    static const char *const keys[] = {"\"external_id\"", "\"meta\"",        "\"labels\"",
                                       "\"list\"",        "\"lists\"",       "\"label\"",
                                       "\"source\"",      "\"l\\u0061bels\""};
    static const char *const white[] = {"", " ", "\t"};
    bytes_add_text(line, "{\"id\":1,\"text\":\"some text\"");
    for (uint64_t i = random_next(seed) % 5; i; i--) {
        bytes_add_text(line, ",");
        const char *key = PICK(seed, keys);
        bytes_add_text(line, key);
        bytes_add_text(line, PICK(seed, white));
        bytes_add_text(line, ":");
        bytes_add_text(line, PICK(seed, white));
        if (strcmp(key, "\"source\"") == 0)
            bytes_add_text(line, "\"web\"");
        else
            add_value(line, seed);
        bytes_add_text(line, PICK(seed, white));
    }
    bytes_add_text(line, "}");
    bytes_add(line, "", 1);
}

static void test_random_records_as_jansson(void **state)
{
    (void)state;
    enum { RECORDS = 30000 };
    uint64_t seed = 5, good = 0, said = 0;
    struct parser *parser = make_parser(NULL);
    for (int i = 0; i < RECORDS; i++) {
        struct bytes line = {0};
        struct doppel_corpus_record record;
        add_record(&line, &seed);
        json_t *oracle = json_loads(line.data, JSON_ALLOW_NUL, NULL);
        assert_non_null(oracle);
        parse(parser, line.data, &record);
        assert_int_equal(!record.error.status, is_good(oracle));
        if (!record.error.status)
            check_said(oracle, record.said);
        else
            assert_null(record.said);
        good += !record.error.status;
        said += record.said != NULL;
        json_decref(oracle);
        bytes_free(&line);
    }
    parser_free(parser);
    assert_true(good > RECORDS / 4 && good < RECORDS && said > RECORDS / 20);
}

/* ---- by example ---- */

static void test_wrong_values_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *field, *sentence;
    } cases[] = {
        {"\"meta\":\"x\"", "\"meta\" is no object"},
        {"\"meta\":{\"a\":tru}", "broken JSON, or a number out of range, in \"meta\""},
        {"\"meta\":{\"a\":1e999}", "broken JSON, or a number out of range, in \"meta\""},
        {"\"meta\":{\"a\":\"\xFF\"}", "broken JSON, or a number out of range, in \"meta\""},
        {"\"meta\":{\"a\\\\\":\"\\u0000\"}", "\"meta\" holds a NUL character"},
        {"\"labels\":7", "\"labels\" is no string or array of strings"},
        {"\"labels\":[7]", "\"labels\" is no string or array of strings"},
        {"\"labels\":[\"a\",]", "\"labels\" is no string or array of strings"},
        {"\"list\":{}", "\"list\" is no string or array of strings"},
        {"\"lists\":[\"\\u0000\"]", "\"lists\" holds a NUL character"},
        {"\"external_id\":[]", "\"external_id\" is no string or number"},
    };
    struct parser *parser = make_parser(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[200];
        struct doppel_corpus_record record;
        snprintf(line, sizeof line, "{\"id\":\"a\",\"text\":\"b\",%s}", cases[i].field);
        parse(parser, line, &record);
        assert_true(record.error.status);
        assert_non_null(strstr(record.error.message, cases[i].sentence));
        assert_string_equal(record.id, "a");
    }
    parser_free(parser);
}

/* Unless it is asked for, and of fields that are called otherwise, nothing is read. */
static void test_it_is_read_where_it_is_wanted(void **state)
{
    (void)state;
    static const char line[] = "{\"id\":1,\"meta\":\"the text\",\"text\":\"b\",\"labels\":[1]}";
    struct doppel_corpus_fields fields = doppel_corpus_fields_default();
    struct doppel_corpus_record record;
    struct parser *plain = parser_new(&fields);
    assert_non_null(plain);
    parse(plain, line, &record);
    assert_int_equal(record.error.status, DOPPEL_OK);
    assert_null(record.said);
    parser_free(plain);
    fields.text = "meta";
    fields.id = "labels";
    struct parser *parser = make_parser(&fields);
    parse(parser, "{\"labels\":1,\"meta\":\"the text\",\"list\":\"l\"}", &record);
    assert_int_equal(record.error.status, DOPPEL_OK);
    assert_string_equal(record.text, "the text");
    assert_string_equal(record.id, "1");
    assert_string_equal(record.said->lists[0], "l");
    assert_null(record.said->meta);
    struct doppel_metadata *given = parser_give_metadata(parser);
    assert_null(parser_give_metadata(parser));
    parse(parser, "{\"id\":1}", &record);
    assert_string_equal(given->lists[0], "l"); /* it is ours */
    record_metadata_free(given);
    parser_free(parser);
}

/* ---- blank lines ---- */

static bool count_record(void *context, const struct doppel_corpus_record *record)
{
    uint64_t *lines = context;
    if (record->error.status)
        assert_string_equal(record->error.message, "an empty line");
    lines[record->error.status != DOPPEL_OK] += record->line;
    return true;
}

static void test_blank_lines_where_they_are_wanted(void **state)
{
    (void)state;
    static const char lines[] = "\n{\"text\":\"a\"}\n \t\r\n\n{\"text\":\"b\"}\n";
    char copy[sizeof lines + PARSE_SLACK] = {0};
    memcpy(copy, lines, sizeof lines);
    struct parser *parser = make_parser(NULL);
    struct line_block block = {
        .bytes = copy, .size = sizeof lines - 1, .line = 1, .max_line_bytes = 1000};
    for (int with = 0; with < 2; with++) {
        uint64_t sums[2] = {0};
        block.with_blanks = with;
        assert_true(parser_block(parser, &block, count_record, sums));
        assert_int_equal(sums[0], 2 + 5);
        assert_int_equal(sums[1], with ? 1 + 3 + 4 : 0);
    }
    parser_free(parser);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_records_as_jansson),
        cmocka_unit_test(test_wrong_values_are_named),
        cmocka_unit_test(test_it_is_read_where_it_is_wanted),
        cmocka_unit_test(test_blank_lines_where_they_are_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
