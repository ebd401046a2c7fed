/* Paragraphs that recur, against counting them one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "corpus/dedup/key_counter.h"
#include "corpus/paragraphs/paragraph.h"
#include "corpus/paragraphs/strip.h"
#include "files.h"

/* ---- cutting ---- */

static void expect_cut(const char *text, const char *const *wanted, size_t count)
{
    struct paragraph_cutter cutter;
    struct paragraph paragraph;
    size_t at = 0, end = 0;
    paragraphs_begin(&cutter, text, strlen(text));
    for (; paragraphs_next(&cutter, &paragraph); at++) {
        assert_true(at < count);
        assert_int_equal(paragraph.size, strlen(wanted[at]));
        assert_memory_equal(paragraph.bytes, wanted[at], paragraph.size);
        assert_ptr_equal(text + end + paragraph.gap, paragraph.bytes);
        end += paragraph.gap + paragraph.size;
    }
    assert_int_equal(at, count);
}

#define EXPECT_CUT(text, ...)                                                                      \
    expect_cut(text, (const char *[]){__VA_ARGS__},                                                \
               sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *))

static void test_where_paragraphs_are_cut(void **state)
{
    (void)state;
    expect_cut("", NULL, 0);
    expect_cut("\n \n--\n\xC2\xA0\n", NULL, 0);
    EXPECT_CUT("one", "one");
    EXPECT_CUT("one\ntwo\nthree\n", "one", "two", "three");
    EXPECT_CUT("\n\none\ntwo\n\n", "one", "two");
    EXPECT_CUT("one\ntwo\n\nthree\nfour", "one\ntwo", "three\nfour");
    EXPECT_CUT("one\r\ntwo\r\n\r\n three\r\n", "one\r\ntwo", " three");
    EXPECT_CUT("one\n -----\ntwo\n .\n\xE3\x80\x80\nthree", "one", "two", "three");
    EXPECT_CUT("\xC3\xA4\n\n\xE4\xB8\xAD", "\xC3\xA4", "\xE4\xB8\xAD");
}

static void test_what_is_left(void **state)
{
    (void)state;
    static const char text[] = "\none\n\ntwo\n\n\nthree\n--\nfour\n";
    static const struct {
        bool dropped[4];
        const char *left;
    } cases[] = {
        {{0, 0, 0, 0}, text},
        {{1, 0, 0, 0}, "two\n\n\nthree\n--\nfour\n"},
        {{0, 1, 0, 0}, "\none\n\n\nthree\n--\nfour\n"},
        {{0, 0, 0, 1}, "\none\n\ntwo\n\n\nthree"},
        {{1, 0, 1, 1}, "two"},
        {{1, 1, 1, 1}, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buffer out = {0};
        assert_true(strip_text(text, sizeof text - 1, cases[i].dropped, &out));
        assert_int_equal(out.size, strlen(cases[i].left));
        if (out.size)
            assert_memory_equal(out.bytes, cases[i].left, out.size);
        buffer_free(&out);
    }
}

/* ---- counting keys ---- */

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void check_counts(uint64_t memory, uint64_t limit, uint64_t mask)
{
    enum { KEYS = 50000 };
    struct key_counter *counter;
    assert_int_equal(key_counter_new(memory, "/tmp", &counter, NULL), DOPPEL_OK);
    uint64_t *keys = malloc(KEYS * sizeof *keys), seed = mask + limit;
    for (size_t i = 0; i < KEYS; i++)
        keys[i] = random_next(&seed) & mask;
    for (size_t i = 0; i < KEYS; i += 500)
        assert_int_equal(key_counter_add(counter, keys + i, 500, NULL), DOPPEL_OK);
    struct key_table table;
    assert_int_equal(key_counter_finish(counter, limit, &table, NULL), DOPPEL_OK);
    qsort(keys, KEYS, sizeof *keys, compare_u64);
    size_t kept = 0, distinct = 0, repeated = 0;
    for (size_t i = 0, next; i < KEYS; i = next) {
        for (next = i; next < KEYS && keys[next] == keys[i];)
            next++;
        distinct++;
        repeated += next - i > 1;
        size_t found = key_table_find(&table, keys[i]);
        if (next - i > limit) {
            assert_int_equal(found, kept++);
            assert_int_equal(table.counts[found], next - i);
        } else {
            assert_int_equal(found, SIZE_MAX);
        }
    }
    assert_int_equal(table.count, kept);
    assert_int_equal(table.distinct, distinct);
    assert_int_equal(table.repeated, repeated);
    key_table_free(&table);
    key_counter_free(counter);
    free(keys);
}

static void test_keys_are_counted(void **state)
{
    (void)state;
    static const uint64_t masks[] = {0, 0xFFF0000000000000u, 0x000000000000FFFFu,
                                     0x0F0F0000000000FFu, UINT64_MAX};
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++)
        for (uint64_t limit = 1; limit < 20; limit += 6) {
            check_counts(0, limit, masks[i]);
            check_counts(600000, limit, masks[i]);
        }
}

