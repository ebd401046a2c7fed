/* The cache of vectors: which model they are of, damage, bounds, other processes and their ends. */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "embed/vector_cache.h"
#include "made_model.h"

enum { DIMENSION = 48, VECTORS = 200 };
static const uint64_t no_bound = UINT64_C(1) << 40;

static const struct doppel_embedder_identity usual_identity = {
    "m", "0123456789abcdef0123456789abcdef", DIMENSION, "query: "};

/* ---- what the tests share ---- */

/* A unit vector that is the same for the same number. */
static void vector_of(uint64_t number, float *out)
{
    uint64_t state = number * 2654435761U + 1;
    double squares = 0;
    for (int i = 0; i < DIMENSION; i++) {
        out[i] = made_random(&state);
        squares += (double)out[i] * (double)out[i];
    }
    for (int i = 0; i < DIMENSION; i++)
        out[i] = (float)((double)out[i] / sqrt(squares));
}

static struct doppel_digest digest_of(uint64_t number)
{
    return doppel_digest_bytes(&number, sizeof number);
}

static struct vector_cache *open_bounded(const char *path, uint64_t most_bytes, bool renewed)
{
    struct vector_cache *cache = NULL;
    struct doppel_error error;
    bool is_renewed;
    if (vector_cache_open(path, most_bytes, &cache, &is_renewed, &error))
        fail_msg("%s", error.message);
    assert_int_equal(is_renewed, renewed);
    return cache;
}

/* @param probe the number of its vector. @return the status; the revision is in *out */
static enum doppel_status choose_at(struct vector_cache *cache, const char *place, uint64_t probe,
                                    char out[33])
{
    float vector[DIMENSION];
    vector_of(probe, vector);
    const struct cached_model model = {&usual_identity, vector, place, false};
    return vector_cache_choose(cache, &model, out, NULL);
}

static struct vector_cache *open_chosen(const char *path, bool renewed)
{
    struct vector_cache *cache = open_bounded(path, no_bound, renewed);
    char revision[33];
    assert_int_equal(choose_at(cache, "http://a", 1, revision), DOPPEL_OK);
    return cache;
}

static enum doppel_status put_numbers(struct vector_cache *cache, uint64_t first, size_t count)
{
    float rows[VECTORS][DIMENSION];
    struct cached_vector vectors[VECTORS] = {0};
    for (size_t i = 0; i < count; i++) {
        vector_of(first + i, rows[i]);
        vectors[i] = (struct cached_vector){digest_of(first + i), rows[i]};
    }
    return vector_cache_put(cache, vectors, count, NULL);
}

/* Whether it is there; then it is bit for bit what was put. */
static bool has_number(struct vector_cache *cache, uint64_t number)
{
    float wanted[DIMENSION], got[DIMENSION];
    const struct doppel_digest digest = digest_of(number);
    if (vector_cache_get(cache, &digest, got, NULL))
        return false;
    vector_of(number, wanted);
    assert_memory_equal(got, wanted, sizeof wanted);
    return true;
}

static size_t count_numbers(struct vector_cache *cache, uint64_t first, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += has_number(cache, first + i);
    return found;
}

static off_t size_of_file(const char *path)
{
    struct stat stamp;
    return stat(path, &stamp) ? -1 : stamp.st_size;
}

/* ---- vectors and models ---- */

static void test_vectors_are_kept(void **state)
{
    (void)state;
    struct made_folder folder;
    made_folder_begin(&folder);
    const char *path = made_path(&folder, "vectors.db");
    struct vector_cache *cache = open_chosen(path, false);
    assert_int_equal(put_numbers(cache, 0, 0), DOPPEL_OK);
    assert_int_equal(put_numbers(cache, 100, VECTORS), DOPPEL_OK);
    assert_int_equal(put_numbers(cache, 100, 10), DOPPEL_OK); /* again */
    assert_int_equal(count_numbers(cache, 100, VECTORS), VECTORS);
    vector_cache_close(cache);
    cache = open_chosen(path, false);
    assert_int_equal(count_numbers(cache, 100, VECTORS), VECTORS);
    assert_int_equal(count_numbers(cache, 0, 100), 0);
    const struct doppel_digest digest = digest_of(100);
    assert_int_equal(vector_cache_get(cache, &digest, NULL, NULL), DOPPEL_OK);
    vector_cache_close(cache);
    vector_cache_close(NULL);
    made_folder_remove(&folder);
}

