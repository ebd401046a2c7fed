/* Deciding record by record against a library: as the oracle of whole corpora, at once or in
 * pieces, by one process or by two in turns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/corpus/dedup_oracle.h"

/* A corpus and a library on the disk. */
struct case_files {
    struct corpus corpus;
    struct bytes lines;
    char *folder, *path, *library;
    const char *paths[1];
    struct doppel_dedup_options options;
};

static void begin(const struct corpus_plan *plan, struct case_files *files)
{
    *files = (struct case_files){.corpus = corpus_make(plan), .folder = folder_make()};
    corpus_write(&files->corpus, &files->lines);
    files->path = path_in(files->folder, "corpus.jsonl");
    files->library = path_in(files->folder, "library");
    write_file(files->path, files->lines.size ? files->lines.data : "", files->lines.size);
    files->paths[0] = files->path;
    files->options = dedup_options(files->paths, 1);
}

static void end(struct case_files *files)
{
    corpus_free(&files->corpus);
    bytes_free(&files->lines);
    free(files->path);
    free(files->library);
    folder_remove(files->folder);
}

static struct doppel_library *open_library(const struct case_files *files)
{
    const struct doppel_library_options create = {.create = true};
    struct doppel_library *library = NULL;
    struct doppel_error error;
    if (doppel_library_open(files->library, &create, &library, &error))
        fail_msg("%s", error.message);
    return library;
}

/* The first lines that differ are shown. */
static void assert_same_lines(const char *got, const char *wanted)
{
    size_t line = 1;
    while (*got && *got == *wanted) {
        size_t size = strcspn(got, "\n");
        if (strncmp(got, wanted, size + 1) != 0)
            break;
        got += size + 1;
        wanted += size + 1;
        line++;
    }
    if (*got || *wanted)
        fail_msg("line %zu\ngot    %.*s\nwanted %.*s", line, (int)strcspn(got, "\n"), got,
                 (int)strcspn(wanted, "\n"), wanted);
}

static void remove_library(const struct case_files *files)
{
    char command[1200];
    snprintf(command, sizeof command, "rm -rf '%s'", files->library);
    assert_int_equal(system(command), 0);
}

static void decides_as_the_oracle(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct case_files files;
        begin(&(struct corpus_plan){.seed = seed * 104729,
                                    .count = 300,
                                    .templates = seed % 3,
                                    .same_ids = seed % 2,
                                    .short_texts = seed % 4 == 3},
              &files);
        for (int same = DOPPEL_SAME_ID_UPDATE; same <= DOPPEL_SAME_ID_ERROR; same++) {
            files.options.on_same_id = (enum doppel_same_id)same;
            files.options.threads = 1 + (uint32_t)seed % 3;
            char *wanted = oracle_decide(&files.corpus, &files.options);
            struct doppel_library *library = open_library(&files);
            char *got = ingest_decide(library, &files.options);
            assert_same_lines(got, wanted);
            doppel_library_close(library);
            remove_library(&files);
            free(got);
            free(wanted);
        }
        end(&files);
    }
}

/* Decisions without the numbers of records and lines, which count anew in each piece. */
static char *strip(char *lines)
{
    char *to = lines;
    for (char *line = lines; *line;) {
        size_t size = strcspn(line, "\n") + 1;
        size_t skip = strcspn(line, " ");
        memmove(to, line + skip, size - skip);
        to += size - skip;
        line += size;
    }
    *to = '\0';
    return lines;
}

int main(void)
{
    (void)strip;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decides_as_the_oracle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
