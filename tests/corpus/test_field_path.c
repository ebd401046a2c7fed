/* Fields that stand in others, against a walk through what jansson reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "files.h"

static const char *const names[] = {"a", "b", "0", "1", "a.b", "\\u0061", "c", "a[0]"};
enum { NAMES = sizeof names / sizeof *names };

/* How a user names a field, and the steps to it. */
static const struct {
    const char *name, *steps[5];
} wanted[] = {
    {"a", {"a"}},
    {".a", {"a"}},
    {"a.b", {"a", "b"}},
    {".a.b", {"a", "b"}},
    {"a[0]", {"a", "0"}},
    {"a.0.b", {"a", "0", "b"}},
    {"b[1].a", {"b", "1", "a"}},
    {"a[0][1]", {"a", "0", "1"}},
    {"c.a.b.a", {"c", "a", "b", "a"}},
};

static void add_any_value(struct bytes *line, uint64_t *seed, int depth)
{
    static const char *const scalars[] = {"\"words\"", "\"\\u00e9 x\"", "null", "12", "true"};
    uint64_t kind = random_next(seed) % (depth > 4 ? 3 : 9), count = random_next(seed) % 5;
    if (kind < 3) {
        bytes_add_text(line, scalars[random_next(seed) % 5]);
        return;
    }
    bool object = kind < 7 || depth == 0;
    bytes_add_text(line, object ? "{ " : "[");
    for (uint64_t i = 0; i < count; i++) {
        bytes_add_text(line, i ? ", " : "");
        if (object) {
            bytes_add_text(line, "\"");
            bytes_add_text(line, names[random_next(seed) % NAMES]);
            bytes_add_text(line, "\" :");
        }
        add_any_value(line, seed, depth + 1);
    }
    bytes_add_text(line, object ? "}" : "] ");
}

static const json_t *walk(const json_t *object, size_t which)
{
    const json_t *value = json_object_get(object, wanted[which].name);
    if (value)
        return value;
    value = object;
    for (const char *const *step = wanted[which].steps; *step && value; step++)
        value = json_is_array(value) && (**step == '0' || **step == '1')
                    ? json_array_get(value, (size_t)(**step - '0'))
                    : json_object_get(value, *step);
    return value;
}

static void check_text(const json_t *object, size_t which, const struct bytes *line)
{
    struct doppel_corpus_record record;
    struct doppel_corpus_fields fields = {.text = wanted[which].name, .id = "no id"};
    struct parser *parser = parser_new(&fields);
    assert_non_null(parser);
    parser_line(parser, line->data, line->size - PARSE_SLACK, &record);
    const json_t *value = walk(object, which);
    if (json_is_string(value)) {
        assert_int_equal(record.error.status, DOPPEL_OK);
        assert_string_equal(record.text, json_string_value(value));
        size_t size;
        assert_non_null(parser_text_token(parser, &size));
    } else {
        assert_int_equal(record.error.status, DOPPEL_E_FORMAT);
        assert_int_equal(record.lacks_text, !value || json_is_null(value));
    }
    parser_free(parser);
}

static void paths_lead_where_a_walk_does(void **state)
{
    uint64_t seed = 4711;
    size_t objects = 0, found = 0;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct bytes line = {0};
        bytes_add_text(&line, "{");
        for (uint64_t j = random_next(&seed) % 4 + 1; j; j--) {
            bytes_add_text(&line, "\"");
            bytes_add_text(&line, names[random_next(&seed) % NAMES]);
            bytes_add_text(&line, "\":");
            add_any_value(&line, &seed, 1);
            bytes_add_text(&line, j > 1 ? "," : "}");
        }
        size_t size = line.size;
        static const char slack[PARSE_SLACK] = "}}}]]]\"\"\"";
        bytes_add(&line, slack, sizeof slack);
        json_t *object = json_loadb(line.data, size, 0, NULL);
        assert_non_null(object);
        for (size_t w = 0; w < sizeof wanted / sizeof *wanted; w++) {
            found += json_is_string(walk(object, w)) && w > 1;
            check_text(object, w, &line);
        }
        objects++;
        json_decref(object);
        bytes_free(&line);
    }
    assert_true(objects == 20000 && found > 1000);
}

/* All fields may stand in others, and several in the same one. */
static void every_field_may_be_nested(void **state)
{
    static const char line[] =
        "{\"meta\":{\"id\":7,\"from\":[{\"source\":\"s\"}],\"date\":\"2024\"},"
        "\"meta.date\":\"2025\",\"body\":[[\"x\",\"the text\"]]}";
    char bytes[sizeof line + PARSE_SLACK] = "";
    struct doppel_corpus_record record;
    struct doppel_corpus_fields fields = {.id = "meta.id",
                                          .text = "body[0][1]",
                                          .source = "meta.from[0].source",
                                          .date = "meta.date"};
    struct parser *parser = parser_new(&fields);
    (void)state;
    memcpy(bytes, line, sizeof line);
    parser_line(parser, bytes, sizeof line - 1, &record);
    assert_int_equal(record.error.status, DOPPEL_OK);
    assert_string_equal(record.id, "7");
    assert_string_equal(record.text, "the text");
    assert_string_equal(record.source, "s");
    assert_string_equal(record.date, "2025");
    for (size_t cut = 1; cut < sizeof line - 1;
         cut++) { /* what is cut is unreadable, and no more */
        memset(bytes + cut, 0, sizeof bytes - cut);
        memcpy(bytes, line, cut);
        parser_line(parser, bytes, cut, &record);
        assert_true(record.error.status && !record.text);
    }
    parser_free(parser);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_lead_where_a_walk_does),
        cmocka_unit_test(every_field_may_be_nested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