static void test_models_do_not_meet(void **state)
{
    (void)state;
    struct made_folder folder;
    struct doppel_embedder_identity other = usual_identity;
    char revision[33];
    float probe[DIMENSION];
    made_folder_begin(&folder);
    struct vector_cache *cache = open_chosen(made_path(&folder, "vectors.db"), false);
    assert_int_equal(put_numbers(cache, 0, 5), DOPPEL_OK);
    vector_of(1, probe);
    const struct cached_model model = {&other, probe, "http://a", false};
    snprintf(other.name, sizeof other.name, "n");
    assert_int_equal(vector_cache_choose(cache, &model, revision, NULL), DOPPEL_OK);
    assert_int_equal(count_numbers(cache, 0, 5), 0);
    assert_int_equal(put_numbers(cache, 3, 5), DOPPEL_OK);
    other = usual_identity;
    other.prefix[0] = '\0';
    assert_int_equal(vector_cache_choose(cache, &model, revision, NULL), DOPPEL_OK);
    assert_int_equal(count_numbers(cache, 0, 8), 0);
    assert_int_equal(choose_at(cache, "http://a", 1, revision), DOPPEL_OK);
    assert_int_equal(count_numbers(cache, 0, 8), 5);
    vector_cache_close(cache);
    made_folder_remove(&folder);
}

/* Rounded otherwise, and so of another revision by itself: it is the same. */
static void test_a_probe_that_is_nearly_the_same(void **state)
{
    (void)state;
    struct made_folder folder;
    struct doppel_embedder_identity now = usual_identity;
    char revision[33];
    float probe[DIMENSION];
    made_folder_begin(&folder);
    struct vector_cache *cache = open_chosen(made_path(&folder, "vectors.db"), false);
    assert_int_equal(put_numbers(cache, 0, 5), DOPPEL_OK);
    snprintf(now.revision, sizeof now.revision, "%s", "ffffffffffffffffffffffffffffffff");
    vector_of(1, probe);
    for (int i = 0; i < DIMENSION; i++)
        probe[i] *= i % 2 ? 1.01F : 0.99F;
    struct cached_model model = {&now, probe, "http://b", false};
    assert_int_equal(vector_cache_choose(cache, &model, revision, NULL), DOPPEL_OK);
    assert_string_equal(revision, usual_identity.revision);
    assert_int_equal(count_numbers(cache, 0, 5), 5); /* of another place, too */
    vector_cache_close(cache);
    made_folder_remove(&folder);
}

static void test_a_place_with_another_model(void **state)
{
    (void)state;
    struct made_folder folder;
    char revision[33] = "untouched";
    float probe[DIMENSION];
    made_folder_begin(&folder);
    struct vector_cache *cache = open_chosen(made_path(&folder, "vectors.db"), false);
    assert_int_equal(put_numbers(cache, 0, 5), DOPPEL_OK);
    assert_int_equal(choose_at(cache, "http://a", 2, revision), DOPPEL_E_VERSION);
    assert_string_equal(revision, "untouched");
    assert_int_equal(choose_at(cache, "http://b", 2, revision), DOPPEL_OK);
    assert_int_equal(count_numbers(cache, 0, 5), 0);
    assert_int_equal(choose_at(cache, "http://a", 2, revision), DOPPEL_E_VERSION); /* known now */
    assert_int_equal(choose_at(cache, "http://a", 1, revision), DOPPEL_OK);
    assert_int_equal(count_numbers(cache, 0, 5), 5);
    vector_of(2, probe);
    const struct cached_model trusted = {&usual_identity, probe, "http://a", true};
    assert_int_equal(vector_cache_choose(cache, &trusted, revision, NULL), DOPPEL_OK);
    assert_int_equal(choose_at(cache, "http://a", 2, revision), DOPPEL_OK);
    assert_int_equal(choose_at(cache, "http://a", 1, revision), DOPPEL_E_VERSION);
    vector_cache_close(cache);
    made_folder_remove(&folder);
}

/* Names with their counts, one after the other. */
static bool append_cached(void *context, const struct doppel_embedder_cached *model)
{
    char *out = context;
    sprintf(out + strlen(out), "%s%s:%d ", model->identity.prefix, model->identity.name,
            (int)model->vectors);
    return true;
}

static bool choose_name(struct vector_cache *cache, const char *name, uint64_t probe)
{
    struct doppel_embedder_identity named = usual_identity;
    char revision[33];
    float vector[DIMENSION];
    vector_of(probe, vector);
    snprintf(named.name, sizeof named.name, "%s", name);
    const struct cached_model model = {&named, vector, "http://a", false};
    return vector_cache_choose(cache, &model, revision, NULL) == DOPPEL_OK;
}

