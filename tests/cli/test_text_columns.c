/* What the view `items` says of text files: the SimHash that `hash --scheme simhash64` prints, and
 * how many words there are, whichever way the file came into the library. */
#include "command.h"

#include <jansson.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer.h"

/* Texts whose words were counted by hand, by the rules in docs/methods.md; with fewer than five
 * there is no shingle. */
static const struct {
    const char *name, *bytes;
    int words;
    bool shingles;
} texts[] = {
    {"plain.txt", "The quick brown fox jumps over the lazy dog, and the dog sleeps on.\n", 14,
     true},
    {"lines.txt", "one two\r\nthree -- four, five\r\n\r\nsix; seven (eight)", 8, true},
    {"page.html",
     "<!DOCTYPE html><html><head><title>A Page</title><script>var not_a = 'word';</script></head>"
     "<body><p>Here are <b>six</b> words &amp; more</p></body></html>",
     5, true},
    {"note.md", "# A title\n\nSome *more* words in [a link](https://example.org/none).\n", 8, true},
    {"hindi.txt", "भारत एक विशाल देश है और यहाँ बहुत लोग रहते हैं।", 11, true},
    {"han.txt", "今天天气很好我们", 8, true},
    {"russian.txt", "Все счастливые семьи похожи друг на друга", 7, true},
    {"utf16.txt",
     "\xff\xfe"
     "a\0 \0b\0 \0c\0 \0d\0 \0e\0 \0f\0",
     6, true},
    {"five.txt", "just as many as needed", 5, true},
    {"four.txt", "not quite as many", 4, false},
    {"marks.txt", "... !? --\n", 0, false},
};
enum { TEXTS = sizeof texts / sizeof *texts, UTF16_BYTES = 24 };

static void write_texts(void)
{
    make_folder("texts");
    for (size_t i = 0; i < TEXTS; i++) {
        char path[64];
        bool wide = strcmp(texts[i].name, "utf16.txt") == 0;
        snprintf(path, sizeof path, "texts/%s", texts[i].name);
        write_file(path, texts[i].bytes, wide ? UTF16_BYTES : strlen(texts[i].bytes));
    }
    write_file("texts/empty.txt", "", 0);
}

/* ---- what is there ---- */

/* The rows of a query, columns with a bar between, in one text. Given (free). */
static char *query(const char *library, const char *sql)
{
    char path[64], *text = NULL;
    size_t size;
    sqlite3 *database;
    sqlite3_stmt *statement;
    snprintf(path, sizeof path, "%s/catalogue.db", library);
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    sqlite3_busy_timeout(database, 5000);
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL))
        fail_msg("%s", sqlite3_errmsg(database));
    while (sqlite3_step(statement) == SQLITE_ROW)
        for (int i = 0, count = sqlite3_column_count(statement); i < count; i++) {
            const unsigned char *value = sqlite3_column_text(statement, i);
            fprintf(out, "%s%c", value ? (const char *)value : "NULL", i + 1 < count ? '|' : '\n');
        }
    sqlite3_finalize(statement);
    sqlite3_close(database);
    fclose(out);
    return text;
}

/* Names without folders, so that libraries of copies say the same. */
static char *columns_of(const char *library)
{
    return query(library, "SELECT replace(path, rtrim(path, replace(path, '/', '')), '') AS name,"
                          " simhash, words FROM items ORDER BY name");
}

/* Which of the texts a line of `hash` is about. */
static size_t text_of(const json_t *line)
{
    const char *path = json_string_value(json_object_get(line, "path"));
    for (size_t i = 0; i < TEXTS; i++)
        if (path && strcmp(path + strlen("texts/"), texts[i].name) == 0)
            return i;
    fail_msg("what is %s?", path ? path : "NULL");
    return 0;
}

/* The same from `hash --scheme simhash64`, which goes by name, too, and from the table above. Given
 * (free). */
static char *columns_wanted(void)
{
    char *text = NULL,
         *lines = doppel_prints(0, "hash", "--json", "--scheme", "simhash64", "texts");
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(count_lines(lines, ""), TEXTS);
    for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n")) {
        json_t *json = json_loads(line, 0, NULL);
        size_t i = text_of(json);
        const char *code = json_string_value(json_object_get(json, "code"));
        uint64_t number = code ? strtoull(code, NULL, 16) : 0;
        assert_int_equal(number != 0, texts[i].shingles);
        if (number)
            fprintf(out, "%s|%lld|%d\n", texts[i].name, (long long)number, texts[i].words);
        else
            fprintf(out, "%s|NULL|%d\n", texts[i].name, texts[i].words);
        json_decref(json);
    }
    fclose(out);
    free(lines);
    return text;
}

static void assert_columns(const char *library, const char *wanted)
{
    char *columns = columns_of(library);
    assert_string_equal(columns, wanted);
    free(columns);
}

/* ---- ways into a library ---- */

