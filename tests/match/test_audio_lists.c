/* Lists that are looked up once for several questions, against looking through all postings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "match/audio/search.h"
#include "match/images.h"

enum { POSTINGS = 5000, HOPS = 3000, KEYS = 300, VOTERS = 200, MOST = 20000, BIAS = 1000 };

struct world {
    struct doppel_index_posting postings[POSTINGS];
    struct doppel_index *index;
    struct doppel_index_axis *axis;
};

/* Asked once. */
struct asked {
    uint32_t keys[VOTERS], hops[VOTERS];
    uint64_t lengths[VOTERS], hits[MOST], wanted[MOST];
    size_t wanted_count;
};

static uint32_t pick(uint64_t *seed, uint32_t below)
{
    return (uint32_t)(random_word(seed) % below);
}

static void make_world(struct world *world, uint64_t *seed)
{
    struct doppel_index_options options = doppel_recordings_index_options();
    for (size_t i = 0; i < POSTINGS; i++)
        world->postings[i] =
            (struct doppel_index_posting){pick(seed, pick(seed, KEYS) + 1), pick(seed, HOPS)};
    struct doppel_index_item item = {
        .payload = 7, .length = HOPS, .count = POSTINGS, .postings = world->postings};
    assert_int_equal(doppel_index_new(&options, &world->index, NULL), DOPPEL_OK);
    assert_int_equal(doppel_index_insert_item(world->index, &item, NULL), DOPPEL_OK);
    assert_int_equal(doppel_index_axis_take(world->index, &world->axis, NULL), DOPPEL_OK);
}

static int ascending(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The longest list that counts, the slow way. */
static uint64_t longest_of(const uint64_t *lengths, size_t count, size_t most)
{
    for (uint64_t longest = 0;; longest++) {
        uint64_t hits = 0, longer = 0;
        for (size_t i = 0; i < count; i++) {
            hits += lengths[i] <= longest + 1 ? lengths[i] : 0;
            longer += lengths[i] > longest;
        }
        if (!longer || hits > most)
            return longest;
    }
}

/* A key of which many voters ask, some of those before, some new ones. */
static void make_question(struct asked *asked, size_t count, uint64_t *seed)
{
    uint32_t key = pick(seed, KEYS);
    for (size_t i = 0; i < count; i++) {
        key = pick(seed, 4) ? (key + 1) % KEYS : pick(seed, KEYS);
        asked->keys[i] = key;
        asked->hops[i] = pick(seed, BIAS);
    }
}

static void expect(const struct world *world, struct asked *asked, size_t count, size_t most)
{
    uint64_t lengths[VOTERS] = {0};
    size_t all = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < POSTINGS; k++)
            lengths[i] += world->postings[k].key == asked->keys[i];
        all += lengths[i];
    }
    uint64_t longest = all > most ? longest_of(lengths, count, most) : UINT64_MAX;
    asked->wanted_count = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < POSTINGS && lengths[i] <= longest; k++)
            if (world->postings[k].key == asked->keys[i]) {
                uint64_t diagonal = BIAS + (uint64_t)world->postings[k].position - asked->hops[i];
                asked->wanted[asked->wanted_count++] = vote_hit(diagonal, (uint32_t)i);
            }
}

/* Places of the keys that are asked. */
static size_t places_of(const struct world *world, const struct asked *asked, size_t count)
{
    bool is_asked[KEYS] = {false};
    size_t places = 0;
    for (size_t i = 0; i < count; i++)
        is_asked[asked->keys[i]] = true;
    for (size_t k = 0; k < POSTINGS; k++)
        places += is_asked[world->postings[k].key];
    return places;
}

static void lists_are_as_looked_up_anew(void **state)
{
    static struct world world;
    static struct asked asked;
    struct vote_lists lists;
    uint64_t seed = 5;
    size_t limits = 0, answers = 0;
    (void)state;
    make_world(&world, &seed);
    assert_true(lists_init(&lists, VOTERS));
    for (int round = 0; round < 400; round++) {
        size_t count = 1 + pick(&seed, VOTERS), hits = 0;
        struct lists_question question = {.pitch = 1 + round / 9,
                                          .keys = asked.keys,
                                          .hops = asked.hops,
                                          .count = count,
                                          .bias = BIAS,
                                          .lengths = asked.lengths,
                                          .hits = asked.hits,
                                          .most = 1 + pick(&seed, MOST),
                                          .most_places = pick(&seed, 2 * POSTINGS)};
        make_question(&asked, count, &seed);
        expect(&world, &asked, count, question.most);
        enum doppel_status status = lists_ask(&lists, world.axis, &question, &hits, NULL);
        if (status) { /* some may have been known */
            assert_int_equal(status, DOPPEL_E_LIMIT);
            assert_true(places_of(&world, &asked, count) > question.most_places);
            limits++;
            continue;
        }
        answers++;
        assert_int_equal(hits, asked.wanted_count);
        qsort(asked.hits, hits, sizeof *asked.hits, ascending);
        qsort(asked.wanted, hits, sizeof *asked.wanted, ascending);
        assert_memory_equal(asked.hits, asked.wanted, hits * sizeof *asked.hits);
        for (size_t i = 0; i < hits; i++)
            asked.lengths[vote_voter(asked.hits[i])]--;
        for (size_t i = 0; i < count; i++)
            assert_int_equal(asked.lengths[i], 0);
    }
    assert_true(limits > 20 && answers > 200);
    lists_free(&lists);
    doppel_index_axis_free(world.axis);
    doppel_index_free(world.index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists_are_as_looked_up_anew)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
