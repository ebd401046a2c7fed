/* Deduplication of a corpus against an oracle that compares every record with all before it. */
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

/* A corpus on the disk. */
struct case_files {
    struct corpus corpus;
    struct bytes lines;
    char *folder, *path;
    const char *paths[1];
};

static struct case_files begin(const struct corpus_plan *plan)
{
    struct case_files files = {.corpus = corpus_make(plan), .folder = folder_make()};
    corpus_write(&files.corpus, &files.lines);
    files.path = path_in(files.folder, "corpus.jsonl");
    write_file(files.path, files.lines.size ? files.lines.data : "", files.lines.size);
    return files;
}

static void end(struct case_files *files)
{
    corpus_free(&files->corpus);
    bytes_free(&files->lines);
    free(files->path);
    folder_remove(files->folder);
}

static struct doppel_dedup_options options_of(struct case_files *files)
{
    files->paths[0] = files->path;
    return dedup_options(files->paths, 1);
}

static void assert_decides(const struct doppel_dedup_options *options, const char *wanted)
{
    char *got = dedup_decide(options);
    assert_same_lines(got, wanted);
    free(got);
}

static size_t count_of(const char *lines, const char *word)
{
    size_t count = 0;
    for (const char *at = lines; (at = strstr(at, word)); at++)
        count++;
    return count;
}

/* ---- against the oracle ---- */

static void decides_as_the_oracle(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct case_files files = begin(&(struct corpus_plan){.seed = seed * 7919,
                                                              .count = 300,
                                                              .templates = seed % 3,
                                                              .same_ids = seed % 2,
                                                              .short_texts = seed % 4 == 3});
        struct doppel_dedup_options options = options_of(&files);
        for (int same = DOPPEL_SAME_ID_UPDATE; same <= DOPPEL_SAME_ID_ERROR; same++) {
            options.on_same_id = (enum doppel_same_id)same;
            char *wanted = oracle_decide(&files.corpus, &options);
            assert_decides(&options, wanted);
            free(wanted);
        }
        end(&files);
    }
}