static void test_models_are_forgotten(void **state)
{
    (void)state;
    struct made_folder folder;
    char names[256] = "";
    made_folder_begin(&folder);
    const char *path = made_path(&folder, "vectors.db");
    assert_int_equal(doppel_embedder_cache_list(path, append_cached, names, NULL), DOPPEL_OK);
    assert_int_equal(doppel_embedder_cache_forget(path, "m", NULL), DOPPEL_E_NOT_FOUND);
    assert_int_equal(size_of_file(path), -1);
    struct vector_cache *cache = open_bounded(path, no_bound, false);
    assert_true(choose_name(cache, "n", 1));
    assert_int_equal(put_numbers(cache, 0, 7), DOPPEL_OK);
    assert_true(choose_name(cache, "m", 1));
    assert_int_equal(put_numbers(cache, 0, 9), DOPPEL_OK);
    assert_int_equal(doppel_embedder_cache_list(path, append_cached, names, NULL), DOPPEL_OK);
    assert_string_equal(names, "query: m:9 query: n:7 ");
    assert_int_equal(doppel_embedder_cache_forget(path, "other", NULL), DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_embedder_cache_forget(path, "m", NULL), DOPPEL_OK);
    struct vector_cache *later = open_bounded(path, no_bound, false);
    assert_true(choose_name(later, "x", 2)); /* whose row is not the one that was m's */
    assert_int_equal(put_numbers(cache, 0, 5), DOPPEL_OK);
    assert_int_equal(count_numbers(later, 0, 9), 0);
    assert_true(choose_name(later, "m", 2)); /* another model, in the place of that one */
    assert_int_equal(count_numbers(later, 0, 9), 0);
    assert_true(choose_name(later, "n", 1));
    assert_int_equal(count_numbers(later, 0, 9), 7);
    vector_cache_close(later);
    vector_cache_close(cache);
    made_folder_remove(&folder);
}

/* ---- damage ---- */

static void test_what_is_no_cache(void **state)
{
    (void)state;
    struct made_folder folder;
    struct vector_cache *cache = NULL;
    struct doppel_error error;
    bool renewed;
    size_t size;
    made_folder_begin(&folder);
    const char *path = made_path(&folder, "vectors.db");
    made_file(path, "\x89PNG, a picture of somebody's", 29);
    assert_int_equal(vector_cache_open(path, no_bound, &cache, &renewed, &error), DOPPEL_E_FORMAT);
    assert_non_null(strstr(error.message, "left alone"));
    char *bytes = made_read(path, &size);
    assert_memory_equal(bytes, "\x89PNG, a picture of somebody's", 29);
    free(bytes);
    path = made_path(&folder, "none/vectors.db");
    assert_true(vector_cache_open(path, no_bound, &cache, &renewed, &error) != DOPPEL_OK);
    assert_null(cache);
    made_folder_remove(&folder);
}

static void test_a_damaged_one_is_quarantined(void **state)
{
    (void)state;
    struct made_folder folder;
    size_t size;
    made_folder_begin(&folder);
    const char *path = made_path(&folder, "vectors.db");
    struct vector_cache *cache = open_chosen(path, false);
    assert_int_equal(put_numbers(cache, 0, VECTORS), DOPPEL_OK);
    vector_cache_close(cache);
    char *bytes = made_read(path, &size);
    memset(bytes + 100, 0x5a, 400); /* the schema */
    made_file(path, bytes, size);
    free(bytes);
    cache = open_chosen(path, true);
    assert_int_equal(count_numbers(cache, 0, VECTORS), 0);
    assert_int_equal(put_numbers(cache, 0, 5), DOPPEL_OK);
    vector_cache_close(cache);
    assert_int_equal(size_of_file(made_path(&folder, "vectors.db.damaged")), size);
    cache = open_chosen(path, false);
    assert_int_equal(count_numbers(cache, 0, 5), 5);
    vector_cache_close(cache);
    made_folder_remove(&folder);
}

/* Wherever a byte is another one: what is found is what was put. */
static void check_flipped(const char *path, const char *bytes, size_t size, size_t place)
{
    struct vector_cache *cache = NULL;
    char revision[33], *copy = malloc(size);
    bool renewed;
    memcpy(copy, bytes, size);
    copy[place] = (char)(copy[place] ^ 0x11);
    made_file(path, copy, size);
    free(copy);
    if (vector_cache_open(path, no_bound, &cache, &renewed, NULL))
        return;
    if (!choose_at(cache, "http://a", 1, revision)) {
        count_numbers(cache, 0, VECTORS);
        (void)put_numbers(cache, 1000, 3);
    }
    vector_cache_close(cache);
}