static void test_too_many_for_the_memory_is_said(void **state)
{
    (void)state;
    struct key_counter *counter;
    assert_int_equal(key_counter_new(1 << 16, "/tmp", &counter, NULL), DOPPEL_OK);
    uint64_t seed = 3;
    for (int i = 0; i < 100000; i++) {
        uint64_t key = random_next(&seed);
        assert_int_equal(key_counter_add(counter, (uint64_t[]){key, key}, 2, NULL), DOPPEL_OK);
    }
    struct key_table table;
    struct doppel_error error;
    assert_int_equal(key_counter_finish(counter, 1, &table, &error), DOPPEL_E_LIMIT);
    assert_non_null(strstr(error.message, "--max-documents"));
    key_counter_free(counter);
}

/* ---- whole corpora ---- */

enum { RECORDS = 700, VOCABULARY = 60, MOST = 12 };

/* The corpus as it was made: paragraphs of a vocabulary, between separators. */
struct made {
    size_t count;
    size_t paragraphs[MOST];
};

struct corpus {
    struct made records[RECORDS];
    struct bytes file;
};

/* Number i in one of several ways to write it that normalise to the same. */
static void add_paragraph(struct bytes *text, size_t number, uint64_t *seed)
{
    static const char *const forms[] = {
        "Paragraph w%zu, of\\nsome words.", "paragraph w%zu of some words",
        "PARAGRAPH W%zu \\\"of\\\" some words!", "Paragraph  w%zu of some words"};
    char paragraph[128];
    snprintf(paragraph, sizeof paragraph, forms[random_next(seed) % 4], number);
    bytes_add_text(text, paragraph);
}

static void make_corpus(struct corpus *corpus, uint64_t seed)
{
    static const char *const separators[] = {"\\n\\n", "\\n---\\n", "\\r\\n\\r\\n", "\\n \\n\\n"};
    *corpus = (struct corpus){0};
    for (size_t i = 0; i < RECORDS; i++) {
        struct made *made = &corpus->records[i];
        char head[64];
        snprintf(head, sizeof head, "{ \"n\" : [1,{}], \"id\":\"r%zu\", \"text\" : \"", i);
        bytes_add_text(&corpus->file, head);
        made->count = random_next(&seed) % MOST;
        for (size_t j = 0; j < made->count; j++) {
            /* Some come often, some seldom. */
            size_t range = 1 + random_next(&seed) % VOCABULARY;
            made->paragraphs[j] = random_next(&seed) % range;
            if (j)
                bytes_add_text(&corpus->file, separators[random_next(&seed) % 4]);
            add_paragraph(&corpus->file, made->paragraphs[j], &seed);
        }
        /* So that a text of one paragraph is not cut into its lines. */
        bytes_add_text(&corpus->file, made->count == 1 ? "\\n\\nOnly r" : "\\n\\nr");
        snprintf(head, sizeof head, "%zu\", \"more\":\"\\u00e4\" }\n", i);
        bytes_add_text(&corpus->file, head);
    }
}

static size_t documents_with(const struct corpus *corpus, size_t paragraph)
{
    size_t documents = 0;
    for (size_t i = 0; i < RECORDS; i++)
        for (size_t j = 0; j < corpus->records[i].count; j++)
            if (corpus->records[i].paragraphs[j] == paragraph) {
                documents++;
                break;
            }
    return documents;
}

struct checking {
    const struct corpus *corpus;
    uint64_t limit;
    bool seen[VOCABULARY];
    size_t last_record, last_number; /* of the paragraph visited last */
    size_t records;
    struct bytes output; /* all that was told */
};