static void each_scheme_has_them(void **state)
{
    (void)state;
    static const char *const schemes[] = {"minhash128", "minhash256", "simhash64"};
    write_texts();
    char *wanted = columns_wanted();
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        struct ran ran = doppel("add", "-L", schemes[i], "--scheme", schemes[i], "texts");
        assert_code(&ran, 0);
        ran_free(&ran);
        assert_columns(schemes[i], wanted);
    }
    free(wanted);
}

/* What is too short for a passage does not come in. */
static void passages_have_them(void **state)
{
    (void)state;
    make_folder("texts");
    keep_text("texts/long.txt", write_words(3, 300));
    char *hash = doppel_prints(0, "hash", "--json", "--scheme", "simhash64", "texts/long.txt");
    free(doppel_prints(0, "add", "-L", "library", "--scheme", "winnow32", "texts"));
    char *columns = query("library", "SELECT printf('\"code\":\"%016x\",\"words\":%d', simhash,"
                                     " words) FROM items WHERE scheme = 'winnow32'");
    columns[strcspn(columns, "\n")] = '\0';
    assert_has(columns, "\"words\":300");
    assert_has(hash, columns);
    free(columns);
    free(hash);
}

/* A page without script, and a note: as the options say how they are read. */
static void options_count(void **state)
{
    (void)state;
    write_texts();
    static const char *const options[][2] = {
        {"--text-format", "plain"}, {"--shingle", "3"}, {"--unit", "characters"}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const char *name = options[i][1];
        free(doppel_prints(0, "add", "-L", name, options[i][0], name, "texts/page.html"));
        char *hash = doppel_prints(0, "hash", "--json", "--scheme", "simhash64", options[i][0],
                                   name, "texts/page.html");
        char *columns =
            query(name, "SELECT printf('\"code\":\"%016x\",\"words\":%d', simhash, words)"
                        " FROM items");
        columns[strcspn(columns, "\n")] = '\0';
        assert_has(hash, columns);
        free(columns);
        free(hash);
    }
}

static void ingested_files_have_them(void **state)
{
    (void)state;
    write_texts();
    const struct setting setting = {
        .input = "texts/plain.txt\ntexts/lines.txt\ntexts/page.html\ntexts/note.md\n"
                 "texts/hindi.txt\ntexts/han.txt\ntexts/russian.txt\ntexts/utf16.txt\n"
                 "texts/five.txt\ntexts/four.txt\ntexts/marks.txt\n"
                 "{\"id\":\"r\",\"text\":\"a record with words of its own\"}\n"};
    struct ran ran = doppel_with(&setting, "ingest", "-L", "streamed", "-");
    assert_code(&ran, 0);
    ran_free(&ran);
    ran = doppel("ingest", "-L", "named", "texts/plain.txt", "texts/page.html", "texts/four.txt");
    assert_code(&ran, 0);
    ran_free(&ran);
    char *wanted = columns_wanted(), *record;
    char *columns = query("streamed", "SELECT count(*), count(simhash), sum(words) FROM items"
                                      " WHERE record_id = 'r'");
    assert_string_equal(columns, "1|1|7\n");
    free(columns);
    record =
        query("streamed", "SELECT replace(path, rtrim(path, replace(path, '/', '')), '') AS name,"
                          " simhash, words FROM items WHERE record_id IS NULL ORDER BY name");
    assert_string_equal(record, wanted);
    free(record);
    columns = columns_of("named");
    assert_int_equal(count_lines(columns, ""), 3);
    for (char *line = strtok(columns, "\n"); line; line = strtok(NULL, "\n"))
        assert_has(wanted, line);
    free(columns);
    free(wanted);
}

/* No worker can be started: what is in the cache says all. */
static void the_cache_has_them(void **state)
{
    (void)state;
    const struct setting no_worker = {.environment = {"DOPPEL_WORKER=/nonexistent"}};
    write_texts();
    char *wanted = columns_wanted();
    free(doppel_prints(0, "add", "-L", "first", "texts"));
    struct ran ran = doppel_with(&no_worker, "add", "-L", "second", "texts");
    assert_code(&ran, 0);
    ran_free(&ran);
    assert_columns("second", wanted);
    free(wanted);
}

/* ---- ways from one library to another ---- */

/* Of the records, which have no path. */
static char *records_of(const char *library)
{
    return query(library, "SELECT record_id, simhash, words FROM items WHERE path IS NULL"
                          " ORDER BY record_id");
}

static void make_both_kinds(const char *library)
{
    const struct setting setting = {
        .input = "{\"id\":\"a\",\"text\":\"a record with words of its own\"}\n"
                 "{\"id\":\"b\",\"text\":\"too few of them\"}\n"};
    write_texts();
    free(doppel_prints(0, "add", "-L", library, "texts"));
    struct ran ran = doppel_with(&setting, "ingest", "-L", library, "-");
    assert_code(&ran, 0);
    ran_free(&ran);
}

