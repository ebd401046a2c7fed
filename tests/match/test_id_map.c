/* The map of ids against a plain list, under random insertions and removals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "match/id_map.h"
#include "match/images.h"

enum { SLOTS = 300, STEPS = 60000 };

static void check_all(const struct id_map *map, const uint64_t *ids, const bool *held)
{
    size_t count = 0;
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        assert_int_equal(id_map_find(map, ids[slot]), held[slot] ? slot : ID_MAP_NONE);
        count += held[slot];
    }
    assert_int_equal(map->count, count);
}

/* Phases of growth and of shrinkage, so that runs of full cells form and are cut. */
static void test_random_steps(void **state)
{
    (void)state;
    static uint64_t ids[SLOTS];
    static bool held[SLOTS];
    uint64_t seed = 1;
    struct id_map map = {.ids = ids};
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        ids[slot] = slot % 2 ? slot : (UINT64_C(1) << 60) - 1 - slot;
    for (size_t step = 0; step < STEPS; step++) {
        uint32_t slot = (uint32_t)(random_word(&seed) % SLOTS);
        bool grow = random_word(&seed) % 8 < (step / 1000 % 2 ? 6 : 2);
        if (grow && !held[slot]) {
            assert_true(id_map_reserve(&map));
            id_map_put(&map, slot);
            held[slot] = true;
        } else if (!grow && held[slot]) {
            id_map_remove(&map, slot);
            held[slot] = false;
        }
        if (step % 50 == 0)
            check_all(&map, ids, held);
    }
    id_map_free(&map);
    assert_int_equal(id_map_find(&map, 5), ID_MAP_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
