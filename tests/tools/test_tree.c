/* Groups for people: columns that stand under each other, whatever the names are made of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/output/formats.h"
#include "core/text/printable.h"

static char *tree_of(const char *json, bool color, size_t columns)
{
    char *text = NULL;
    size_t size;
    json_t *row = json_loads(json, 0, NULL);
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(row);
    assert_non_null(stream);
    tree_print(stream, row, color, columns);
    fclose(stream);
    json_decref(row);
    return text;
}

static const char images[] =
    "{\"group\":3,\"kind\":\"image\",\"keep\":\"a.png\",\"savable\":1200,\"members\":["
    "{\"path\":\"a.png\",\"size\":80000,\"width\":800,\"height\":600,\"reason\":\"kept\"},"
    "{\"path\":\"b\\n.png\",\"size\":1100,\"width\":80,\"height\":60,\"reason\":\"near\","
    "\"relation\":\"same\",\"distance\":3,\"bits\":64,\"similarity\":0.9987,"
    "\"transform\":{\"mirrored\":true,\"rotated\":90}},"
    "{\"path\":\"\\u65e5.png\",\"size\":100,\"width\":800,\"height\":600,\"reason\":\"identical\","
    "\"distance\":0,\"similarity\":1.0,\"reference\":true}]}";

static void draws_a_tree(void **state)
{
    (void)state;
    char *text = tree_of(images, false, 0);
    assert_string_equal(
        text, "3  image, 3 files: 1.2 kB could be saved\n"
              "   \u25cf keep                     80 kB  800\u00d7600                       a.png\n"
              "   \u251c near        99%  3/64   1.1 kB    80\u00d760  mirrored turned 90\u00b0  "
              "b\\n.png\n"
              "   \u2514 identical                100 B  800\u00d7600  reference            "
              "\u65e5.png\n\n");
    free(text);
}

static void is_coloured_where_wanted(void **state)
{
    (void)state;
    char *text = tree_of(images, true, 0), *plain = tree_of(images, false, 0), *out = text;
    for (char *in = text; *in; in++)
        if (*in == '\033')
            in += strcspn(in, "m");
        else
            *out++ = *in;
    *out = '\0';
    assert_string_equal(text, plain);
    free(text);
    free(plain);
}

static void says_nothing_of_what_cannot_be_saved(void **state)
{
    (void)state;
    char *text = tree_of("{\"group\":1,\"kind\":\"text\",\"savable\":0,\"members\":["
                         "{\"path\":\"a\",\"size\":0,\"reason\":\"kept\"}]}",
                         false, 0);
    assert_int_equal(strncmp(text, "1  text, 1 files\n", 17), 0);
    free(text);
}

/* No line is wider than the terminal, and what is cut keeps its beginning and its end. */
static void fits_into_the_terminal(void **state)
{
    (void)state;
    static const char *const names[] = {
        "/home/someone/Pictures/2019/holidays in France/IMG_20190701.jpg",
        "/\u65e5\u672c\u8a9e/\u65e5\u672c\u8a9e\u65e5\u672c\u8a9e\u65e5\u672c\u8a9e\u65e5\u672c/"
        "\u65e5\u672c\u8a9e.jpg",
        "/a\u0301e\u0301/\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
        "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9/x.jpg",
        "/x/short.jpg"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t columns = 48; columns < 110; columns++) {
            char json[512];
            snprintf(json, sizeof json,
                     "{\"group\":1,\"kind\":\"text\",\"savable\":5,\"members\":[{\"path\":\"%s\","
                     "\"size\":5,\"reason\":\"kept\"}]}",
                     names[i]);
            char *text = tree_of(json, false, columns), *line = strchr(text, '\n') + 1;
            *strchr(line, '\n') = '\0';
            assert_true(utf8_valid(line));
            assert_in_range(display_width(line), 1, columns);
            bool cut = strstr(line, "\u2026") != NULL;
            char *whole = strstr(line, names[i]);
            assert_int_equal(cut, whole == NULL);
            assert_string_equal(line + strlen(line) - 4, ".jpg");
            if (cut) /* as much is shown as there is room for, but for half of a wide character */
                assert_in_range(display_width(line), columns - 3, columns);
            free(text);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_a_tree),
        cmocka_unit_test(is_coloured_where_wanted),
        cmocka_unit_test(says_nothing_of_what_cannot_be_saved),
        cmocka_unit_test(fits_into_the_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