static void libraries_pass_them_on(void **state)
{
    (void)state;
    static const char *const copies[] = {"imported", "merged", "copy"};
    make_both_kinds("first");
    char *wanted = columns_of("first"), *records = records_of("first");
    assert_int_equal(count_lines(wanted, ""), TEXTS + 2);
    assert_int_equal(count_lines(records, ""), 2);
    assert_int_equal(count_lines(records, "NULL|4"), 1);
    assert_int_equal(count_lines(records, "|7"), 1);
    char *lines = doppel_prints(0, "export", "-L", "first");
    write_file("lines.jsonl", lines, strlen(lines));
    free(lines);
    free(doppel_prints(0, "import", "-L", "imported", "lines.jsonl"));
    free(doppel_prints(0, "merge", "-L", "merged", "first"));
    free(doppel_prints(0, "backup", "-L", "merged", "copy"));
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        assert_columns(copies[i], wanted);
        char *copied = records_of(copies[i]);
        assert_string_equal(copied, records);
        free(copied);
    }
    free(records);
    free(wanted);
}

static void other_simhashes_are_refused(void **state)
{
    (void)state;
    make_both_kinds("first");
    char *lines = doppel_prints(0, "export", "-L", "first");
    char *digits = strstr(lines, "\"simhash\":\"");
    assert_non_null(digits);
    digits[strlen("\"simhash\":\"")] = 'g';
    write_file("lines.jsonl", lines, strlen(lines));
    free(lines);
    struct ran ran = doppel("import", "-L", "imported", "lines.jsonl");
    assert_code(&ran, 3);
    assert_has(ran.err, "16 hex digits");
    ran_free(&ran);
    char *records = records_of("imported");
    assert_int_equal(count_lines(records, ""), 1);
    assert_has(records, "b|NULL|4");
    free(records);
}

static void damage_leaves_them(void **state)
{
    (void)state;
    size_t size;
    write_texts();
    char *wanted = columns_wanted();
    free(doppel_prints(0, "add", "-L", "library", "texts"));
    free(doppel_prints(0, "compact", "-L", "library"));
    char *bytes = read_file("library/catalogue.db", &size);
    memset(bytes, 0, 4096);
    write_file("library/catalogue.db", bytes, size);
    free(bytes);
    free(doppel_prints(3, "verify", "-L", "library", "--repair"));
    assert_columns("library", wanted);
    /* One that is computed anew from its file. */
    free(query("library", "UPDATE fingerprint SET data = x'00' WHERE item = 2"));
    free(query("library", "UPDATE item SET simhash = NULL, words = NULL WHERE id = 2"));
    free(doppel_prints(3, "verify", "-L", "library", "--repair"));
    assert_columns("library", wanted);
    free(wanted);
}

/* As of items of an older library: known files are not read for it, but when they are asked for. */
static void older_items_get_them_when_they_are_read(void **state)
{
    (void)state;
    write_texts();
    char *wanted = columns_wanted();
    free(doppel_prints(0, "add", "-L", "library", "texts"));
    free(query("library", "UPDATE item SET simhash = NULL, words = NULL"));
    free(doppel_prints(0, "add", "-L", "library", "--refresh", "texts"));
    assert_columns("library", wanted);
    char *refreshed = query("library", "SELECT count(*) FROM decisions WHERE action = 'refreshed'");
    free(doppel_prints(0, "add", "-L", "library", "--refresh", "texts"));
    char *again = query("library", "SELECT count(*) FROM decisions WHERE action = 'refreshed'");
    assert_int_equal(atoi(refreshed), TEXTS);
    assert_string_equal(again, refreshed); /* nothing was missing any more */
    free(again);
    free(refreshed);
    free(wanted);
}

/* Near copies are found by the bits between their columns, and by nothing else. */
static void near_copies_are_near(void **state)
{
    (void)state;
    make_folder("texts");
    keep_text("texts/a.txt", write_words(1, 400));
    keep_text("texts/b.txt", replace_words(write_words(1, 400), 100));
    keep_text("texts/c.txt", write_words(2, 400));
    free(doppel_prints(0, "add", "-L", "library", "texts"));
    char *pairs = query("library", "SELECT a.id, b.id FROM items a, items b WHERE a.id < b.id AND ("
                                   "WITH RECURSIVE bit(x, n) AS (SELECT (a.simhash | b.simhash)"
                                   " - (a.simhash & b.simhash), 0 UNION ALL"
                                   " SELECT x, n + 1 FROM bit WHERE n < 63)"
                                   " SELECT sum(x >> n & 1) FROM bit) <= 12");
    assert_string_equal(pairs, "1|2\n");
    free(pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(each_scheme_has_them),
        IN_SANDBOX(passages_have_them),
        IN_SANDBOX(options_count),
        IN_SANDBOX(ingested_files_have_them),
        IN_SANDBOX(the_cache_has_them),
        IN_SANDBOX(libraries_pass_them_on),
        IN_SANDBOX(other_simhashes_are_refused),
        IN_SANDBOX(damage_leaves_them),
        IN_SANDBOX(older_items_get_them_when_they_are_read),
        IN_SANDBOX(near_copies_are_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
