/* What people said, and what the library keeps, in the groups of scan and groups. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collection.h"
#include "coprocess.h"

#define ASSERT_GROUPS(wanted, ...)                                                                 \
    do {                                                                                           \
        char *json_ = doppel_prints(0, __VA_ARGS__), *text_ = groups_as_text(json_, "");           \
        assert_string_equal(text_, wanted);                                                        \
        free(text_);                                                                               \
        free(json_);                                                                               \
    } while (0)

/* Two sizes of each of two pictures. */
static void make_images(void)
{
    assert_int_equal(mkdir("pics", 0700), 0);
    keep_drawing("pics/a.jpg", 0, 3);
    keep_image("pics/a-small.jpg", draw_image(0, 3, DRAWN_WIDTH / 2, DRAWN_HEIGHT / 2), 80);
    keep_drawing("pics/b.jpg", 3, 3);
    keep_image("pics/b-small.jpg", draw_image(3, 3, DRAWN_WIDTH / 2, DRAWN_HEIGHT / 2), 80);
}

static void a_scan_honours_marks(void **state)
{
    (void)state;
    make_images();
    ASSERT_GROUPS("pics/a-small.jpg near, pics/a.jpg kept\n"
                  "pics/b-small.jpg near, pics/b.jpg kept\n",
                  "scan", "-L", "lib", "--json", "pics");
    free(doppel_prints(0, "add", "-L", "lib", "pics/b.jpg"));
    free(doppel_prints(0, "mark", "-L", "lib", "pics/a.jpg", "pics/a-small.jpg", "--distinct"));
    ASSERT_GROUPS("pics/b-small.jpg near, pics/b.jpg kept\n", "scan", "-L", "lib", "--json",
                  "pics");
    ASSERT_GROUPS("pics/a-small.jpg near, pics/a.jpg kept\n"
                  "pics/b-small.jpg near, pics/b.jpg kept\n",
                  "scan", "-L", "none", "--json", "pics");
    /* By content: the files may have other names. */
    assert_int_equal(rename("pics/a.jpg", "pics/other.jpg"), 0);
    free(doppel_prints(0, "mark", "-L", "lib", "pics/other.jpg", "pics/b.jpg", "--same"));
    ASSERT_GROUPS("pics/b-small.jpg near, pics/b.jpg kept, pics/other.jpg marked\n", "scan", "-L",
                  "lib", "--json", "pics");
    free(doppel_prints(0, "mark", "-L", "lib", "pics/other.jpg", "pics/b.jpg", "--forget"));
    ASSERT_GROUPS("pics/b-small.jpg near, pics/b.jpg kept\n", "scan", "-L", "lib", "--json",
                  "pics");
}

/* A word counts more than equal pixels, or equal words of a text; of the same bytes there is none.
 */
static void what_is_the_same_may_be_distinct(void **state)
{
    (void)state;
    static const char words[] = "one two three four five six seven eight nine ten eleven twelve";
    static const char again[] = "One two three four five six seven eight nine ten eleven twelve!";
    size_t size;
    assert_int_equal(mkdir("pics", 0700), 0);
    keep_image("pics/a.png", draw_image(0, 3, DRAWN_WIDTH, DRAWN_HEIGHT), 0);
    char *data = read_file("pics/a.png", &size);
    data[size] = 'x'; /* another file of the same pixels */
    write_file("pics/b.png", data, size + 1);
    write_file("pics/c.png", data, size + 1);
    free(data);
    write_file("pics/t.txt", words, strlen(words));
    write_file("pics/u.txt", again, strlen(again));
    write_file("pics/v.txt", again, strlen(again));
    free(doppel_prints(0, "ingest", "-L", "lib", "pics/a.png", "pics/t.txt"));
    free(doppel_prints(0, "mark", "-L", "lib", "pics/a.png", "pics/b.png", "--distinct"));
    free(doppel_prints(0, "mark", "-L", "lib", "pics/t.txt", "pics/u.txt", "--distinct"));
    static const char groups[] = "pics/b.png kept, pics/c.png identical\n"
                                 "pics/u.txt kept, pics/v.txt identical\n";
    ASSERT_GROUPS(groups, "scan", "-L", "lib", "--json", "--keep", "name", "pics");
    char *out = doppel_prints(0, "ingest", "-L", "lib", "--json", "pics");
    assert_int_equal(count_lines(out, "\"decision\":\"new\""), 2);
    assert_int_equal(count_lines(out, "\"reason\":\"identical\""), 2);
    free(out);
    out = doppel_prints(0, "groups", "-L", "lib", "--json", "--keep", "name");
    assert_int_equal(count_lines(out, ""), 2);
    assert_lacks(out, "a.png");
    assert_lacks(out, "t.txt");
    free(out);
}

