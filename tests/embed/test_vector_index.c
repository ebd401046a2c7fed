/* An index of vectors in a folder: ids, places taken, removals, what another process sees. */
#include <doppel/embed_index.h>

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "../vector/vectors.h"

enum { DIMENSION = 20, MANY = 6000 };

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/doppel-vector-index-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static struct doppel_embedder_identity identity_of(const char *revision, uint32_t dimension)
{
    struct doppel_embedder_identity identity = {.name = "clip", .dimension = dimension};
    strcpy(identity.revision, revision);
    return identity;
}

static struct doppel_vector_index *open_index(bool make, bool named)
{
    const struct doppel_embedder_identity identity =
        identity_of("00112233445566778899aabbccddeeff", DIMENSION);
    const struct doppel_vector_index_options options = {
        .folder = folder, .make = make ? &identity : NULL, .named = named, .write = make};
    struct doppel_vector_index *index = NULL;
    struct doppel_error error;
    if (doppel_vector_index_open(&options, &index, &error))
        fail_msg("%s", error.message);
    return index;
}

/* ---- vectors whose ids are v0, v1, … ---- */

struct named_rows {
    struct doppel_vectors vectors;
    size_t first; /* the id of row 0 is v and this */
    char id[32];
};

static const char *row_id(void *context, size_t row)
{
    struct named_rows *rows = context;
    snprintf(rows->id, sizeof rows->id, "v%zu", rows->first + row);
    return rows->id;
}

static enum doppel_status add_rows(struct doppel_vector_index *index, struct named_rows *rows)
{
    const struct doppel_vector_index_rows request = {&rows->vectors, row_id, rows};
    return doppel_vector_index_add(index, &request, NULL, NULL);
}

/* ---- what is found ---- */

struct nearest_found {
    char id[32];
    uint64_t number;
    float cosine;
    size_t count;
};

static bool note_nearest(void *context, const struct doppel_vector_found *found)
{
    struct nearest_found *nearest = context;
    if (!nearest->count++) {
        snprintf(nearest->id, sizeof nearest->id, "%s", found->id ? found->id : "");
        nearest->number = found->number;
        nearest->cosine = found->cosine;
    }
    return true;
}

static struct nearest_found nearest_to(struct doppel_vector_index *index, const float *row)
{
    const struct doppel_vectors query = {row, 1, DIMENSION};
    const struct doppel_vector_index_request request = {
        .queries = &query, .min_cosine = 0.9999F, .nearest = 3};
    struct nearest_found nearest = {0};
    assert_int_equal(doppel_vector_index_search(index, &request, note_nearest, &nearest, NULL),
                     DOPPEL_OK);
    return nearest;
}

static void expect_nearest(struct doppel_vector_index *index, const float *row, const char *id)
{
    const struct nearest_found nearest = nearest_to(index, row);
    assert_int_equal(nearest.count, id ? 1 : 0);
    if (id)
        assert_string_equal(nearest.id, id);
}

static void ids_take_places_and_are_removed(void **state)
{
    float *first = random_vectors(SHAPE_EVEN, MANY, DIMENSION, 1);
    float *second = random_vectors(SHAPE_EVEN, MANY, DIMENSION, 2);
    struct doppel_vector_index *index = open_index(true, true);
    struct doppel_error error;
    (void)state;
    struct named_rows rows = {.vectors = {first, MANY, DIMENSION}}; /* straight into a segment */
    assert_int_equal(add_rows(index, &rows), DOPPEL_OK);
    expect_nearest(index, first + 17 * DIMENSION, "v17");
    expect_nearest(index, second, NULL);
    rows = (struct named_rows){.vectors = {second, 50, DIMENSION}, .first = 10}; /* by the log */
    assert_int_equal(add_rows(index, &rows), DOPPEL_OK);
    expect_nearest(index, first + 17 * DIMENSION, NULL);
    expect_nearest(index, second + 7 * DIMENSION, "v17");
    expect_nearest(index, first + 9 * DIMENSION, "v9");
    assert_int_equal(doppel_vector_index_remove(index, "v17", NULL), DOPPEL_OK);
    assert_int_equal(doppel_vector_index_remove(index, "v17", &error), DOPPEL_E_NOT_FOUND);
    doppel_vector_index_close(index);
    index = open_index(false, false);
    assert_true(doppel_vector_index_is_named(index));
    expect_nearest(index, second + 7 * DIMENSION, NULL);
    expect_nearest(index, second + 8 * DIMENSION, "v18");
    doppel_vector_index_close(index);
    index = open_index(true, true);
    rows = (struct named_rows){.vectors = {second, MANY, DIMENSION}}; /* all of them again */
    assert_int_equal(add_rows(index, &rows), DOPPEL_OK);
    assert_int_equal(doppel_store_index_compact(doppel_vector_index_codes(index), true, NULL),
                     DOPPEL_OK);
    expect_nearest(index, first + 9 * DIMENSION, NULL);
    for (size_t i = 0; i < MANY; i += 997) {
        char id[32];
        snprintf(id, sizeof id, "v%zu", i);
        expect_nearest(index, second + i * DIMENSION, id);
    }
    doppel_vector_index_close(index);
    free(first);
    free(second);
}

