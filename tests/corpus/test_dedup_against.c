/* Deduplication of a corpus against a library, beside both in one run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/match.h>

#include "tests/corpus/dedup_oracle.h"

static bool ignore_decision(void *context, const struct doppel_dedup_decision *decision)
{
    (void)context;
    (void)decision;
    return true;
}

static struct doppel_library *library_of(const struct doppel_dedup_options *options,
                                         const char *const *path, const char *folder)
{
    struct doppel_library *library;
    struct doppel_library_options create = {.create = true};
    struct doppel_ingest_options ingest = doppel_ingest_options_default();
    ingest.files = options->files;
    ingest.files.paths = path;
    ingest.bands = options->bands;
    ingest.rows = options->rows;
    assert_int_equal(doppel_library_open(folder, &create, &library, NULL), DOPPEL_OK);
    assert_int_equal(doppel_ingest(library, &ingest, ignore_decision, NULL, NULL), DOPPEL_OK);
    return library;
}

static const char *line_number(const char *lines, size_t number)
{
    while (number--)
        lines += strcspn(lines, "\n") + 1;
    return lines;
}

/* What is decided of the second half is the same, whether the first half comes in the same run or
 * lies in a library. */
static void goes_on_where_a_library_ends(void **state)
{
    (void)state;
    enum { HALF = 250 };
    struct corpus corpus = corpus_make(
        &(struct corpus_plan){.seed = 31, .count = 2 * HALF, .templates = 2, .same_ids = true});
    char *folder = folder_make(), *paths[2], *place = path_in(folder, "library");
    for (int half = 0; half < 2; half++) {
        struct bytes lines = {0};
        corpus_write(&(struct corpus){corpus.records + half * HALF, HALF}, &lines);
        paths[half] = path_in(folder, half ? "b.jsonl" : "a.jsonl");
        write_file(paths[half], lines.data, lines.size);
        bytes_free(&lines);
    }
    struct doppel_dedup_options options = dedup_options((const char *const *)paths, 2);
    char *whole = dedup_decide(&options);
    options.files.count = 1;
    struct doppel_library *library = library_of(&options, (const char *const *)paths, place);
    options.files.paths = (const char *const *)&paths[1];
    options.against = library;
    options.threads = 3;
    char *second = dedup_decide_after(&options, HALF);
    assert_same_lines(second, line_number(whole, HALF));
    options.text.shingle = 4;
    struct doppel_error error;
    assert_int_equal(doppel_dedup(&options, ignore_decision, NULL, &error), DOPPEL_E_VERSION);
    doppel_library_close(library);
    free(second);
    free(whole);
    free(paths[0]);
    free(paths[1]);
    free(place);
    folder_remove(folder);
    corpus_free(&corpus);
}

enum { KEPT = 300, ASKED = 130, UNRELATED = 900, FEW = 9, POLICIES = 3, VARIANTS = 12 };

/* Some records of a corpus, and texts that nothing is like. */
static void write_records(const struct corpus *corpus, size_t first, size_t count, size_t unrelated,
                          const char *path)
{
    struct bytes lines = {0};
    char word[32];
    corpus_write(&(struct corpus){corpus->records + first, count}, &lines);
    for (size_t i = 0; i < unrelated; i++) {
        bytes_add_text(&lines, "{\"text\": \"");
        for (size_t j = 0; j < 30; j++) {
            snprintf(word, sizeof word, "u%zux%zu ", i, j);
            bytes_add_text(&lines, word);
        }
        bytes_add_text(&lines, "\"}\n");
    }
    write_file(path, lines.data, lines.size);
    bytes_free(&lines);
}

/* Under one of the policies, by the usual bands or others. */
static char *decide_variant(struct doppel_dedup_options options, const char *path, size_t variant)
{
    static const enum doppel_same_id policies[POLICIES] = {
        DOPPEL_SAME_ID_UPDATE, DOPPEL_SAME_ID_SKIP, DOPPEL_SAME_ID_ERROR};
    const bool other_bands = variant / POLICIES % 2;
    options.files.paths = &path;
    options.files.count = 1;
    options.on_same_id = policies[variant % POLICIES];
    options.bands = other_bands ? 12 : 0;
    options.rows = other_bands ? 10 : 0;
    return dedup_decide_after(&options, KEPT);
}

struct asked_library {
    struct corpus corpus;
    char *folder, *place, *kept, *asked, *few, *many, *other; /* paths */
    struct doppel_dedup_options options;
    struct doppel_library *library;
};

static struct asked_library make_asked_library(uint64_t seed)
{
    struct asked_library made = {.corpus =
                                     corpus_make(&(struct corpus_plan){.seed = seed,
                                                                       .count = KEPT + ASKED,
                                                                       .templates = 2,
                                                                       .short_texts = seed == 3,
                                                                       .same_ids = seed != 2}),
                                 .folder = folder_make()};
    made.place = path_in(made.folder, "library");
    made.kept = path_in(made.folder, "kept.jsonl");
    made.asked = path_in(made.folder, "asked.jsonl");
    made.few = path_in(made.folder, "few.jsonl");
    made.many = path_in(made.folder, "many.jsonl");
    made.other = path_in(made.folder, "other.jsonl");
    write_records(&made.corpus, 0, KEPT, 0, made.kept);
    write_records(&made.corpus, KEPT, ASKED, 0, made.asked);
    write_records(&made.corpus, KEPT, FEW, 0, made.few);
    write_records(&made.corpus, KEPT, FEW, ASKED, made.many);
    write_records(&made.corpus, KEPT, 0, UNRELATED, made.other);
    made.options = dedup_options((const char *const *)&made.kept, 1);
    made.library = library_of(&made.options, (const char *const *)&made.kept, made.place);
    for (uint64_t id = 3; id < KEPT; id += 17)
        (void)doppel_library_remove(made.library, id, NULL); /* unless its line was broken */
    assert_int_equal(doppel_library_commit(made.library, NULL), DOPPEL_OK);
    made.options.against = made.library;
    return made;
}

static void add_unrelated(struct asked_library *made)
{
    const char *path = made->other;
    struct doppel_ingest_options ingest = doppel_ingest_options_default();
    ingest.files.paths = &path;
    ingest.files.count = 1;
    assert_int_equal(doppel_ingest(made->library, &ingest, ignore_decision, NULL, NULL), DOPPEL_OK);
}

static void free_asked_library(struct asked_library *made)
{
    char *const paths[] = {made->place, made->kept, made->asked,
                           made->few,   made->many, made->other};
    doppel_library_close(made->library);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        free(paths[i]);
    folder_remove(made->folder);
    corpus_free(&made->corpus);
}

/* Where the library has few texts beside the corpus, all are read; where it has many, those alone
 * that records find in its indexes. What is decided is the same. */
static void a_large_library_is_asked_as_a_small_one_is_read(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct asked_library made = make_asked_library(seed);
        char *read[VARIANTS];
        for (size_t i = 0; i < VARIANTS; i++)
            read[i] = decide_variant(made.options, i < VARIANTS / 2 ? made.asked : made.many, i);
        add_unrelated(&made);
        made.options.threads = 2;
        for (size_t i = 0; i < VARIANTS; i++) {
            bool all = i < VARIANTS / 2;
            char *found = decide_variant(made.options, all ? made.asked : made.few, i);
            if (!all)
                read[i][strlen(read[i]) - strlen(line_number(read[i], FEW))] = '\0';
            assert_same_lines(found, read[i]);
            free(found);
            free(read[i]);
        }
        free_asked_library(&made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_on_where_a_library_ends),
        cmocka_unit_test(a_large_library_is_asked_as_a_small_one_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
