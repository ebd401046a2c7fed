/* doppel index join, and an index of vectors, against all pairs. */
#include "command.h"

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COUNT = 400, DIMENSION = 12, MOST_ID = 64 };

static float rows[COUNT][DIMENSION];

static float random_float(uint32_t *state)
{
    return (float)((int32_t)(next_random(state) & 0xffff) - 0x8000) / 0x8000;
}

/* In families of five, each near its first. */
static void make_rows(void)
{
    uint32_t random = 5;
    for (size_t i = 0; i < COUNT; i++)
        for (size_t d = 0; d < DIMENSION; d++)
            rows[i][d] =
                i % 5 ? rows[i - i % 5][d] + random_float(&random) / 4 : random_float(&random);
}

static double cosine_of(size_t a, size_t b)
{
    double dot = 0, aa = 0, bb = 0;
    for (size_t d = 0; d < DIMENSION; d++) {
        dot += (double)rows[a][d] * (double)rows[b][d];
        aa += (double)rows[a][d] * (double)rows[a][d];
        bb += (double)rows[b][d] * (double)rows[b][d];
    }
    return dot / sqrt(aa * bb);
}

static void write_npy(const char *path)
{
    uint8_t head[128] = "\x93NUMPY\x01";
    char dictionary[100], text[118];
    snprintf(dictionary, sizeof dictionary,
             "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", (int)COUNT,
             (int)DIMENSION);
    snprintf(text, sizeof text, "%-117s", dictionary);
    head[8] = 118;
    memcpy(head + 10, text, 117);
    head[127] = '\n';
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(head, 1, sizeof head, file), sizeof head);
    assert_int_equal(fwrite(rows, sizeof *rows, COUNT, file), COUNT);
    assert_int_equal(fclose(file), 0);
}

static void write_lines(const char *path, const char *ids)
{
    FILE *file = fopen(path, "w"), *names = fopen(ids, "w");
    assert_true(file && names);
    for (size_t i = 0; i < COUNT; i++) {
        fprintf(names, "n %zu\n", i);
        fprintf(file, "{\"id\":\"n %zu\",\"vector\":[", i);
        for (size_t d = 0; d < DIMENSION; d++)
            fprintf(file, d ? ",%.9g" : "%.9g", (double)rows[i][d]);
        fputs("]}\n", file);
    }
    assert_int_equal(fclose(file), 0);
    assert_int_equal(fclose(names), 0);
}

/* A row's number, or "n" and it. */
static size_t row_of(const json_t *id, bool named)
{
    size_t row = COUNT;
    if (named)
        assert_int_equal(sscanf(json_string_value(id), "n %zu", &row), 1);
    else
        row = (size_t)json_integer_value(id);
    assert_true(row < COUNT);
    return row;
}

/* All pairs, each once, and no other; those on the border may be either. */
static void assert_pairs(char *printed, double least, bool named)
{
    static bool found[COUNT][COUNT];
    memset(found, 0, sizeof found);
    for (char *line = strtok(printed, "\n"); line; line = strtok(NULL, "\n")) {
        json_t *pair = json_loads(line, 0, NULL);
        const size_t a = row_of(json_object_get(pair, "a"), named);
        const size_t b = row_of(json_object_get(pair, "b"), named);
        assert_true(a < b && !found[a][b]);
        found[a][b] = true;
        assert_true(fabs(json_number_value(json_object_get(pair, "cosine")) - cosine_of(a, b)) <
                    2e-6);
        json_decref(pair);
    }
    for (size_t a = 0; a < COUNT; a++)
        for (size_t b = a + 1; b < COUNT; b++) {
            const double cosine = cosine_of(a, b);
            if (fabs(cosine - least) > 1e-5 && found[a][b] != (cosine >= least))
                fail_msg("%zu and %zu, of cosine %f", a, b, cosine);
        }
    free(printed);
}

static int with_files(void **state)
{
    int failed = sandbox_enter(state);
    make_rows();
    write_npy("x.npy");
    write_lines("x.jsonl", "ids");
    return failed;
}
#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, with_files, sandbox_leave)