static bool check_paragraph(void *context, const struct doppel_paragraph *paragraph)
{
    struct checking *checking = context;
    char text[256], head[400];
    snprintf(text, sizeof text, "%.*s", (int)paragraph->text_size, paragraph->text);
    const char *word = strpbrk(text + 5, "wW");
    assert_non_null(word);
    size_t number = strtoul(word + 1, NULL, 10), record = paragraph->line - 1;
    assert_false(checking->seen[number]);
    checking->seen[number] = true;
    assert_int_equal(paragraph->documents, documents_with(checking->corpus, number));
    assert_true(paragraph->documents > checking->limit);
    /* Its first place, and after that of the one before. */
    for (size_t i = 0; i < record; i++)
        for (size_t j = 0; j < checking->corpus->records[i].count; j++)
            assert_int_not_equal(checking->corpus->records[i].paragraphs[j], number);
    assert_int_equal(checking->corpus->records[record].paragraphs[paragraph->number - 1], number);
    assert_true(record > checking->last_record ||
                (record == checking->last_record && paragraph->number > checking->last_number));
    checking->last_record = record;
    checking->last_number = paragraph->number;
    snprintf(head, sizeof head, "r%zu", record);
    assert_string_equal(paragraph->id, head);
    snprintf(head, sizeof head, "%s %lu %s\n", paragraph->id, (unsigned long)paragraph->number,
             text);
    bytes_add_text(&checking->output, head);
    return true;
}

static size_t count_numbers(const char *text, size_t *numbers)
{
    size_t count = 0;
    for (const char *at = text; (at = strpbrk(at, "wW")); at++)
        if (at[1] >= '0' && at[1] <= '9')
            numbers[count++] = strtoul(at + 1, NULL, 10);
    return count;
}

static bool check_record(void *context, const struct doppel_stripped_record *record)
{
    struct checking *checking = context;
    const struct made *made = &checking->corpus->records[checking->records++];
    assert_null(record->unreadable);
    assert_int_equal(record->line, checking->records);
    json_t *object = json_loadb(record->json, record->json_size, 0, NULL);
    assert_non_null(object);
    static const char head[] = "{ \"n\" : [1,{}], \"id\":\"r", tail[] = ", \"more\":\"\\u00e4\" }";
    assert_memory_equal(record->json, head, sizeof head - 1);
    assert_memory_equal(record->json + record->json_size - (sizeof tail - 1), tail,
                        sizeof tail - 1);
    size_t left[2 * MOST], wanted = 0, dropped = 0;
    size_t count = count_numbers(json_string_value(json_object_get(object, "text")), left);
    for (size_t j = 0; j < made->count; j++) {
        if (documents_with(checking->corpus, made->paragraphs[j]) > checking->limit)
            dropped++;
        else
            assert_int_equal(left[wanted++], made->paragraphs[j]);
    }
    assert_int_equal(count, wanted);
    assert_int_equal(record->dropped, dropped);
    bytes_add(&checking->output, record->json, record->json_size);
    json_decref(object);
    return true;
}

static struct bytes check_corpus(const struct corpus *corpus, const char *path, uint64_t limit,
                                 uint32_t threads, uint64_t memory)
{
    struct checking checking = {.corpus = corpus, .limit = limit};
    struct doppel_paragraph_options options = doppel_paragraph_options_default();
    options.files.paths = &path;
    options.files.count = 1;
    options.max_documents = limit;
    options.threads = threads;
    options.memory_bytes = memory;
    options.paragraph = check_paragraph;
    options.record = check_record;
    options.context = &checking;
    struct doppel_paragraph_counts counts;
    struct doppel_error error;
    assert_int_equal(doppel_paragraphs(&options, &counts, &error), DOPPEL_OK);
    assert_int_equal(counts.records, RECORDS);
    assert_int_equal(checking.records, RECORDS);
    uint64_t frequent = 0;
    for (size_t i = 0; i < VOCABULARY; i++) {
        bool is_frequent = documents_with(corpus, i) > limit;
        assert_int_equal(checking.seen[i], is_frequent);
        frequent += is_frequent;
    }
    assert_int_equal(counts.frequent, frequent);
    return checking.output;
}

static void test_corpora_as_counted_one_by_one(void **state)
{
    (void)state;
    char *folder = folder_make();
    struct corpus *corpus = malloc(sizeof *corpus);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        make_corpus(corpus, seed);
        char *path = path_in(folder, "corpus.jsonl");
        write_file(path, corpus->file.data, corpus->file.size);
        struct bytes first = check_corpus(corpus, path, 10 * seed, 1, 0);
        struct bytes second = check_corpus(corpus, path, 10 * seed, 4, 0);
        struct bytes third = check_corpus(corpus, path, 10 * seed, 2, 50000);
        assert_int_equal(first.size, second.size);
        assert_memory_equal(first.data, second.data, first.size);
        assert_int_equal(first.size, third.size);
        assert_memory_equal(first.data, third.data, first.size);
        bytes_free(&first);
        bytes_free(&second);
        bytes_free(&third);
        bytes_free(&corpus->file);
        free(path);
    }
    free(corpus);
    folder_remove(folder);
}