static void test_flipped_bytes(void **state)
{
    (void)state;
    struct made_folder folder;
    size_t size;
    uint64_t seed = 3;
    made_folder_begin(&folder);
    const char *path = made_path(&folder, "vectors.db");
    struct vector_cache *cache = open_chosen(path, false);
    assert_int_equal(put_numbers(cache, 0, VECTORS), DOPPEL_OK);
    vector_cache_close(cache);
    char *bytes = made_read(path, &size);
    for (int i = 0; i < 150; i++) {
        double share = 0.5 + 0.5 * (double)made_random(&seed);
        check_flipped(path, bytes, size, (size_t)(share * (double)(size - 1)));
    }
    free(bytes);
    made_folder_remove(&folder);
}

static void test_a_vector_that_is_damaged_is_not_there(void **state)
{
    (void)state;
    struct made_folder folder;
    float row[DIMENSION];
    size_t size, at = 0;
    made_folder_begin(&folder);
    const char *path = made_path(&folder, "vectors.db");
    struct vector_cache *cache = open_chosen(path, false);
    assert_int_equal(put_numbers(cache, 0, VECTORS), DOPPEL_OK);
    vector_cache_close(cache);
    char *bytes = made_read(path, &size);
    vector_of(7, row);
    while (at + sizeof row <= size && memcmp(bytes + at, row, sizeof row) != 0)
        at++;
    assert_true(at + sizeof row <= size);
    bytes[at + 5] ^= 1;
    made_file(path, bytes, size);
    free(bytes);
    cache = open_chosen(path, false);
    assert_false(has_number(cache, 7));
    assert_int_equal(count_numbers(cache, 0, VECTORS), VECTORS - 1);
    assert_int_equal(put_numbers(cache, 7, 1), DOPPEL_OK);
    assert_true(has_number(cache, 7));
    vector_cache_close(cache);
    made_folder_remove(&folder);
}

/* A model that is damaged is one that was never there, and not another one. */
static void test_a_model_that_is_damaged(void **state)
{
    (void)state;
    struct made_folder folder;
    float probe[DIMENSION];
    size_t size, at = 0;
    char revision[33];
    made_folder_begin(&folder);
    const char *path = made_path(&folder, "vectors.db");
    struct vector_cache *cache = open_chosen(path, false);
    assert_int_equal(put_numbers(cache, 2, VECTORS), DOPPEL_OK);
    vector_cache_close(cache);
    char *bytes = made_read(path, &size);
    vector_of(1, probe);
    while (at + sizeof probe <= size && memcmp(bytes + at, probe, sizeof probe) != 0)
        at++;
    assert_true(at + sizeof probe <= size);
    bytes[at + 3] = (char)(bytes[at + 3] ^ 0x41);
    made_file(path, bytes, size);
    free(bytes);
    cache = open_chosen(path, false);
    assert_int_equal(count_numbers(cache, 2, VECTORS), 0);
    assert_int_equal(put_numbers(cache, 2, VECTORS), DOPPEL_OK);
    assert_int_equal(count_numbers(cache, 2, VECTORS), VECTORS);
    assert_int_equal(choose_at(cache, "http://a", 5, revision), DOPPEL_E_VERSION);
    vector_cache_close(cache);
    made_folder_remove(&folder);
}

/* ---- bounds ---- */

static void test_the_oldest_go(void **state)
{
    (void)state;
    struct made_folder folder;
    char revision[33];
    enum { ROUNDS = 60, BATCH = 50, MOST = 256 << 10 };
    made_folder_begin(&folder);
    const char *path = made_path(&folder, "vectors.db");
    struct vector_cache *cache = open_bounded(path, MOST, false);
    assert_int_equal(choose_at(cache, "http://a", 1, revision), DOPPEL_OK);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        assert_int_equal(put_numbers(cache, i * BATCH, BATCH), DOPPEL_OK);
        assert_int_equal(count_numbers(cache, i * BATCH, BATCH), BATCH);
    }
    assert_int_equal(count_numbers(cache, 0, BATCH), 0);
    assert_true(count_numbers(cache, 0, ROUNDS * BATCH) > 500);
    vector_cache_close(cache);
    assert_true(size_of_file(path) > MOST / 2 && size_of_file(path) < MOST * 5 / 4);
    made_folder_remove(&folder);
}

static void fill_small_disk(const char *path)
{
    struct vector_cache *cache;
    char revision[33];
    bool renewed;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){400 << 10, 400 << 10});
    if (vector_cache_open(path, no_bound, &cache, &renewed, NULL) ||
        choose_at(cache, "http://a", 1, revision))
        _exit(1);
    size_t kept = 0;
    while (kept < 100 && !put_numbers(cache, kept * VECTORS, VECTORS))
        kept++;
    enum doppel_status status = put_numbers(cache, kept * VECTORS, VECTORS);
    bool told = status == DOPPEL_E_NO_SPACE || status == DOPPEL_E_IO;
    size_t found = kept ? count_numbers(cache, 0, VECTORS) : 0; /* what is there can be read */
    vector_cache_close(cache);
    _exit(told && kept && kept < 100 && found == VECTORS ? 0 : 2);
}

