/* Parts of sets and what holds them: against a look at every set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/part_index.h"
#include "core/held_set.h"
#include "core/order.h"

enum { MOST = 4000 };

struct numbers {
    uint32_t items[MOST];
    size_t count;
};

static uint32_t next_number(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (uint32_t)(z ^ z >> 31);
}

static void sort_numbers(struct numbers *set)
{
    size_t kept = 0;
    qsort(set->items, set->count, sizeof *set->items, compare_u32);
    for (size_t i = 0; i < set->count; i++)
        if (!kept || set->items[i] != set->items[kept - 1])
            set->items[kept++] = set->items[i];
    set->count = kept;
}

static void draw_numbers(uint64_t *seed, size_t count, struct numbers *out)
{
    for (out->count = 0; out->count < count;)
        out->items[out->count++] = next_number(seed);
    sort_numbers(out);
}

/* `share` of `count` numbers are of the set. */
static void draw_part(uint64_t *seed, const struct numbers *whole, size_t count, double share,
                      struct numbers *out)
{
    size_t first = next_number(seed) % (whole->count - count);
    struct numbers shuffled = *whole;
    for (size_t i = shuffled.count; i-- > 1;) {
        size_t j = next_number(seed) % (i + 1);
        uint32_t item = shuffled.items[i];
        shuffled.items[i] = shuffled.items[j];
        shuffled.items[j] = item;
    }
    for (out->count = 0; out->count < count; out->count++)
        out->items[out->count] = (double)out->count < share * (double)count
                                     ? shuffled.items[first + out->count]
                                     : next_number(seed);
    sort_numbers(out);
}

static struct part_candidates find_all(const struct part_index *index, const uint32_t *items,
                                       size_t count, bool parts)
{
    const struct part_wish wish = {items, count, 0.9, parts};
    struct part_candidates found;
    assert_true(part_index_find(index, &wish, &found));
    for (size_t i = 1; i < found.count; i++)
        assert_true(found.items[i] > found.items[i - 1]);
    return found;
}

static bool finds(const struct part_index *index, const struct numbers *set, bool parts,
                  uint32_t number)
{
    struct part_candidates found = find_all(index, set->items, set->count, parts);
    bool has = false;
    for (size_t i = 0; i < found.count; i++)
        has |= found.items[i] == number;
    free(found.items);
    return has;
}

/* Whichever of the two comes first; and among so many others that there are several runs. */
static void parts_are_found(void **state)
{
    enum { PAIRS = 400 };
    (void)state;
    static const struct {
        size_t part, whole;
        double share, least;
    } cases[] = {{60, 1000, 0.9, 0.97},   {60, 3000, 1, 0.99},     {200, 2000, 0.9, 0.99},
                 {200, 3500, 0.95, 0.99}, {1000, 2500, 0.9, 0.99}, {25, 400, 0.9, 0.93}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct part_index *wholes = part_index_new(), *parts = part_index_new();
        static struct numbers held[PAIRS], holds[PAIRS];
        uint64_t seed = c;
        size_t found[2] = {0};
        for (uint32_t i = 0; i < PAIRS; i++) {
            draw_numbers(&seed, cases[c].whole, &holds[i]);
            draw_part(&seed, &holds[i], cases[c].part, cases[c].share, &held[i]);
            assert_true(part_index_add(wholes, i, holds[i].items, holds[i].count));
            assert_true(part_index_add(parts, i, held[i].items, held[i].count));
        }
        for (uint32_t i = 0; i < PAIRS; i++) {
            found[0] += finds(wholes, &held[i], false, i);
            found[1] += finds(parts, &holds[i], true, i);
        }
        part_index_free(wholes);
        part_index_free(parts);
        assert_true((double)found[0] >= cases[c].least * PAIRS);
        assert_true((double)found[1] >= cases[c].least * PAIRS);
    }
}

/* So many of `all` at least, as the header says it. */
static bool are_enough(size_t shared, size_t all)
{
    double least = floor(0.9 * (double)all - 2.6 * sqrt(0.9 * (1 - 0.9) * (double)all));
    return (double)shared >= (least > 1 ? least : 1);
}

/* What shares enough of the keys, and of all that is low, and nothing else: counted one by one. */
static void candidates_share_enough(void **state)
{
    enum { SETS = 60 };
    static struct numbers sets[SETS];
    (void)state;
    struct part_index *index = part_index_new();
    uint64_t seed = 11;
    for (uint32_t i = 0; i < SETS; i++) {
        sets[i].count = 1 + next_number(&seed) % MOST;
        for (size_t k = 0; k < sets[i].count; k++) /* of few values */
            sets[i].items[k] = next_number(&seed) % 2000 << 21;
        sets[i].items[0] = UINT32_MAX; /* so that it is known to be all */
        sort_numbers(&sets[i]);
        assert_true(part_index_add(index, i, sets[i].items, sets[i].count));
    }
    for (uint32_t i = 0; i < SETS; i++)
        for (uint32_t j = 0; j < SETS; j++) {
            const struct numbers *pair[2] = {&sets[i], &sets[j]};
            for (unsigned part = 0; part < 2; part++) {
                size_t all = 0, shared = 0, keys_shared = 0;
                for (; all < pair[part]->count && pair[part]->items[all] < UINT32_MAX / 8; all++) {
                    shared += bsearch(&pair[part]->items[all], pair[!part]->items,
                                      pair[!part]->count, sizeof(uint32_t), compare_u32) != NULL;
                    if (all < PART_KEYS)
                        keys_shared = shared;
                }
                bool wanted = are_enough(keys_shared, all < PART_KEYS ? all : PART_KEYS) &&
                              are_enough(shared, all);
                assert_int_equal(finds(index, &sets[i], part, j), wanted);
            }
        }
    part_index_free(index);
}

static void without_keys_nothing_is_found(void **state)
{
    (void)state;
    struct part_index *index = part_index_new();
    struct part_candidates found;
    const uint32_t high[] = {UINT32_MAX / 2, UINT32_MAX};
    assert_true(part_index_add(index, 7, high, 2));
    assert_true(part_index_add(index, 9, NULL, 0));
    for (int parts = 0; parts < 2; parts++) {
        found = find_all(index, high, 2, parts);
        assert_int_equal(found.count, 0);
        free(found.items);
        found = find_all(index, NULL, 0, parts);
        assert_int_equal(found.count, 0);
        free(found.items);
    }
    part_index_free(index);
    part_index_free(NULL);
}

/* A key that all have costs no more than its first ones. */
static void frequent_keys_are_cut(void **state)
{
    enum { SETS = 3000 };
    (void)state;
    struct part_index *index = part_index_new();
    const uint32_t same[] = {1, 2, 3, 4};
    struct part_candidates found;
    for (uint32_t i = 0; i < SETS; i++)
        assert_true(part_index_add(index, i, same, 4));
    for (int parts = 0; parts < 2; parts++) {
        found = find_all(index, same, 4, parts);
        assert_int_equal(found.count, 1024);
        free(found.items);
    }
    part_index_free(index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_found),
        cmocka_unit_test(candidates_share_enough),
        cmocka_unit_test(without_keys_nothing_is_found),
        cmocka_unit_test(frequent_keys_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
