/* Readers, a writer and a merging thread at once; built with ThreadSanitizer where there is one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <unistd.h>

#include <doppel/index.h>

#include "index/codes.h"

enum { ROUNDS = 10000, READERS = 2, LAG = 700, FLUSH_EVERY = 97 };

/* Round i inserts its code under two payloads in one call; a while later both are removed in one.
 * So a reader finds both or none, and knows which from the rounds that have begun and ended. */
struct races {
    struct doppel_index *index;
    _Atomic uint64_t inserted, removing, removed; /* rounds */
    _Atomic bool over;
    _Atomic uint64_t wrong;
};

static uint64_t code_of(uint64_t round)
{
    uint64_t state = round;
    return random_word(&state);
}

static void *write_rounds(void *argument)
{
    struct races *races = argument;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t codes[2] = {code_of(round), code_of(round)};
        uint64_t payloads[2] = {2 * round, 2 * round + 1};
        races->wrong += doppel_index_insert(races->index, codes, payloads, 2, NULL) != DOPPEL_OK;
        races->inserted = round + 1;
        if (round >= LAG) {
            uint64_t old[2] = {2 * (round - LAG), 2 * (round - LAG) + 1};
            races->removing = round - LAG + 1;
            races->wrong += doppel_index_remove(races->index, old, 2, NULL) != DOPPEL_OK;
            races->removed = round - LAG + 1;
        }
        if (round % FLUSH_EVERY == 0)
            races->wrong += doppel_index_flush(races->index, NULL) != DOPPEL_OK;
    }
    races->over = true;
    return NULL;
}

static void *merge_all_the_time(void *argument)
{
    struct races *races = argument;
    for (unsigned i = 0; !races->over; i++) {
        races->wrong += doppel_index_compact(races->index, i % 8 == 7, NULL) != DOPPEL_OK;
        usleep(200);
    }
    return NULL;
}

static void *read_all_the_time(void *argument)
{
    struct races *races = argument;
    uint64_t seed = (uintptr_t)&seed;
    while (!races->over) {
        uint64_t inserted = races->inserted, removed = races->removed;
        uint64_t round = random_word(&seed) % (inserted + 3), code = code_of(round);
        struct doppel_index_hit *hits = NULL;
        struct doppel_index_request request = {.queries = &code, .count = 1, .radius = 3};
        if (random_word(&seed) % 2)
            request.nearest = 2;
        size_t count = 0;
        if (doppel_index_search_array(races->index, &request, &hits, &count, NULL)) {
            races->wrong++;
            continue;
        }
        bool whole = count == 2 && hits[0].payload == 2 * round && hits[1].payload == 2 * round + 1;
        bool must_be = round < inserted && round >= races->removing, must_not_be = round < removed;
        if ((count && !whole) || (must_be && !whole) || (must_not_be && count))
            races->wrong++;
        free(hits);
        if (random_word(&seed) % 16 == 0)
            races->wrong += doppel_index_info(races->index).codes > 2 * ROUNDS;
    }
    return NULL;
}

static void race(struct races *races)
{
    pthread_t threads[READERS + 2];
    assert_int_equal(pthread_create(&threads[0], NULL, merge_all_the_time, races), 0);
    for (unsigned i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&threads[1 + i], NULL, read_all_the_time, races), 0);
    assert_int_equal(pthread_create(&threads[READERS + 1], NULL, write_rounds, races), 0);
    for (unsigned i = 0; i < READERS + 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(races->wrong, 0);
}

static struct doppel_index_options options_of(void)
{
    struct doppel_index_options options = doppel_index_options_default();
    options.head_codes = 300;
    options.design_radius = 3;
    return options;
}

static void test_in_memory(void **state)
{
    (void)state;
    struct doppel_index_options options = options_of();
    struct races races = {0};
    assert_int_equal(doppel_index_new(&options, &races.index, NULL), DOPPEL_OK);
    race(&races);
    doppel_index_free(races.index);
}

static void test_in_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/test-races-XXXXXX";
    assert_non_null(mkdtemp(folder));
    struct doppel_index_options options = options_of();
    struct doppel_index_files files = {.folder = folder};
    struct races races = {0};
    assert_int_equal(doppel_index_open(&options, &files, &races.index, NULL), DOPPEL_OK);
    race(&races);
    const char *const *names;
    size_t count;
    assert_int_equal(doppel_index_names(races.index, &names, &count, NULL), DOPPEL_OK);
    for (size_t i = 0; i < count; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        assert_int_equal(unlink(path), 0);
    }
    free((void *)names);
    doppel_index_free(races.index);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_memory),
        cmocka_unit_test(test_in_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