static void prints_every_pair(void **state)
{
    (void)state;
    assert_pairs(doppel_prints(0, "index", "join", "x.npy"), 0.9, false);
    assert_pairs(doppel_prints(0, "index", "join", "x.npy", "--exact", "--min-cosine", "95%"), 0.95,
                 false);
    assert_pairs(doppel_prints(0, "index", "join", "x.npy", "--min-cosine", "0", "-j", "2"), 0,
                 false);
    assert_pairs(doppel_prints(0, "index", "join", "x.jsonl", "--json"), 0.9, true);
    assert_pairs(doppel_prints(0, "index", "join", "x.npy", "--ids", "ids", "--exact"), 0.9, true);
    size_t size;
    char *lines = read_file("x.jsonl", &size);
    struct ran ran = doppel_with(&(struct setting){.input = lines}, "index", "join", "-");
    assert_code(&ran, 0);
    assert_pairs(strdup(ran.out), 0.9, true);
    assert_string_equal(ran.err, "");
    ran_free(&ran);
    free(lines);
}

/* Rows of an index and the queries that are near them, without those that were removed. */
static void assert_hits(char *printed, double least, size_t removed)
{
    static bool found[COUNT][COUNT];
    size_t last = 0;
    memset(found, 0, sizeof found);
    for (char *line = strtok(printed, "\n"); line; line = strtok(NULL, "\n")) {
        json_t *hit = json_loads(line, 0, NULL);
        const size_t query = (size_t)json_integer_value(json_object_get(hit, "query"));
        const size_t id = row_of(json_object_get(hit, "id"), true);
        assert_true(query >= last && query < COUNT && !found[query][id]);
        found[last = query][id] = true;
        assert_true(fabs(json_number_value(json_object_get(hit, "cosine")) - cosine_of(query, id)) <
                    2e-6);
        json_decref(hit);
    }
    for (size_t query = 0; query < COUNT; query++)
        for (size_t id = 0; id < COUNT; id++) {
            const bool near = id != removed && cosine_of(query, id) >= least;
            if (fabs(cosine_of(query, id) - least) > 1e-5 && found[query][id] != near)
                fail_msg("%zu and %zu, of cosine %f", query, id, cosine_of(query, id));
        }
    free(printed);
}

static void an_index_of_vectors_is_searched(void **state)
{
    (void)state;
    free(doppel_prints(0, "index", "build", "--vectors", "x.jsonl", "-o", "x.index", "--model",
                       "clip"));
    assert_hits(doppel_prints(0, "index", "search", "x.index", "x.npy"), 0.9, COUNT);
    assert_hits(doppel_prints(0, "index", "search", "x.index", "x.npy", "--exact", "--min-cosine",
                              "0.5", "-j", "2"),
                0.5, COUNT);
    free(doppel_prints(0, "index", "remove", "x.index", "n 7"));
    assert_hits(doppel_prints(0, "index", "search", "x.index", "x.npy"), 0.9, 7);
    free(doppel_prints(0, "index", "compact", "x.index"));
    assert_hits(doppel_prints(0, "index", "search", "x.index", "x.npy", "--model", "clip"), 0.9, 7);
    free(doppel_prints(0, "index", "add", "x.index", "x.npy", "--ids", "ids"));
    assert_hits(doppel_prints(0, "index", "search", "x.index", "x.npy"), 0.9, COUNT);
    char *nearest = doppel_prints(0, "index", "knn", "x.index", "-k", "3", "x.npy");
    assert_int_equal(count_lines(nearest, ""), 3 * COUNT);
    char most[16];
    snprintf(most, sizeof most, "%d", COUNT);
    assert_hits(doppel_prints(0, "index", "knn", "x.index", "-k", most, "x.npy", "--exact",
                              "--min-cosine", "0"),
                0, COUNT);
    char *counts = doppel_prints(0, "index", "search", "x.index", "x.npy", "--count");
    assert_int_equal(count_lines(counts, ""), COUNT);
    char *info = doppel_prints(0, "index", "info", "x.index", "--json");
    assert_has(info, "\"dimension\":12,\"model\":\"clip\"");
    char *verified = doppel_prints(0, "index", "verify", "x.index", "--json");
    assert_has(verified, "\"state\":\"ok\"");
    free(nearest);
    free(counts);
    free(info);
    free(verified);
}

static void assert_info(const char *counts)
{
    char *info = doppel_prints(0, "index", "info", "x.index", "--json");
    assert_has(info, counts);
    free(info);
}

