/* tune: labelled pairs in, a ladder of limits and a chart out. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collection.h"

static void write_text(const char *path, const char *text)
{
    write_file(path, text, strlen(text));
}

/* a.jpg and a.png are the same picture, and so are b.jpg and b.png. */
static void make_images(void)
{
    make_folder("pics");
    keep_drawing("pics/a.jpg", 0, 1);
    keep_image("pics/a.png", draw_image(0, 1, 320, 240), 0);
    keep_drawing("pics/b, 2.jpg", 5, 1);
    keep_image("pics/b.png", draw_image(5, 1, 320, 240), 0);
}

static const char labels[] = "first,second,same\r\n"
                             "a.jpg,a.png,1\r\n"
                             "\"b, 2.jpg\",b.png,YES\r\n"
                             "\r\n"
                             "a.jpg,b.png,0\r\n"
                             "a.jpg,\"b, 2.jpg\",no,\"a remark\non two lines\"\r\n";

static void pairs_are_counted(void **state)
{
    (void)state;
    make_images();
    write_text("pics/labels.csv", labels);
    char *json = doppel_prints(0, "tune", "--json", "pics/labels.csv");
    assert_int_equal(count_lines(json, ""), 16); /* the default threshold, .30 to 1 */
    assert_int_equal(count_lines(json, "\"duplicates\":2,"), 16);
    assert_int_equal(count_lines(json, "\"distinct\":2,"), 16);
    assert_int_equal(count_lines(json, "\"usual\":true,\"caught\":2,"), 1);
    assert_int_equal(count_lines(json, "\"recommended\":true"), 1);
    assert_has(json, "\"limit\":{\"min_similarity\":0.7},\"usual\":false,\"caught\":2,"
                     "\"duplicates\":2,\"caught_share\":1.0,\"false\":0,\"distinct\":2,"
                     "\"false_share\":0.0");
    free(json);
}

static void formats_and_standard_input(void **state)
{
    (void)state;
    make_images();
    const struct setting input = {.input = "\xEF\xBB\xBFpics/a.jpg,pics/a.png,true\n"
                                           "pics/a.jpg,pics/b.png,false"};
    struct ran ran = doppel_with(&input, "tune", "--format", "csv", "-");
    assert_code(&ran, 0);
    assert_has(ran.out, "limit.min_similarity");
    assert_int_equal(count_lines(ran.out, "image,phash64"), 16);
    assert_has(ran.err, "recommended: the default threshold");
    ran_free(&ran);
    ran = doppel_with(&input, "tune", "-");
    assert_code(&ran, 0);
    assert_has(ran.out, "min similarity");
    ran_free(&ran);
}

/* A text of 200 words, every `step`th of which is another one than in others; 0: none. */
static void write_words(const char *path, unsigned first, unsigned count, unsigned step)
{
    char text[8192];
    size_t size = 0;
    for (unsigned i = first; i < first + count; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "%s%u%s",
                                 step && i % step == 0 ? "other" : "word", i * i % 9973,
                                 i % 10 ? " " : ".\n");
    write_file(path, text, size);
}

static void texts_are_judged(void **state)
{
    (void)state;
    write_words("a.txt", 1, 200, 0);
    write_words("edited.txt", 1, 200, 40); /* the last word among them */
    write_words("beginning.txt", 1, 100, 0);
    write_words("strange.txt", 500, 200, 0);
    write_text("labels.csv", "a.txt,edited.txt,1\na.txt,beginning.txt,1\n"
                             "a.txt,strange.txt,0\nbeginning.txt,strange.txt,0\n");
    struct ran ran = doppel("tune", "--json", "labels.csv", "--chart", "chart.svg");
    assert_code(&ran, 0);
    assert_int_equal(count_lines(ran.out, "\"kind\":\"text\",\"scheme\":\"minhash128\""), 16);
    /* 21 of 196 shingles are other ones: (196 - 21) / (196 + 21) = .81; the beginning is contained.
     */
    assert_has(ran.out, "{\"min_similarity\":0.8},\"usual\":false,\"caught\":2,");
    assert_has(ran.out, "{\"min_similarity\":0.85},\"usual\":false,\"caught\":1,");
    assert_has(ran.out, "{\"min_similarity\":1.0},\"usual\":false,\"caught\":1,");
    assert_int_equal(count_lines(ran.out, "\"false\":0,"), 16);
    assert_has(ran.err, "text: recommended: the default threshold");
    ran_free(&ran);
    ran = doppel("tune", "--json", "--preset", "ocr", "labels.csv");
    assert_code(&ran, 0);
    ran_free(&ran);
}

/* Kinds are counted for themselves, and a pair of two kinds is none. */
static void kinds_are_kept_apart(void **state)
{
    (void)state;
    make_images();
    write_words("a.txt", 1, 200, 0);
    write_words("b.txt", 300, 200, 0);
    write_text("labels.csv", "pics/a.jpg,pics/a.png,1\npics/a.jpg,pics/b.png,0\n"
                             "a.txt,b.txt,0\na.txt,pics/a.jpg,0\n");
    struct ran ran = doppel("tune", "--json", "labels.csv", "--chart", "chart.svg");
    assert_code(&ran, 3);
    assert_has(ran.err, "labels.csv:4: the two are of different kinds");
    assert_int_equal(count_lines(ran.out, "\"kind\":\"image\""), 16);
    assert_int_equal(count_lines(ran.out, "\"kind\":\"text\""), 16);
    ran_free(&ran);
}

