/* Joins against all pairs compared one by one; every kernel against the portable one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/index.h>

#include "core/cpu.h"
#include "index/code_list.h"
#include "index/codes.h"

enum { MAX_CODES = 5000, MAX_WORDS = 4 };

static struct list *make_list(uint32_t bits, enum shape shape, size_t count, uint64_t seed)
{
    struct list *list = list_new(count, (bits + 63) / 64);
    assert_non_null(list);
    shaped_codes(shape, count, list->words, seed, list->codes);
    for (size_t i = 0; bits == 32 && i < count; i++)
        list->codes[i] &= UINT32_MAX;
    return list;
}

/* Every seventh code becomes a near copy of another of either list. */
static void plant(struct list *list, const struct list *models, uint32_t bits, uint32_t radius,
                  uint64_t seed)
{
    for (size_t i = 6; i < list->count; i += 7) {
        size_t model = random_word(&seed) % models->count;
        memmove(list->codes + i * list->words, models->codes + model * list->words,
                list->words * sizeof *list->codes);
        for (uint64_t flips = random_word(&seed) % (radius + 2); flips > 0; flips--) {
            uint64_t bit = random_word(&seed) % bits;
            list->codes[i * list->words + bit / 64] ^= UINT64_C(1) << bit % 64;
        }
    }
}

static uint32_t slow_distance(const struct list *a, size_t i, const struct list *b, size_t j)
{
    uint32_t distance = 0;
    for (size_t word = 0; word < a->words; word++)
        for (uint64_t differ = a->codes[i * a->words + word] ^ b->codes[j * a->words + word];
             differ; differ &= differ - 1)
            distance++;
    return distance;
}

struct pairs {
    struct doppel_index_pair *items;
    size_t count, capacity, stop_after;
};

static bool collect(void *context, const struct doppel_index_pair *found, size_t count)
{
    struct pairs *pairs = context;
    assert_true(count > 0);
    while (pairs->count + count > pairs->capacity) {
        pairs->capacity = pairs->capacity ? 2 * pairs->capacity : 4096;
        pairs->items = realloc(pairs->items, pairs->capacity * sizeof *pairs->items);
        assert_non_null(pairs->items);
    }
    memcpy(pairs->items + pairs->count, found, count * sizeof *found);
    pairs->count += count;
    return !pairs->stop_after || pairs->count < pairs->stop_after;
}

static struct pairs join(const struct doppel_index_pairing *pairing)
{
    struct pairs pairs = {0};
    assert_int_equal(doppel_index_pair_up(pairing, collect, &pairs, NULL), DOPPEL_OK);
    return pairs;
}

static int compare_pairs(const void *left, const void *right)
{
    const struct doppel_index_pair *x = left, *y = right;
    return x->a != y->a ? (x->a < y->a ? -1 : 1) : x->b < y->b ? -1 : x->b > y->b;
}

/* Compared one by one; a self-join gives each pair in one of its two orders. */
static void check(uint32_t bits, uint32_t radius, uint32_t threads, struct list *left,
                  struct list *right)
{
    struct doppel_index_pairing pairing = {bits, radius, &left->face, right ? &right->face : NULL,
                                           .threads = threads};
    struct pairs pairs = join(&pairing);
    const struct list *other = right ? right : left;
    size_t at = 0;
    for (size_t i = 0; i < pairs.count && !right; i++)
        if (pairs.items[i].a > pairs.items[i].b) {
            uint32_t number = pairs.items[i].a;
            pairs.items[i].a = pairs.items[i].b;
            pairs.items[i].b = number;
        }
    if (pairs.count)
        qsort(pairs.items, pairs.count, sizeof *pairs.items, compare_pairs);
    for (size_t i = 0; i < left->count; i++)
        for (size_t j = right ? 0 : i + 1; j < other->count; j++) {
            uint32_t distance = slow_distance(left, i, other, j);
            if (distance > radius)
                continue;
            assert_true(at < pairs.count);
            assert_int_equal(pairs.items[at].a, i);
            assert_int_equal(pairs.items[at].b, j);
            assert_int_equal(pairs.items[at++].distance, distance);
        }
    assert_int_equal(at, pairs.count);
    free(pairs.items);
}