static void counts_what_was_removed_by_itself(void **state)
{
    (void)state;
    free(doppel_prints(0, "index", "build", "--vectors", "x.jsonl", "-o", "x.index"));
    free(doppel_prints(0, "index", "compact", "x.index"));
    assert_info("\"vectors\":400,\"removed\":0,");
    free(doppel_prints(0, "index", "remove", "x.index", "n 7", "n 8"));
    assert_info("\"vectors\":398,\"removed\":2,");
    free(doppel_prints(0, "index", "add", "x.index", "x.npy", "--ids", "ids"));
    assert_info("\"vectors\":400,\"removed\":0,");
}

static void says_that_an_id_occurs_again(void **state)
{
    (void)state;
    static const char lines[] =
        "{\"id\":\"a\",\"vector\":[1,0]}\n{\"id\":\"b\",\"vector\":[1,0]}\n"
        "{\"id\":\"a\",\"vector\":[0,1]}\n{\"id\":\"a\",\"vector\":[0,1]}\n";
    struct ran ran = doppel_with(&(struct setting){.input = lines}, "index", "build", "--vectors",
                                 "-", "-o", "again.index");
    assert_code(&ran, 0);
    assert_string_equal(ran.err, "doppel: 2 of the vectors have an id that a later one has, too "
                                 "('a' is the first such id): of each id the last is kept\n");
    ran_free(&ran);
    ran = doppel_with(&(struct setting){.input = lines}, "index", "search", "again.index", "-");
    assert_code(&ran, 0);
    assert_int_equal(count_lines(ran.out, "\"id\":\"a\",\"cosine\":1"), 2);
    assert_int_equal(count_lines(ran.out, ""), 4);
    ran_free(&ran);
    /* once more: what is there is replaced, as is known */
    ran = doppel_with(&(struct setting){.input = "{\"id\":\"a\",\"vector\":[1,0]}\n"}, "index",
                      "add", "again.index", "-");
    assert_code(&ran, 0);
    assert_string_equal(ran.err, "");
    ran_free(&ran);
}