static void decides_everything_that_there_is(void **state)
{
    (void)state;
    struct case_files files =
        begin(&(struct corpus_plan){.seed = 42, .count = 600, .templates = 2, .same_ids = true});
    struct doppel_dedup_options options = options_of(&files);
    char *got = dedup_decide(&options);
    static const char *const kinds[] = {" new",
                                        " duplicate same-content",
                                        " duplicate near",
                                        " revision newer",
                                        " revision same-id",
                                        " part part",
                                        " revision contain",
                                        " too_short",
                                        " unreadable"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        assert_true(count_of(got, kinds[i]) > 0);
    free(got);
    end(&files);
}

static void decides_alike_with_other_options(void **state)
{
    (void)state;
    struct case_files files =
        begin(&(struct corpus_plan){.seed = 99, .count = 300, .templates = 2, .same_ids = true});
    struct doppel_dedup_options options = options_of(&files);
    options.text.lanes = 256;
    options.bands = 42;
    options.rows = 6;
    options.limits.min_similarity = 0.8;
    char *wanted = oracle_decide(&files.corpus, &options);
    assert_decides(&options, wanted);
    free(wanted);
    options.text.unit = DOPPEL_TEXT_CHARACTERS;
    options.text.lanes = 128;
    options.bands = 32;
    options.rows = 4;
    options.limits.min_similarity = 0.5;
    wanted = oracle_decide(&files.corpus, &options);
    assert_decides(&options, wanted);
    free(wanted);
    end(&files);
}

/* ---- components ---- */

/* All records that are near, by the sets themselves; of each the first that it is linked to. */
static void find_components(const struct corpus *corpus, const struct doppel_dedup_options *options,
                            uint32_t *first)
{
    struct doppel_text *text;
    struct doppel_text_evidence *evidence = calloc(corpus->count, sizeof *evidence);
    assert_int_equal(doppel_text_new(&options->text, &text, NULL), DOPPEL_OK);
    for (size_t i = 0; i < corpus->count; i++) {
        static struct doppel_text_result result;
        const char *words = corpus->records[i].text;
        assert_int_equal(doppel_text_read(text, words, strlen(words),
                                          DOPPEL_TEXT_DIGEST | DOPPEL_TEXT_SHINGLES, &result, NULL),
                         DOPPEL_OK);
        uint32_t *shingles = malloc((result.shingle_count + 1) * sizeof *shingles);
        if (result.shingle_count)
            memcpy(shingles, result.shingles, result.shingle_count * sizeof *shingles);
        evidence[i] = (struct doppel_text_evidence){.content = result.digest,
                                                    .too_short = result.too_short,
                                                    .shingles = shingles,
                                                    .shingle_count = result.shingle_count};
        first[i] = (uint32_t)i;
    }
    for (size_t i = 0; i < corpus->count; i++)
        for (size_t j = 0; j < i; j++) {
            struct doppel_match match;
            bool broken = corpus->records[i].broken || corpus->records[j].broken;
            uint32_t a = first[i], b = first[j], low = a < b ? a : b, high = a < b ? b : a;
            if (broken || a == b ||
                !doppel_match_texts(&evidence[i], &evidence[j], &options->limits, &match))
                continue;
            for (size_t k = 0; k <= i; k++)
                first[k] = first[k] == high ? low : first[k];
        }
    for (size_t i = 0; i < corpus->count; i++)
        free((void *)evidence[i].shingles);
    free(evidence);
    doppel_text_free(text);
}

struct linked {
    const uint32_t *first;
    size_t count, followers;
};

static bool take_linked(void *context, const struct doppel_dedup_decision *decision)
{
    struct linked *linked = context;
    uint32_t number = (uint32_t)decision->number, first = linked->first[number];
    linked->count++;
    if (decision->decision == DOPPEL_DECISION_UNREADABLE)
        return true;
    assert_int_equal(decision->unique, first == number);
    linked->followers += first != number;
    if (first == number)
        return true;
    assert_int_equal(decision->decision, DOPPEL_DECISION_DUPLICATE);
    assert_true(decision->of_line <= number);
    assert_int_equal(decision->representative.line, first + 1);
    return true;
}

/* Bands of two rows, so many that they propose all pairs. */
static void components_are_those_of_the_graph(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct case_files files = begin(&(struct corpus_plan){
            .seed = seed * 104729, .count = 350, .templates = seed % 3, .short_texts = seed == 4});
        for (size_t i = 0; i < files.corpus.count; i++) { /* no revisions */
            free(files.corpus.records[i].source);
            files.corpus.records[i].source = NULL;
        }
        files.lines.size = 0;
        corpus_write(&files.corpus, &files.lines);
        write_file(files.path, files.lines.data, files.lines.size);
        uint32_t *first = calloc(files.corpus.count, sizeof *first);
        struct doppel_dedup_options options = options_of(&files);
        size_t unique = 0;
        options.limits.min_containment = 2;
        options.bands = 64;
        options.rows = 2;
        options.cluster = DOPPEL_CLUSTER_COMPONENTS;
        find_components(&files.corpus, &options, first);
        for (uint32_t threads = 1; threads < 4; threads += 2) {
            struct linked linked = {.first = first};
            options.threads = threads;
            assert_int_equal(doppel_dedup(&options, take_linked, &linked, NULL), DOPPEL_OK);
            assert_int_equal(linked.count, files.corpus.count);
            assert_true(linked.followers > 50);
        }
        for (size_t i = 0; i < files.corpus.count; i++)
            unique += first[i] == i;
        assert_true(unique > 10);
        free(first);
        end(&files);
    }
}

/* ---- the same for any number of threads and any limit of memory ---- */

static void decides_alike_with_threads_and_without_memory(void **state)
{
    (void)state;
    struct case_files files =
        begin(&(struct corpus_plan){.seed = 5, .count = 3500, .templates = 1, .same_ids = true});
    struct doppel_dedup_options options = options_of(&files);
    char *wanted = oracle_decide(&files.corpus, &options);
    for (uint32_t threads = 1; threads <= 5; threads += 2) {
        options.threads = threads;
        options.memory_bytes = 0;
        assert_decides(&options, wanted);
        options.memory_bytes = 1;
        assert_decides(&options, wanted);
    }
    free(wanted);
    end(&files);
}

/* ---- where texts cannot be read again ---- */

static void replace_all(char *text, const char *word, const char *with)
{
    for (char *at = text; (at = strstr(at, word)); at++)
        memcpy(at, with, strlen(with));
}

static void keeps_shingles_of_what_it_cannot_read_again(void **state)
{
    (void)state;
    struct case_files files =
        begin(&(struct corpus_plan){.seed = 77, .count = 400, .templates = 2, .same_ids = true});
    struct bytes packed = {0};
    bytes_add_gzip(&packed, files.lines.data, files.lines.size);
    char *path = path_in(files.folder, "corpus.jsonl.gz");
    write_file(path, packed.data, packed.size);
    struct doppel_dedup_options options = options_of(&files);
    char *wanted = dedup_decide(&options);
    files.paths[0] = path;
    options.keep_shingles = true;
    options.threads = 3;
    char *got = dedup_decide(&options);
    assert_true(count_of(got, " codes ") > 20);
    replace_all(got, " codes ", " exact ");
    char *again = got;
    assert_same_lines(again, wanted);
    options.keep_shingles = false;
    char *by_signature = dedup_decide(&options);
    assert_true(count_of(by_signature, " signature ") > 20);
    free(by_signature);
    free(got);
    free(wanted);
    free(path);
    bytes_free(&packed);
    end(&files);
}