static void check_self(uint32_t bits, enum shape shape, size_t count, uint32_t radius)
{
    struct list *list = make_list(bits, shape, count, 100 + count);
    if (shape != EQUAL && count > 10)
        plant(list, list, bits, radius, 5);
    check(bits, radius, 1 + radius % 3, list, NULL);
    list_free(list);
}

/* Small: all with all, at every kind of radius. */
static void test_small(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 3, 17, 70};
    for (uint32_t bits = 32; bits <= 256; bits *= 2)
        for (enum shape shape = 0; shape < SHAPES; shape++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
                for (uint32_t radius = 0; radius <= bits + 1; radius += 1 + radius / 3)
                    check_self(bits, shape, sizes[s], radius);
}

/* Large enough for chunks and shares. */
static void test_blocks(void **state)
{
    (void)state;
    static const uint32_t radii[] = {0, 1, 3, 5, 8, 11, 12, 16, 24, 31};
    for (uint32_t bits = 32; bits <= 256; bits *= 2)
        for (enum shape shape = 0; shape < SHAPES; shape++)
            for (size_t r = 0; r < sizeof radii / sizeof *radii; r++)
                if (radii[r] < bits / 3 && (shape < EQUAL || r == 2))
                    check_self(bits, shape, shape == UNIFORM ? 2000 : 1100, radii[r]);
}

static void test_two_sides(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{0, 9},    {9, 0},      {1, 1},     {1, 3000},
                                      {3000, 1}, {800, 1500}, {1500, 800}};
    for (uint32_t bits = 32; bits <= 256; bits *= 2)
        for (enum shape shape = 0; shape < SHAPES; shape++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
                for (uint32_t radius = 2; radius <= 16; radius += 7) {
                    bool crowd = shape != UNIFORM && sizes[s][0] * sizes[s][1] > 100000;
                    struct list *left = make_list(bits, shape, sizes[s][0] / (crowd ? 3 : 1), 3);
                    struct list *right = make_list(bits, shape, sizes[s][1] / (crowd ? 3 : 1), 4);
                    if (left->count && shape != EQUAL)
                        plant(right, left, bits, radius, 9);
                    check(bits, radius, 1 + (uint32_t)s % 2, left, right);
                    list_free(left);
                    list_free(right);
                }
}

/* More pairs in a piece than are kept: visited when it has its turn. */
static void test_crowds(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 4; threads += 3) {
        struct list *list = make_list(64, EQUAL, 1500, 1);
        check(64, 3, threads, list, NULL);
        list_free(list);
    }
}

static void assert_equal(const struct pairs *a, const struct pairs *b)
{
    assert_int_equal(a->count, b->count);
    if (a->count)
        assert_memory_equal(a->items, b->items, a->count * sizeof *a->items);
}

/* Not the same pairs only: in the same order, whatever the threads. */
static void test_threads_keep_the_order(void **state)
{
    (void)state;
    struct list *list = make_list(64, SKEWED, MAX_CODES, 8);
    struct doppel_index_pairing pairing = {64, 6, &list->face, NULL, .threads = 1};
    struct pairs wanted = join(&pairing);
    assert_true(wanted.count > 1000);
    for (uint32_t threads = 2; threads <= 5; threads++) {
        pairing.threads = threads;
        struct pairs got = join(&pairing);
        assert_equal(&got, &wanted);
        free(got.items);
    }
    free(wanted.items);
    list_free(list);
}