static void an_index_of_vectors_says_what_does_not_fit(void **state)
{
    (void)state;
    static const struct {
        int code;
        const char *sentence, *words[6];
    } cases[] = {
        {3, "the index has no such id", {"remove", "x.index", "other"}},
        {2,
         "its vectors are of the model 'clip', not of 'dino'",
         {"search", "x.index", "x.npy", "--model", "dino"}},
        {2,
         "it does not say of which model",
         {"search", "plain.index", "x.npy", "--model", "dino"}},
        {2, "have 2 dimensions, those of the index 12", {"add", "x.index", "two.jsonl"}},
        {2, "have 2 dimensions, those of the index 12", {"search", "x.index", "two.jsonl"}},
        {2, "has no id", {"add", "x.index", "x.npy"}},
        {2, "'--recall' is from 0.5 to 0.999", {"knn", "x.index", "x.npy", "--recall", "1"}},
        {2, "is there already", {"build", "--vectors", "x.npy", "-o", "x.index"}},
        {2, "wants '--radius R'", {"search", "codes.index", "codes"}},
        {2,
         "codes: how near is said with '--min-cosine'",
         {"search", "x.index", "x.npy", "--radius", "3"}},
        {2,
         "codes: how near is said with '--min-cosine'",
         {"knn", "x.index", "x.npy", "--radius", "3"}},
        {2, "'--input' is for an index of codes", {"search", "x.index", "x.npy", "--input", "hex"}},
        {2, "'--input' is for an index of codes", {"add", "x.index", "x.npy", "--input", "raw"}},
        {2,
         "'--bits' is for an index of codes",
         {"build", "--vectors", "x.npy", "-onew", "--bits", "64"}},
        {2, "codes", {"build", "--vectors", "x.npy", "-onew", "--radius", "64"}},
        {2,
         "vectors: how near is said with '--radius'",
         {"search", "codes.index", "codes", "--min-cosine", "0.9"}},
        {2, "'--exact' is for an index of vectors", {"knn", "codes.index", "codes", "--exact"}},
        {2,
         "'--model' is for an index of vectors",
         {"add", "codes.index", "codes", "--model", "m"}},
        {2, "vectors, which '--vectors' builds", {"build", "codes", "-onew", "--ids", "ids"}},
    };
    FILE *two = fopen("two.jsonl", "w"), *codes = fopen("codes", "w");
    assert_true(two && codes);
    fputs("{\"id\":\"a\",\"vector\":[1,0]}\n", two);
    fputs("0123456789abcdef\n", codes);
    assert_int_equal(fclose(two), 0);
    assert_int_equal(fclose(codes), 0);
    free(doppel_prints(0, "index", "build", "codes", "-o", "codes.index"));
    free(doppel_prints(0, "index", "build", "--vectors", "x.npy", "-o", "plain.index"));
    free(doppel_prints(0, "index", "build", "--vectors", "x.jsonl", "-o", "x.index", "--model",
                       "clip"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *list[8] = {"index"};
        memcpy(list + 1, cases[i].words, sizeof cases[i].words);
        struct ran ran = command_run(NULL, list);
        assert_code(&ran, cases[i].code);
        assert_has(ran.err, cases[i].sentence);
        assert_string_equal(ran.out, "");
        ran_free(&ran);
    }
}

static void prints_tables(void **state)
{
    (void)state;
    char *table = doppel_prints(0, "index", "join", "x.npy", "--format", "table", "--ids", "ids");
    assert_int_equal(strncmp(table, "a ", 2), 0);
    assert_has(table, "cosine");
    assert_has(table, "n 396");
    char *csv = doppel_prints(0, "index", "join", "x.npy", "--format", "csv");
    assert_int_equal(strncmp(csv, "a,b,cosine", 10), 0);
    assert_int_equal(count_lines(csv, ""), count_lines(table, ""));
    free(table);
    free(csv);
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        int code;
        const char *sentence, *words[4];
    } cases[] = {
        {3, "none.npy: No such file", {"none.npy"}},
        {3, "none: No such file", {"x.npy", "--ids", "none"}},
        {2, "has ids of its own", {"x.jsonl", "--ids", "ids"}},
        {2, "ids: no vectors that are known", {"ids"}},
        {2, "'--recall' is from 0.5 to 0.999", {"x.npy", "--recall", "1"}},
        {2, "a cosine from 0 to 1", {"x.npy", "--min-cosine", "1.5"}},
        {2, "VECTORS", {NULL}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const *words = cases[i].words;
        struct ran ran = doppel("index", "join", words[0], words[0] ? words[1] : NULL,
                                words[0] && words[1] ? words[2] : NULL);
        assert_code(&ran, cases[i].code);
        assert_has(ran.err, cases[i].sentence);
        assert_string_equal(ran.out, "");
        ran_free(&ran);
    }
}

static void says_that_nothing_is_near(void **state)
{
    (void)state;
    static const char lines[] = "{\"vector\":[1,0]}\n{\"vector\":[0,0]}\n{\"vector\":[0,1]}\n";
    struct ran ran = doppel_with(&(struct setting){.input = lines}, "index", "join", "-");
    assert_code(&ran, 1);
    assert_string_equal(ran.out, "");
    assert_string_equal(ran.err,
                        "doppel: standard input: row 1 is all zeros, which is in no pair\n");
    ran_free(&ran);
    ran = doppel_with(&(struct setting){.input = "1 2\n"}, "index", "join", "-");
    assert_code(&ran, 2);
    assert_has(ran.err, "standard input");
    ran_free(&ran);
}

static void ends_by_signals_and_closed_pipes(void **state)
{
    (void)state;
    struct ran ran = doppel_with(&(struct setting){.closed_pipe = true}, "index", "join", "x.npy",
                                 "--min-cosine", "0");
    assert_code(&ran, 141);
    assert_string_equal(ran.err, "");
    ran_free(&ran);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    static const char *const words[] = {"index", "join", "pipe", NULL};
    struct running running = command_start(NULL, words);
    int fd = open("pipe", O_WRONLY);
    assert_true(fd >= 0 && write(fd, "{\"vector\":[1,0]}\n", 17) == 17);
    pause_ms(50);
    assert_int_equal(kill(running.pid, SIGINT), 0);
    ran = command_end(&running);
    close(fd);
    assert_code(&ran, 130);
    assert_string_equal(ran.out, "");
    ran_free(&ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILES(prints_every_pair),
        WITH_FILES(an_index_of_vectors_is_searched),
        WITH_FILES(counts_what_was_removed_by_itself),
        WITH_FILES(says_that_an_id_occurs_again),
        WITH_FILES(an_index_of_vectors_says_what_does_not_fit),
        WITH_FILES(prints_tables),
        WITH_FILES(says_what_is_wrong),
        WITH_FILES(says_that_nothing_is_near),
        WITH_FILES(ends_by_signals_and_closed_pipes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