/* When all labels are turned round, no limit will do. */
static void nothing_is_recommended_that_is_wrong(void **state)
{
    (void)state;
    make_images();
    write_text("labels.csv", "pics/a.jpg,pics/a.png,no\npics/a.jpg,pics/b.png,yes\n");
    struct ran ran = doppel("tune", "--json", "labels.csv");
    assert_code(&ran, 0);
    assert_lacks(ran.out, "\"recommended\":true");
    assert_has(ran.err, "no threshold catches any");
    ran_free(&ran);
    write_text("labels.csv", "pics/a.jpg,pics/a.png,yes\n");
    ran = doppel("tune", "--json", "labels.csv");
    assert_code(&ran, 0);
    assert_has(ran.err, "pairs of both labels");
    ran_free(&ran);
}

static void broken_lines_cost_no_other(void **state)
{
    (void)state;
    make_images();
    write_text("pics/labels.csv", "a.jpg,a.png,1\n"
                                  "a.jpg,b.png,perhaps\n"
                                  "a\"x\",b.png,0\n"
                                  "a.jpg\n"
                                  ",b.png,0\n"
                                  "gone.jpg,b.png,0\n"
                                  "a.jpg,.,0\n"
                                  "a.jpg,b.png,0\n"
                                  "\"never closed,b.png,0\n");
    struct ran ran = doppel("tune", "--json", "pics/labels.csv");
    assert_code(&ran, 3);
    static const char *const places[] = {
        "labels.csv:2: ", "labels.csv:3: ", "labels.csv:4: ",  "labels.csv:5: ",
        "labels.csv:9: ", "gone.jpg: ",     "pics/.: a folder"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        assert_has(ran.err, places[i]);
    assert_lacks(ran.err, "labels.csv:1: ");
    assert_lacks(ran.err, "labels.csv:8: ");
    assert_int_equal(count_lines(ran.out, "\"duplicates\":1,"), 16);
    assert_int_equal(count_lines(ran.out, "\"distinct\":1,"), 16);
    ran_free(&ran);
}

static void without_a_pair_it_ends_with_2(void **state)
{
    (void)state;
    write_text("labels.csv", "first,second,same\n");
    struct ran ran = doppel("tune", "labels.csv");
    assert_code(&ran, 2);
    assert_has(ran.err, "no pair");
    ran_free(&ran);
    ran = doppel("tune", "missing.csv");
    assert_code(&ran, 3); /* no file that is not there ends with 2 */
    assert_has(ran.err, "missing.csv: cannot be opened");
    ran_free(&ran);
}

/* A line of 3 MiB is given up, the next is read. */
static void a_long_line_is_given_up(void **state)
{
    enum { LONG = 3 << 20 };
    static const char rest[] = "\na.jpg,a.png,1\n";
    (void)state;
    make_images();
    char *text = malloc(LONG + sizeof rest);
    assert_non_null(text);
    memset(text, 'x', LONG);
    text[0] = '"';
    memcpy(text + LONG, rest, sizeof rest - 1);
    write_file("pics/labels.csv", text, LONG + sizeof rest - 1);
    struct ran ran = doppel("tune", "--json", "pics/labels.csv");
    assert_code(&ran, 3);
    assert_has(ran.err, "labels.csv:1: a row of more than 1 MiB");
    assert_int_equal(count_lines(ran.out, "\"duplicates\":1,"), 16);
    ran_free(&ran);
    free(text);
}

static void the_chart_is_drawn(void **state)
{
    (void)state;
    size_t size;
    make_images();
    write_text("pics/labels.csv", labels);
    free(doppel_prints(0, "tune", "pics/labels.csv", "--chart", "chart.svg"));
    char *svg = read_file("chart.svg", &size);
    assert_has(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    assert_has(svg, "image by phash64: 2 pairs that are the same, 2 that are not");
    assert_has(svg, "<polyline class=\"caught\"");
    assert_has(svg, "<polyline class=\"wrong\"");
    assert_has(svg, "prefers-color-scheme: dark");
    assert_has(svg, "</svg>\n");
    free(svg);
    struct ran ran = doppel("tune", "pics/labels.csv", "--chart", "nowhere/chart.svg");
    assert_code(&ran, 2);
    assert_has(ran.err, "nowhere/chart.svg: cannot be written");
    ran_free(&ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(pairs_are_counted),
        IN_SANDBOX(formats_and_standard_input),
        IN_SANDBOX(texts_are_judged),
        IN_SANDBOX(kinds_are_kept_apart),
        IN_SANDBOX(nothing_is_recommended_that_is_wrong),
        IN_SANDBOX(broken_lines_cost_no_other),
        IN_SANDBOX(without_a_pair_it_ends_with_2),
        IN_SANDBOX(a_long_line_is_given_up),
        IN_SANDBOX(the_chart_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