/* Each with all cells of a kernel at work; chunks may be chosen differently, pairs not. */
static void test_kernels_agree(void **state)
{
    (void)state;
    for (uint32_t bits = 32; bits <= 256; bits *= 2)
        for (uint32_t radius = 4; radius <= 20; radius += 8)
            for (enum shape shape = 0; shape < EQUAL; shape++) {
                struct list *list = make_list(bits, shape, 1100, 30 + radius);
                struct doppel_index_pairing pairing = {
                    .bits = bits, .radius = radius, .left = &list->face};
                struct pairs pairs[3];
                for (int i = 0; i < 3; i++) {
                    cpu_mask(i == 0 ? 0 : i == 1 ? CPU_AVX2 : UINT32_MAX);
                    pairs[i] = join(&pairing);
                    for (size_t k = 0; k < pairs[i].count; k++)
                        if (pairs[i].items[k].a > pairs[i].items[k].b) {
                            uint32_t number = pairs[i].items[k].a;
                            pairs[i].items[k].a = pairs[i].items[k].b;
                            pairs[i].items[k].b = number;
                        }
                    if (pairs[i].count)
                        qsort(pairs[i].items, pairs[i].count, sizeof *pairs[i].items,
                              compare_pairs);
                }
                cpu_mask(UINT32_MAX);
                assert_equal(&pairs[1], &pairs[0]);
                assert_equal(&pairs[2], &pairs[0]);
                for (int i = 0; i < 3; i++)
                    free(pairs[i].items);
                list_free(list);
            }
}

static size_t only_even(void *context, struct doppel_index_pair *pairs, size_t count)
{
    (void)context;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if ((pairs[i].a + pairs[i].b) % 2 == 0)
            pairs[kept++] = pairs[i];
    return kept;
}

static void test_filter_and_end(void **state)
{
    (void)state;
    struct list *list = make_list(64, SKEWED, 2000, 2);
    for (uint32_t threads = 1; threads <= 3; threads += 2) {
        struct doppel_index_pairing pairing = {64, 8, &list->face, NULL, .threads = threads};
        struct pairs all = join(&pairing);
        pairing.filter = only_even;
        struct pairs some = join(&pairing);
        assert_true(some.count > 0 && some.count < all.count);
        all.count = only_even(NULL, all.items, all.count);
        assert_equal(&some, &all);
        struct pairs few = {.stop_after = 1};
        assert_int_equal(doppel_index_pair_up(&pairing, collect, &few, NULL), DOPPEL_E_CANCELLED);
        free(all.items);
        free(some.items);
        free(few.items);
    }
    list_free(list);
}

static bool end_at_once(void *context)
{
    ++*(int *)context;
    return true;
}

/* Also where no pair is found, of which a visitor could say that it is enough. */
static void test_cancelled(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads++) {
        struct list *list = make_list(64, UNIFORM, 20000, 2);
        struct pairs none = {0};
        int asked = 0;
        struct doppel_index_pairing pairing = {.bits = 64,
                                               .radius = 1,
                                               .left = &list->face,
                                               .threads = threads,
                                               .cancelled = end_at_once,
                                               .cancel_context = &asked};
        assert_int_equal(doppel_index_pair_up(&pairing, collect, &none, NULL), DOPPEL_E_CANCELLED);
        assert_int_equal(asked, 1);
        assert_int_equal(none.count, 0);
        list_free(list);
    }
}

static void test_wrong_use(void **state)
{
    (void)state;
    struct list *list = make_list(64, UNIFORM, 2000, 2);
    struct doppel_index_pairing pairing = {.bits = 65, .radius = 8, .left = &list->face};
    struct pairs none = {0};
    assert_int_equal(doppel_index_pair_up(&pairing, collect, &none, NULL), DOPPEL_E_ARGUMENT);
    pairing.bits = 64;
    list->face.count = 1900;
    assert_int_equal(doppel_index_pair_up(&pairing, collect, &none, NULL), DOPPEL_E_ARGUMENT);
    list->face.count = 2100;
    assert_int_equal(doppel_index_pair_up(&pairing, collect, &none, NULL), DOPPEL_E_ARGUMENT);
    assert_int_equal(none.count, 0);
    list_free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_two_sides),
        cmocka_unit_test(test_crowds),
        cmocka_unit_test(test_threads_keep_the_order),
        cmocka_unit_test(test_kernels_agree),
        cmocka_unit_test(test_filter_and_end),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_wrong_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