/* Whether a line has both. */
static bool are_together(const char *json, const char *a, const char *b)
{
    bool found = false;
    for (const char *line = json; *line && !found;) {
        size_t length = strcspn(line, "\n");
        char *copy = strndup(line, length);
        found = strstr(copy, a) && strstr(copy, b);
        free(copy);
        line += length + (line[length] == '\n');
    }
    return found;
}

/* Four sizes of a picture, one of them twice. */
static void make_sizes(void)
{
    assert_int_equal(mkdir("pics", 0700), 0);
    keep_drawing("pics/1.jpg", 0, 3);
    keep_image("pics/2.jpg", draw_image(0, 3, DRAWN_WIDTH / 2, DRAWN_HEIGHT / 2), 80);
    keep_image("pics/3.jpg", draw_image(0, 3, DRAWN_WIDTH / 3, DRAWN_HEIGHT / 3), 80);
    keep_image("pics/4.jpg", draw_image(0, 3, DRAWN_WIDTH / 4, DRAWN_HEIGHT / 4), 80);
    keep_image("pics/5.jpg", draw_image(0, 3, DRAWN_WIDTH / 3, DRAWN_HEIGHT / 3), 80);
}

/* Two that follow the same one are told apart, whichever came first: with all that has their bytes.
 */
static void no_group_holds_two_that_are_distinct(void **state)
{
    (void)state;
    static const char parted[] = "pics/1.jpg kept, pics/2.jpg near, pics/4.jpg near\n"
                                 "pics/3.jpg kept, pics/5.jpg identical\n";
    make_sizes();
    ASSERT_GROUPS("pics/1.jpg kept, pics/2.jpg near, pics/3.jpg near, pics/4.jpg near, pics/5.jpg "
                  "near\n",
                  "scan", "-L", "lib", "--json", "--keep", "name", "pics");
    free(doppel_prints(0, "ingest", "-L", "lib", "pics"));
    free(doppel_prints(0, "mark", "-L", "lib", "pics/5.jpg", "pics/2.jpg", "--distinct"));
    ASSERT_GROUPS(parted, "scan", "-L", "lib", "--json", "--keep", "name", "pics");
    char *json = doppel_prints(0, "groups", "-L", "lib", "--json");
    assert_int_equal(count_lines(json, ""), 2);
    assert_false(are_together(json, "2.jpg", "3.jpg") || are_together(json, "2.jpg", "5.jpg"));
    free(json);
    /* Of the links, too: the first of those who leave leads the others. */
    json = doppel_prints(0, "list", "-L", "lib", "--json", "--where",
                         "leader != id AND (SELECT path FROM items b WHERE b.id = items.leader) "
                         "LIKE '%/1.jpg'");
    assert_int_equal(count_lines(json, ""), 2);
    free(json);
    json = doppel_prints(0, "list", "-L", "lib", "--json", "--where",
                         "path LIKE '%/5.jpg' AND (SELECT path FROM items b WHERE b.id = "
                         "items.leader) LIKE '%/3.jpg'");
    assert_int_equal(count_lines(json, ""), 1);
    free(json);
}

