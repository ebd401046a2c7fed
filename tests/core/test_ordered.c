/* Pieces of work: each done once, handed over in order, by any number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/ordered.h"

enum { PIECES = 500, MAX_SLOTS = 256 };

struct trial {
    atomic_uint done[PIECES];
    size_t slots[MAX_SLOTS]; /* piece + 1, written by work, cleared by deliver */
    size_t delivered, end_after;
    bool wrong;
};

/* Pieces of very different length, so that threads overtake each other. */
static void work(void *context, size_t piece, size_t slot)
{
    struct trial *trial = context;
    for (volatile unsigned spin = 0; spin < piece % 7 * 1000; spin++)
        ;
    atomic_fetch_add(&trial->done[piece], 1);
    if (trial->slots[slot])
        trial->wrong = true;
    trial->slots[slot] = piece + 1;
}

static bool deliver(void *context, size_t piece, size_t slot)
{
    struct trial *trial = context;
    if (trial->slots[slot] != piece + 1 || piece != trial->delivered)
        trial->wrong = true;
    trial->slots[slot] = 0;
    return ++trial->delivered != trial->end_after;
}

static void run(uint32_t threads, size_t pieces, size_t end_after)
{
    struct trial trial = {.end_after = end_after};
    struct ordered ordered = {&trial, threads, pieces, work, deliver};
    assert_in_range(ordered_slots(&ordered), 1, MAX_SLOTS);
    bool ended = end_after && end_after <= pieces;
    assert_int_equal(ordered_run(&ordered), !ended);
    assert_false(trial.wrong);
    assert_int_equal(trial.delivered, ended ? end_after : pieces);
    for (size_t i = 0; i < pieces; i++)
        assert_in_range(trial.done[i], i < trial.delivered, 1);
}

static void test_all_pieces_in_order(void **state)
{
    (void)state;
    static const uint32_t threads[] = {0, 1, 2, 3, 8, 1000};
    static const size_t pieces[] = {0, 1, 2, 5, PIECES};
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++)
        for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++)
            run(threads[t], pieces[p], 0);
}

static void test_an_early_end(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 4; threads++)
        for (size_t end_after = 1; end_after <= PIECES; end_after += 83)
            run(threads, PIECES, end_after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_pieces_in_order),
        cmocka_unit_test(test_an_early_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
