/* Deciding record by record against a library: as the oracle of whole corpora, at once or in
 * pieces, by one handle or by two in turns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "tests/decide/ingest_case.h"

static void decides_as_the_oracle(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct ingest_case made;
        case_begin(&(struct corpus_plan){.seed = seed * 104729,
                                         .count = 300,
                                         .templates = seed % 3,
                                         .same_ids = seed % 2,
                                         .short_texts = seed % 4 == 3},
                   &made);
        for (int same = DOPPEL_SAME_ID_UPDATE; same <= DOPPEL_SAME_ID_ERROR; same++) {
            made.options.on_same_id = (enum doppel_same_id)same;
            made.options.threads = 1 + (uint32_t)seed % 3;
            char *wanted = oracle_ingest(&made.corpus, &made.options);
            struct doppel_library *library = case_open(&made);
            char *got = ingest_decide(library, &made.options);
            assert_same_lines(got, wanted);
            doppel_library_close(library);
            case_remove_library(&made);
            free(got);
            free(wanted);
        }
        case_end(&made);
    }
}

/* Piece by piece, by two handles in turns that stay open, or by a new one each time. */
static void decides_the_same_in_pieces(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct ingest_case made;
        struct story story = {0};
        uint64_t random = seed;
        case_begin(
            &(struct corpus_plan){
                .seed = seed * 7919, .count = 300, .templates = seed % 3, .same_ids = seed % 2},
            &made);
        char *wanted = oracle_ingest(&made.corpus, &made.options);
        struct doppel_library *turns[2] = {case_open(&made), case_open(&made)};
        for (size_t first = 0, count; first < made.corpus.count; first += count) {
            count = 1 + (size_t)(random_next(&random) % 60);
            if (count > made.corpus.count - first)
                count = made.corpus.count - first;
            struct doppel_library **turn = &turns[random_next(&random) % 2];
            case_write(&made, first, count);
            story_ingest(&story, &made, *turn);
            if (seed % 2) {
                doppel_library_close(*turn);
                *turn = case_open(&made);
            }
        }
        bytes_add(&story.out, "", 1);
        assert_same_lines(story.out.data, wanted);
        doppel_library_close(turns[0]);
        doppel_library_close(turns[1]);
        bytes_free(&story.out);
        free(wanted);
        case_end(&made);
    }
}

/* For people who ask by SQL: of each text, or nothing of what has no shingle. */
static void simhashes_are_kept(void **state)
{
    (void)state;
    struct ingest_case made;
    struct story story = {0};
    struct doppel_text *text;
    struct doppel_text_result result;
    sqlite3 *database;
    sqlite3_stmt *rows;
    case_begin(&(struct corpus_plan){.seed = 77, .count = 60, .short_texts = true}, &made);
    struct doppel_library *library = case_open(&made);
    story_ingest(&story, &made, library);
    doppel_library_close(library);
    char *path = path_in(made.library, "catalogue.db");
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(database, "SELECT id, simhash FROM text", -1, &rows, NULL),
                     SQLITE_OK);
    assert_int_equal(doppel_text_new(&made.options.text, &text, NULL), DOPPEL_OK);
    size_t seen = 0;
    for (; sqlite3_step(rows) == SQLITE_ROW; seen++) {
        size_t number = 0;
        while (story.items[number] != (uint64_t)sqlite3_column_int64(rows, 0))
            number++;
        const char *words = made.corpus.records[number].text;
        doppel_text_read(text, words, strlen(words), DOPPEL_TEXT_SIMHASH, &result, NULL);
        assert_int_equal(sqlite3_column_type(rows, 1) == SQLITE_NULL, result.simhash == 0);
        assert_int_equal((uint64_t)sqlite3_column_int64(rows, 1), result.simhash);
    }
    assert_true(seen > 50);
    doppel_text_free(text);
    sqlite3_finalize(rows);
    sqlite3_close(database);
    bytes_free(&story.out);
    free(path);
    case_end(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decides_as_the_oracle),
        cmocka_unit_test(decides_the_same_in_pieces),
        cmocka_unit_test(simhashes_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