/* ---- all ids ---- */

struct ids_seen {
    size_t there, lost;
    bool wrong;
};

static bool note_id(void *context, const char *id, bool is_there)
{
    struct ids_seen *seen = context;
    seen->there += is_there;
    seen->lost += !is_there;
    seen->wrong |= strncmp(id, "v1", 2) == 0;
    return true;
}

/* Those that begin with v1 are removed from a segment and from the log. */
static void ids_are_visited_and_removed_by_their_beginning(void **state)
{
    float *own = random_vectors(SHAPE_EVEN, MANY + 100, DIMENSION, 6);
    size_t removed = 0;
    struct ids_seen seen = {0};
    struct doppel_error error;
    struct doppel_vector_index *index = open_index(true, true);
    (void)state;
    struct named_rows rows = {.vectors = {own, MANY, DIMENSION}};
    assert_int_equal(add_rows(index, &rows), DOPPEL_OK);
    rows = (struct named_rows){.vectors = {own + MANY * DIMENSION, 100, DIMENSION}, .first = MANY};
    assert_int_equal(add_rows(index, &rows), DOPPEL_OK);
    for (size_t i = 0; i < MANY + 100; i++) {
        char id[32];
        snprintf(id, sizeof id, "v%zu", i);
        removed += strncmp(id, "v1", 2) == 0;
    }
    assert_int_equal(doppel_vector_index_remove_all(index, "v1", &error), DOPPEL_OK);
    assert_int_equal(doppel_vector_index_remove_all(index, "v1", &error), DOPPEL_OK);
    assert_int_equal(doppel_vector_index_each_id(index, note_id, &seen, &error), DOPPEL_OK);
    assert_int_equal(seen.there, MANY + 100 - removed);
    assert_false(seen.lost || seen.wrong);
    expect_nearest(index, own + 17 * DIMENSION, NULL);
    expect_nearest(index, own + 27 * DIMENSION, "v27");
    doppel_vector_index_close(index);
    free(own);
}

static bool remove_segment(void *context, const struct doppel_store_segment *segment)
{
    char path[160];
    (void)context;
    snprintf(path, sizeof path, "%s/%s", folder, segment->name);
    return remove(path) == 0;
}

/* What lay in a segment that is gone still has ids. */
static void ids_of_what_is_lost_are_told(void **state)
{
    float *own = random_vectors(SHAPE_EVEN, MANY + 100, DIMENSION, 7);
    const struct doppel_vector_index_options options = {
        .folder = folder, .write = true, .salvage = true};
    struct ids_seen seen = {0};
    struct doppel_vector_index *index = open_index(true, true);
    (void)state;
    struct named_rows rows = {.vectors = {own, MANY, DIMENSION}};
    assert_int_equal(add_rows(index, &rows), DOPPEL_OK);
    rows = (struct named_rows){.vectors = {own + MANY * DIMENSION, 100, DIMENSION}, .first = MANY};
    assert_int_equal(add_rows(index, &rows), DOPPEL_OK);
    assert_int_equal(
        doppel_store_index_verify(doppel_vector_index_codes(index), remove_segment, NULL, NULL),
        DOPPEL_OK);
    doppel_vector_index_close(index);
    assert_int_equal(doppel_vector_index_open(&options, &index, NULL), DOPPEL_OK);
    assert_int_equal(doppel_store_index_repair(doppel_vector_index_codes(index), NULL, NULL, NULL),
                     DOPPEL_OK);
    assert_int_equal(doppel_vector_index_each_id(index, note_id, &seen, NULL), DOPPEL_OK);
    assert_int_equal(seen.lost, MANY);
    assert_int_equal(seen.there, 100);
    doppel_vector_index_close(index);
    free(own);
}