/* ---- lines ---- */

struct lines_seen {
    struct bytes all;
};

static bool take_line(void *context, const struct doppel_dedup_decision *decision)
{
    struct lines_seen *seen = context;
    assert_non_null(decision->line_text);
    bytes_add(&seen->all, decision->line_text, decision->line_size);
    bytes_add_text(&seen->all, "\n");
    return true;
}

static void gives_lines_back(void **state)
{
    (void)state;
    struct case_files files = begin(&(struct corpus_plan){.seed = 3, .count = 200});
    struct bytes packed = {0};
    bytes_add_zstd(&packed, files.lines.data, files.lines.size);
    char *path = path_in(files.folder, "corpus.jsonl.zst");
    write_file(path, packed.data, packed.size);
    struct doppel_dedup_options options = options_of(&files);
    options.lines = DOPPEL_LINES_ALL;
    for (int round = 0; round < 3; round++) {
        struct lines_seen seen = {0};
        assert_int_equal(doppel_dedup(&options, take_line, &seen, NULL), DOPPEL_OK);
        assert_int_equal(seen.all.size, files.lines.size);
        assert_memory_equal(seen.all.data, files.lines.data, files.lines.size);
        bytes_free(&seen.all);
        files.paths[0] = path;
        options.keep_shingles = round == 1;
    }
    free(path);
    bytes_free(&packed);
    end(&files);
}

/* ---- ending early ---- */

struct stop {
    size_t seen, limit;
};

static bool stop_after(void *context, const struct doppel_dedup_decision *decision)
{
    struct stop *stop = context;
    (void)decision;
    return ++stop->seen < stop->limit;
}

/* Once something was read; the rest of it must be decided. */
static bool stop_reading(void *context, const char *unit, uint64_t done, uint64_t total)
{
    (void)context;
    (void)total;
    assert_string_not_equal(unit, "records compared");
    return done == 0;
}

static void ends_early_with_what_it_has(void **state)
{
    (void)state;
    struct case_files files = begin(&(struct corpus_plan){.seed = 8, .count = 3000});
    struct doppel_dedup_options options = options_of(&files);
    struct stop stop = {0, 10};
    assert_int_equal(doppel_dedup(&options, stop_after, &stop, NULL), DOPPEL_E_CANCELLED);
    assert_int_equal(stop.seen, 10);
    const char *many[] = {files.path, files.path, files.path, files.path,
                          files.path, files.path, files.path, files.path};
    options.files.paths = many;
    options.files.count = 8;
    options.progress = stop_reading;
    stop = (struct stop){0, SIZE_MAX};
    assert_int_equal(doppel_dedup(&options, stop_after, &stop, NULL), DOPPEL_E_CANCELLED);
    assert_true(stop.seen > 0 && stop.seen < 24000);
    end(&files);
}

static bool stop_at_call(void *context, const char *unit, uint64_t done, uint64_t total)
{
    struct stop *stop = context;
    (void)done;
    (void)total;
    if (strcmp(unit, "records visited") == 0)
        return true; /* to end this is the visitor's */
    return ++stop->seen < stop->limit;
}

/* Of each phase what was told last. */
struct phases {
    const char *units[4];
    uint64_t done[4];
    size_t count;
};

static bool note_phase(void *context, const char *unit, uint64_t done, uint64_t total)
{
    struct phases *phases = context;
    if (!phases->count || strcmp(phases->units[phases->count - 1], unit) != 0) {
        assert_true(phases->count < 3);
        phases->units[phases->count++] = unit;
    } else {
        assert_true(done >= phases->done[phases->count - 1]);
    }
    assert_true(done <= total);
    phases->done[phases->count - 1] = done;
    return true;
}

static bool tells_nothing(void *context, const struct doppel_dedup_decision *decision)
{
    (void)context;
    (void)decision;
    return true;
}

static bool fails(void *context, const struct doppel_dedup_decision *decision)
{
    (void)context;
    (void)decision;
    fail_msg("told of records that may not be decided");
    return false;
}

static void tells_how_far_it_is(void **state)
{
    (void)state;
    struct case_files files = begin(&(struct corpus_plan){.seed = 10, .count = 5000});
    for (uint32_t threads = 1; threads < 4; threads++) {
        struct doppel_dedup_options options = options_of(&files);
        struct phases phases = {.count = 0};
        options.threads = threads;
        options.progress = note_phase;
        options.context = &phases;
        assert_int_equal(doppel_dedup(&options, tells_nothing, NULL, NULL), DOPPEL_OK);
        assert_int_equal(phases.count, 3);
        assert_string_equal(phases.units[0], "bytes");
        assert_int_equal(phases.done[0], files.lines.size);
        assert_string_equal(phases.units[1], "records compared");
        assert_int_equal(phases.done[1], 5000);
        assert_string_equal(phases.units[2], "records visited");
        assert_int_equal(phases.done[2], 5000);
    }
    end(&files);
}