/* Said before they come in: who leads one of the two is passed over by the other. */
static void ingest_lets_no_two_into_a_group_that_are_distinct(void **state)
{
    (void)state;
    make_sizes();
    free(doppel_prints(0, "ingest", "-L", "lib", "pics/1.jpg"));
    free(doppel_prints(0, "mark", "-L", "lib", "pics/2.jpg", "pics/3.jpg", "--distinct"));
    char *json = doppel_prints(0, "ingest", "-L", "lib", "--json", "pics");
    assert_int_equal(count_lines(json, "\"decision\":\"new\""), 1);
    assert_int_equal(count_lines(json, "\"reason\":\"near\""), 2);
    assert_int_equal(count_lines(json, "\"reason\":\"identical\""), 1);
    assert_true(are_together(json, "3.jpg", "\"decision\":\"new\""));
    free(json);
    json = doppel_prints(0, "check", "-L", "lib", "--json", "pics/3.jpg");
    assert_has(json, "\"reason\":\"known\"");
    free(json);
}

#define RECORD(id, word)                                                                           \
    "{\"id\":\"" id                                                                                \
    "\",\"text\":\"The fire brigade pumped water out of forty cellars on Sunday night, "           \
    "while the river rose by ten centimetres an hour, and the schools of the lower town stayed "   \
    "closed until " word ".\"}\n"

static void send_lines(const struct coprocess *coprocess, const char *lines)
{
    assert_int_equal(write(coprocess->to, lines, strlen(lines)), strlen(lines));
}

static void assert_leaders(const char *wanted)
{
    char *json = doppel_prints(0, "list", "-L", "library", "--json"), text[200] = "";
    for (const char *at = json; (at = strstr(at, "\"record\":")); at++) {
        char record[8] = "";
        unsigned leader = 0;
        const char *follows = strstr(at, "\"leader\":");
        const char *end = strchr(at, '\n');
        assert_int_equal(sscanf(at, "\"record\":\"%7[^\"]\"", record), 1);
        if (follows && follows < end)
            assert_int_equal(sscanf(follows, "\"leader\":%u", &leader), 1);
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s %u, ", record, leader);
    }
    assert_string_equal(text, wanted);
    free(json);
}

/* Records of texts follow by what people say as files do, also in a process that runs on. */
static void records_are_told_apart_and_joined(void **state)
{
    (void)state;
    static const char first[] =
        RECORD("a", "Monday") RECORD("b", "Tuesday") RECORD("c", "Friday") RECORD("d", "Tuesday");
    static const char later[] = RECORD("e", "Tuesday"), last[] = RECORD("f", "Friday");
    char line[4096];
    struct coprocess running = coprocess_start(NULL);
    send_lines(&running, first);
    for (int i = 0; i < 4; i++)
        coprocess_read(&running, line, sizeof line);
    assert_leaders("a 0, b 1, c 1, d 1, ");
    free(doppel_prints(0, "mark", "-L", "library", "id:a", "id:b", "--distinct"));
    assert_leaders("a 0, b 0, c 1, d 2, ");
    send_lines(&running, later);
    coprocess_read(&running, line, sizeof line);
    assert_has(line, "\"of\":\"b\",");
    free(doppel_prints(0, "mark", "-L", "library", "id:a", "id:b", "--forget"));
    free(doppel_prints(0, "mark", "-L", "library", "id:b", "id:c", "--same"));
    assert_leaders("a 0, b 1, c 1, d 1, e 1, ");
    free(doppel_prints(0, "mark", "-L", "library", "id:b", "id:c", "--forget"));
    free(doppel_prints(0, "mark", "-L", "library", "id:c", "id:b", "--distinct"));
    send_lines(&running, last);
    coprocess_read(&running, line, sizeof line);
    assert_int_equal(coprocess_end(&running), 0);
    assert_leaders("a 0, b 1, c 0, d 1, e 1, f 3, ");
    char *out = doppel_prints(0, "log", "-L", "library", "id:c");
    assert_has(out, "a person said that it is not the same as item 2");
    free(out);
    free(doppel_prints(0, "verify", "-L", "library"));
}