/* ---- one by one ---- */

struct told {
    struct bytes lines;
    size_t unreadable;
};

static bool tell(void *context, const struct doppel_stripped_record *record)
{
    struct told *told = context;
    told->unreadable += record->unreadable != NULL;
    bytes_add(&told->lines, record->json, record->json_size);
    bytes_add_text(&told->lines, "\n");
    return true;
}

static void expect_lines(const char *const *paths, size_t count, size_t unreadable,
                         const char *wanted)
{
    struct told told = {0};
    struct doppel_paragraph_options options = doppel_paragraph_options_default();
    struct doppel_paragraph_counts counts;
    struct doppel_error error;
    options.files.paths = paths;
    options.files.count = count;
    options.max_documents = 1;
    options.record = tell;
    options.context = &told;
    assert_int_equal(doppel_paragraphs(&options, &counts, &error), DOPPEL_OK);
    assert_int_equal(told.unreadable, unreadable);
    assert_int_equal(counts.unreadable, unreadable);
    bytes_add(&told.lines, "", 1);
    assert_string_equal(told.lines.data, wanted);
    bytes_free(&told.lines);
}

static void test_lines_stay_as_they_are(void **state)
{
    (void)state;
    char *folder = folder_make(), *a = path_in(folder, "a.jsonl"), *b = path_in(folder, "b.jsonl");
    char *text = path_in(folder, "text.txt");
    static const char first[] =
        "{\"a\": 1.0, \"text\":\"Share this!\\nA\\tquote: \\\"\\u00e9\\\"\\u0001\", \"id\": 7}\r\n"
        "{\"text\":\"Only\\u0020here\\nand here\"}\n"
        "broken\n"
        "{\"text\":\"share THIS\"}";
    static const char second[] = "{\"path\":\"text.txt\",\"x\":{} }\n{\"path\":\"missing\"}\n"
                                 "{\"text\":\"Share this\\nbad \xFF byte\"}\n";
    static const char content[] = "Share, this\n\"File\"\n";
    write_file(a, first, sizeof first - 1);
    write_file(b, second, sizeof second - 1);
    write_file(text, content, sizeof content - 1);
    const char *paths[] = {a, b};
    expect_lines(paths, 2, 2,
                 "{\"a\": 1.0, \"text\":\"A\\tquote: \\\"\xC3\xA9\\\"\\u0001\", \"id\": 7}\r\n"
                 "{\"text\":\"Only\\u0020here\\nand here\"}\n"
                 "\n"
                 "{\"text\":\"\"}\n"
                 "{\"path\":\"text.txt\",\"x\":{} ,\"text\":\"\\\"File\\\"\\n\"}\n"
                 "\n"
                 "{\"text\":\"bad \xEF\xBF\xBD byte\"}\n");
    free(a);
    free(b);
    free(text);
    folder_remove(folder);
}

static bool end_at_once(void *context, const struct doppel_stripped_record *record)
{
    (void)context, (void)record;
    return false;
}

static void test_the_visitor_ends_it(void **state)
{
    (void)state;
    char *folder = folder_make(), *path = path_in(folder, "a.jsonl");
    write_file(path, "{\"text\":\"a\"}\n", 13);
    struct doppel_paragraph_options options = doppel_paragraph_options_default();
    const char *paths[] = {path};
    options.files.paths = paths;
    options.files.count = 1;
    options.record = end_at_once;
    struct doppel_paragraph_counts counts;
    assert_int_equal(doppel_paragraphs(&options, &counts, NULL), DOPPEL_E_CANCELLED);
    free(path);
    folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_where_paragraphs_are_cut),
        cmocka_unit_test(test_what_is_left),
        cmocka_unit_test(test_keys_are_counted),
        cmocka_unit_test(test_too_many_for_the_memory_is_said),
        cmocka_unit_test(test_corpora_as_counted_one_by_one),
        cmocka_unit_test(test_lines_stay_as_they_are),
        cmocka_unit_test(test_the_visitor_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