/* Comparing can take much longer than reading: it is looked up there too. */
static void ends_early_while_comparing(void **state)
{
    (void)state;
    struct case_files files = begin(&(struct corpus_plan){.seed = 9, .count = 3000});
    struct doppel_dedup_options options = options_of(&files);
    struct stop stop = {0, SIZE_MAX};
    options.threads = 1;
    options.progress = stop_at_call;
    options.context = &stop;
    assert_int_equal(doppel_dedup(&options, tells_nothing, NULL, NULL), DOPPEL_OK);
    stop = (struct stop){0, stop.seen};
    assert_int_equal(doppel_dedup(&options, fails, NULL, NULL), DOPPEL_E_CANCELLED);
    end(&files);
}

/* ---- a file that is written while it is read ---- */

struct rewriting {
    const struct case_files *files;
    char from, to;
};

/* Once all is read, and before texts are compared. */
static bool write_again(void *context, const char *unit, uint64_t done, uint64_t total)
{
    const struct rewriting *rewriting = context;
    const struct bytes *lines = &rewriting->files->lines;
    if (strcmp(unit, "bytes") != 0 || done < total)
        return true;
    char *bytes = malloc(lines->size);
    for (size_t i = 0; i < lines->size; i++)
        bytes[i] = lines->data[i] == rewriting->from ? rewriting->to : lines->data[i];
    write_file(rewriting->files->path, bytes, lines->size);
    free(bytes);
    return true;
}

/* Other texts at the same places are not compared: signatures are. The same texts are the same. */
static void knows_texts_that_have_changed(void **state)
{
    (void)state;
    struct case_files files = begin(&(struct corpus_plan){.seed = 11, .count = 600});
    struct doppel_dedup_options options = options_of(&files);
    struct rewriting rewriting = {&files, 'w', 'w'};
    char *wanted = dedup_decide(&options);
    assert_true(count_of(wanted, "near") > 0);
    assert_int_equal(count_of(wanted, " signature "), 0);
    options.progress = write_again;
    options.context = &rewriting;
    assert_decides(&options, wanted);
    rewriting.to = 'v'; /* no name of a field has either */
    char *changed = dedup_decide(&options);
    assert_true(count_of(changed, " signature ") > 0);
    free(wanted);
    free(changed);
    end(&files);
}

/* ---- what cannot be done ---- */

static void says_what_cannot_be_done(void **state)
{
    (void)state;
    struct case_files files = begin(&(struct corpus_plan){.seed = 8, .count = 20});
    struct doppel_dedup_options options = options_of(&files);
    struct doppel_error error;
    struct stop stop = {0, SIZE_MAX};
    options.bands = 30;
    options.rows = 5;
    assert_int_equal(doppel_dedup(&options, stop_after, &stop, &error), DOPPEL_E_ARGUMENT);
    options.bands = options.rows = 0;
    options.memory_bytes = 1;
    options.temporary = "/nowhere/at/all";
    assert_int_equal(doppel_dedup(&options, stop_after, &stop, &error), DOPPEL_E_IO);
    assert_non_null(strstr(error.message, "/nowhere/at/all"));
    options.temporary = "/dev/full";
    assert_int_equal(doppel_dedup(&options, stop_after, &stop, &error), DOPPEL_E_IO);
    assert_int_equal(stop.seen, 0);
    end(&files);
}

static void a_corpus_of_nothing_is_fine(void **state)
{
    (void)state;
    struct case_files files = begin(&(struct corpus_plan){.seed = 8, .count = 0});
    struct doppel_dedup_options options = options_of(&files);
    assert_decides(&options, "");
    options.files.count = 0;
    assert_decides(&options, "");
    end(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decides_as_the_oracle),
        cmocka_unit_test(decides_everything_that_there_is),
        cmocka_unit_test(decides_alike_with_other_options),
        cmocka_unit_test(decides_alike_with_threads_and_without_memory),
        cmocka_unit_test(components_are_those_of_the_graph),
        cmocka_unit_test(keeps_shingles_of_what_it_cannot_read_again),
        cmocka_unit_test(gives_lines_back),
        cmocka_unit_test(ends_early_with_what_it_has),
        cmocka_unit_test(tells_how_far_it_is),
        cmocka_unit_test(ends_early_while_comparing),
        cmocka_unit_test(knows_texts_that_have_changed),
        cmocka_unit_test(says_what_cannot_be_done),
        cmocka_unit_test(a_corpus_of_nothing_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