static void test_a_full_disk(void **state)
{
    (void)state;
    struct made_folder folder;
    int code;
    made_folder_begin(&folder);
    const char *path = made_path(&folder, "vectors.db");
    pid_t child = fork();
    if (!child)
        fill_small_disk(path);
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_int_equal(code, 0);
    struct vector_cache *cache = open_chosen(path, false);
    assert_int_equal(count_numbers(cache, 0, VECTORS), VECTORS);
    vector_cache_close(cache);
    made_folder_remove(&folder);
}

/* ---- other processes ---- */

/* Its own vectors, and those of all. */
static void put_beside_others(const char *path, uint64_t process)
{
    struct vector_cache *cache;
    char revision[33];
    bool renewed;
    if (vector_cache_open(path, no_bound, &cache, &renewed, NULL) ||
        choose_at(cache, "http://a", 1, revision) || strcmp(revision, usual_identity.revision) != 0)
        _exit(1);
    for (uint64_t i = 0; i < 20; i++)
        if (put_numbers(cache, process * 1000 + i * 10, 10) || put_numbers(cache, i * 10, 10))
            _exit(2);
    vector_cache_close(cache);
    _exit(0);
}

static void test_processes_share_it(void **state)
{
    (void)state;
    struct made_folder folder;
    enum { PROCESSES = 4 };
    pid_t children[PROCESSES];
    int code;
    made_folder_begin(&folder);
    const char *path = made_path(&folder, "vectors.db");
    for (uint64_t i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (!children[i])
            put_beside_others(path, i + 1);
    }
    for (int i = 0; i < PROCESSES; i++) {
        assert_int_equal(waitpid(children[i], &code, 0), children[i]);
        assert_int_equal(code, 0);
    }
    struct vector_cache *cache = open_chosen(path, false);
    for (uint64_t i = 0; i <= PROCESSES; i++)
        assert_int_equal(count_numbers(cache, i * 1000, 200), 200);
    vector_cache_close(cache);
    made_folder_remove(&folder);
}

static void put_until_killed(const char *path, int out)
{
    struct vector_cache *cache;
    char revision[33];
    bool renewed;
    if (vector_cache_open(path, no_bound, &cache, &renewed, NULL) ||
        choose_at(cache, "http://a", 1, revision))
        _exit(1);
    for (uint64_t i = 0; !put_numbers(cache, i * 10, 10); i++)
        if (write(out, "x", 1) != 1)
            break;
    _exit(2);
}

static void test_what_was_put_survives_a_kill(void **state)
{
    (void)state;
    struct made_folder folder;
    made_folder_begin(&folder);
    const char *path = made_path(&folder, "vectors.db");
    for (int round = 0; round < 5; round++) {
        int ends[2], code;
        char byte;
        size_t kept = 0;
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (!child)
            put_until_killed(path, ends[1]);
        close(ends[1]);
        while (kept < 30 && read(ends[0], &byte, 1) == 1)
            kept++;
        kill(child, SIGKILL);
        while (read(ends[0], &byte, 1) == 1)
            kept++;
        close(ends[0]);
        assert_int_equal(waitpid(child, &code, 0), child);
        assert_true(WIFSIGNALED(code) && kept >= 30);
        struct vector_cache *cache = open_chosen(path, false);
        assert_int_equal(count_numbers(cache, 0, kept * 10), kept * 10);
        vector_cache_close(cache);
    }
    made_folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors_are_kept),
        cmocka_unit_test(test_models_do_not_meet),
        cmocka_unit_test(test_a_probe_that_is_nearly_the_same),
        cmocka_unit_test(test_a_place_with_another_model),
        cmocka_unit_test(test_models_are_forgotten),
        cmocka_unit_test(test_what_is_no_cache),
        cmocka_unit_test(test_a_damaged_one_is_quarantined),
        cmocka_unit_test(test_flipped_bytes),
        cmocka_unit_test(test_a_vector_that_is_damaged_is_not_there),
        cmocka_unit_test(test_a_model_that_is_damaged),
        cmocka_unit_test(test_the_oldest_go),
        cmocka_unit_test(test_a_full_disk),
        cmocka_unit_test(test_processes_share_it),
        cmocka_unit_test(test_what_was_put_survives_a_kill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