static void numbers_are_ids_where_there_are_none(void **state)
{
    float *rows = random_vectors(SHAPE_EVEN, 30, DIMENSION, 3);
    const struct doppel_vectors vectors = {rows, 20, DIMENSION};
    const struct doppel_vectors more = {rows + 20 * DIMENSION, 10, DIMENSION};
    struct doppel_vector_index *index = open_index(true, false);
    struct doppel_error error;
    (void)state;
    assert_int_equal(
        doppel_vector_index_add(index, &(struct doppel_vector_index_rows){.vectors = &vectors},
                                NULL, NULL),
        DOPPEL_OK);
    assert_int_equal(doppel_vector_index_add(
                         index, &(struct doppel_vector_index_rows){.vectors = &more}, NULL, NULL),
                     DOPPEL_OK);
    assert_int_equal(nearest_to(index, rows + 25 * DIMENSION).number, 25);
    assert_int_equal(doppel_vector_index_remove(index, "25", NULL), DOPPEL_OK);
    assert_int_equal(nearest_to(index, rows + 25 * DIMENSION).count, 0);
    assert_int_equal(doppel_vector_index_remove(index, "30", &error), DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_vector_index_remove(index, "x", &error), DOPPEL_E_NOT_FOUND);
    doppel_vector_index_close(index);
    free(rows);
}

static void what_does_not_fit_is_refused(void **state)
{
    float row[DIMENSION + 1] = {1};
    struct doppel_vector_index *index = open_index(true, true), *other = NULL;
    struct doppel_error error;
    (void)state;
    struct named_rows rows = {.vectors = {row, 1, DIMENSION + 1}};
    assert_int_equal(add_rows(index, &rows), DOPPEL_E_ARGUMENT);
    const struct doppel_vectors vectors = {row, 1, DIMENSION};
    const struct doppel_vector_index_rows unnamed = {.vectors = &vectors};
    assert_int_equal(doppel_vector_index_add(index, &unnamed, NULL, &error), DOPPEL_E_ARGUMENT);
    row[3] = NAN;
    rows.vectors = vectors;
    assert_int_equal(add_rows(index, &rows), DOPPEL_E_FORMAT);
    const struct doppel_vector_index_request request = {.queries = &vectors};
    struct nearest_found nearest = {0};
    assert_int_equal(doppel_vector_index_search(index, &request, note_nearest, &nearest, &error),
                     DOPPEL_E_FORMAT);
    /* another writer; another model; another folder */
    const struct doppel_embedder_identity identity =
        identity_of("ffeeddccbbaa99887766554433221100", DIMENSION);
    doppel_vector_index_close(index);
    struct doppel_vector_index_options options = {
        .folder = folder, .make = &identity, .named = true, .write = true};
    assert_int_equal(doppel_vector_index_open(&options, &other, &error), DOPPEL_E_VERSION);
    assert_true(strstr(error.message, "clip") != NULL);
    options = (struct doppel_vector_index_options){.folder = "/tmp"};
    assert_int_equal(doppel_vector_index_open(&options, &other, &error), DOPPEL_E_NOT_FOUND);
    assert_false(doppel_vector_index_is_there("/tmp"));
    assert_true(doppel_vector_index_is_there(folder));
}

/* Several processes add to a shared one at the same time, and each finds what the others added. */
static void a_shared_one_has_several_writers(void **state)
{
    enum { WRITERS = 4, EACH = 60 };
    float *rows = random_vectors(SHAPE_EVEN, WRITERS * EACH, DIMENSION, 9);
    const struct doppel_embedder_identity identity =
        identity_of("00112233445566778899aabbccddeeff", DIMENSION);
    const struct doppel_vector_index_options options = {
        .folder = folder, .make = &identity, .named = true, .write = true, .shared = true};
    pid_t children[WRITERS];
    (void)state;
    for (size_t writer = 0; writer < WRITERS; writer++) {
        children[writer] = fork();
        assert_true(children[writer] >= 0);
        if (children[writer])
            continue;
        struct doppel_vector_index *index;
        bool ok = doppel_vector_index_open(&options, &index, NULL) == DOPPEL_OK;
        for (size_t i = 0; i < EACH && ok; i++) {
            struct named_rows one = {
                .vectors = {rows + (writer * EACH + i) * DIMENSION, 1, DIMENSION},
                .first = writer * EACH + i};
            ok = add_rows(index, &one) == DOPPEL_OK;
        }
        if (ok)
            doppel_vector_index_close(index);
        _exit(!ok);
    }
    for (size_t writer = 0; writer < WRITERS; writer++) {
        int ended;
        assert_int_equal(waitpid(children[writer], &ended, 0), children[writer]);
        assert_int_equal(ended, 0);
    }
    struct doppel_vector_index *index;
    assert_int_equal(doppel_vector_index_open(&options, &index, NULL), DOPPEL_OK);
    for (size_t i = 0; i < WRITERS * EACH; i++) {
        char id[32];
        snprintf(id, sizeof id, "v%zu", i);
        expect_nearest(index, rows + i * DIMENSION, id);
    }
    doppel_vector_index_close(index);
    free(rows);
}