static void the_policy_chooses(void **state)
{
    (void)state;
    make_images();
    ASSERT_GROUPS("pics/a-small.jpg near, pics/a.jpg kept\n"
                  "pics/b-small.jpg near, pics/b.jpg kept\n",
                  "scan", "--json", "--keep", "resolution", "pics");
    /* Of the same age the order of names decides. */
    ASSERT_GROUPS("pics/a-small.jpg kept, pics/a.jpg near\n"
                  "pics/b-small.jpg kept, pics/b.jpg near\n",
                  "scan", "--json", "--keep", "depth", "pics");
    struct ran ran = doppel("scan", "--keep", "beauty", "pics");
    assert_code(&ran, 2);
    assert_has(ran.err, "'beauty' is nothing to keep by; there are authority");
    ran_free(&ran);
}

/* The path that a group keeps ends in this name. */
static void assert_keeps(const char *json, const char *name)
{
    char wanted[80];
    snprintf(wanted, sizeof wanted, "/%s\",\"savable\"", name);
    assert_has(json, wanted);
}

static void a_library_keeps_by_source_and_lists(void **state)
{
    (void)state;
    make_images();
    free(doppel_prints(0, "add", "-L", "lib", "pics/a.jpg", "pics/b.jpg", "pics/b-small.jpg"));
    free(doppel_prints(0, "add", "-L", "lib", "--source", "pib.gov.in", "pics/a-small.jpg"));
    char *json = doppel_prints(0, "groups", "-L", "lib", "--json");
    assert_keeps(json, "a.jpg");
    assert_keeps(json, "b.jpg");
    free(json);
    free(doppel_prints(0, "source", "set", "-L", "lib", "*.gov.in", "100"));
    json = doppel_prints(0, "groups", "-L", "lib", "--json");
    assert_keeps(json, "a-small.jpg");
    assert_keeps(json, "b.jpg");
    free(json);
    struct ran ran = doppel("groups", "-L", "lib", "--protect", "b*.jpg", "--protect", "c.jpg");
    assert_code(&ran, 0);
    assert_has(ran.err, "'c.jpg' protects none of these files");
    assert_lacks(ran.err, "'b*.jpg'");
    ran_free(&ran);
    /* Around what is benign there is no group; what is disabled is in none. */
    free(doppel_prints(0, "tag", "-L", "lib", "--list", "stock", "2"));
    free(doppel_prints(0, "lists", "set", "-L", "lib", "stock", "--state", "benign"));
    json = doppel_prints(0, "groups", "-L", "lib", "--json");
    assert_int_equal(count_lines(json, ""), 1);
    assert_keeps(json, "a-small.jpg");
    free(json);
    json = doppel_prints(0, "groups", "-L", "lib", "--json", "--where", "width > 400");
    assert_string_equal(json, ""); /* one of each */
    free(json);
    free(doppel_prints(0, "tag", "-L", "lib", "--list", "old", "1"));
    free(doppel_prints(0, "lists", "set", "-L", "lib", "old", "--state", "disabled"));
    json = doppel_prints(0, "groups", "-L", "lib", "--json");
    assert_string_equal(json, "");
    free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(a_scan_honours_marks),
        IN_SANDBOX(what_is_the_same_may_be_distinct),
        IN_SANDBOX(no_group_holds_two_that_are_distinct),
        IN_SANDBOX(ingest_lets_no_two_into_a_group_that_are_distinct),
        IN_SANDBOX(records_are_told_apart_and_joined),
        IN_SANDBOX(the_policy_chooses),
        IN_SANDBOX(a_library_keeps_by_source_and_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