/* A process that is killed leaves all of what it added, or nothing, and what was there before. */
static void a_killed_writer_leaves_it_whole(void **state)
{
    float *rows = random_vectors(SHAPE_EVEN, 2 * MANY, DIMENSION, 5);
    struct named_rows first = {.vectors = {rows, MANY, DIMENSION}};
    (void)state;
    struct doppel_vector_index *index = open_index(true, true);
    assert_int_equal(add_rows(index, &first), DOPPEL_OK);
    doppel_vector_index_close(index);
    for (unsigned turn = 0; turn < 12; turn++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (!child) {
            struct named_rows second = {.vectors = {rows + MANY * DIMENSION, MANY, DIMENSION},
                                        .first = MANY / 2};
            index = open_index(true, true);
            for (;;)
                (void)add_rows(index, &second);
        }
        usleep(4000 + turn * 17000);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        index = open_index(true, true);
        expect_nearest(index, rows + 5 * DIMENSION, "v5");
        const float *taken = rows + (MANY / 2 + 5) * DIMENSION;
        const float *fresh = rows + (MANY + 5) * DIMENSION;
        const size_t old = nearest_to(index, taken).count, now = nearest_to(index, fresh).count;
        assert_int_equal(old + now, 1);
        doppel_vector_index_close(index);
    }
    free(rows);
}

/* Whoever opens it meanwhile finds it whole, or not there. */
static void one_that_is_just_made(void **state)
{
    (void)state;
    enum { ROUNDS = 60 };
    const struct doppel_vector_index_options reading = {.folder = folder, .shared = true};
    const struct doppel_embedder_identity identity =
        identity_of("00112233445566778899aabbccddeeff", DIMENSION);
    const struct doppel_vector_index_options making = {
        .folder = folder, .make = &identity, .named = true, .write = true, .shared = true};
    for (int round = 0; round < ROUNDS; round++) {
        struct doppel_vector_index *index = NULL;
        struct doppel_error error = {0};
        enum doppel_status status = DOPPEL_E_NOT_FOUND;
        int code;
        const pid_t child = fork();
        if (!child)
            _exit(doppel_vector_index_open(&making, &index, NULL) != DOPPEL_OK);
        while (status == DOPPEL_E_NOT_FOUND)
            status = doppel_vector_index_open(&reading, &index, &error);
        if (status)
            fail_msg("round %d: %s", round, error.message);
        assert_int_equal(doppel_vector_index_identity(index)->dimension, DIMENSION);
        doppel_vector_index_close(index);
        assert_true(waitpid(child, &code, 0) == child && WIFEXITED(code) && !WEXITSTATUS(code));
        assert_int_equal(remove_folder(NULL), 0);
        assert_int_equal(make_folder(NULL), 0);
    }
}

/* Killed after its tables were there: the next one goes on. */
static void one_whose_making_was_interrupted(void **state)
{
    (void)state;
    char command[256];
    doppel_vector_index_close(open_index(true, true));
    snprintf(command, sizeof command, "%s/vectors.db", folder);
    sqlite3 *database;
    assert_int_equal(sqlite3_open(command, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, "DELETE FROM vector_model", NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(database);
    const struct doppel_vector_index_options reading = {.folder = folder};
    struct doppel_vector_index *index = NULL;
    struct doppel_error error;
    assert_int_equal(doppel_vector_index_open(&reading, &index, &error), DOPPEL_E_NOT_FOUND);
    assert_non_null(strstr(error.message, "its making was interrupted"));
    doppel_vector_index_close(open_index(true, true));
    index = open_index(false, true);
    assert_string_equal(doppel_vector_index_identity(index)->name, "clip");
    doppel_vector_index_close(index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ids_take_places_and_are_removed, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(ids_are_visited_and_removed_by_their_beginning, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(ids_of_what_is_lost_are_told, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(numbers_are_ids_where_there_are_none, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(what_does_not_fit_is_refused, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_shared_one_has_several_writers, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(one_that_is_just_made, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(one_whose_making_was_interrupted, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_killed_writer_leaves_it_whole, make_folder,
                                        remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
