/* The map from digests to numbers, against a plain list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/digest_map.h"

enum { DIGESTS = 3000, DISTINCT = 700 };

/* Digests that share their first bytes too, so that they meet in the table. */
static struct doppel_digest make_digest(uint32_t n)
{
    struct doppel_digest digest = {{0}};
    digest.bytes[0] = (uint8_t)(n % 7);
    digest.bytes[14] = (uint8_t)(n >> 8);
    digest.bytes[15] = (uint8_t)n;
    return digest;
}

static const struct doppel_digest *digest_at(const void *context, uint32_t number)
{
    return (const struct doppel_digest *)context + number;
}

static void the_first_number_stays(void **state)
{
    (void)state;
    static struct doppel_digest digests[DIGESTS];
    struct digest_map map = {0};
    uint32_t first[DISTINCT];
    memset(first, 0xff, sizeof first);
    uint32_t random = 1;
    for (uint32_t i = 0; i < DIGESTS; i++) {
        random = random * 1664525u + 1013904223u;
        uint32_t which = (random >> 8) % DISTINCT;
        digests[i] = make_digest(which);
        if (first[which] == UINT32_MAX)
            first[which] = i;
        assert_int_equal(digest_map_put(&map, i, digest_at, digests), first[which]);
    }
    digest_map_free(&map);
}

static void an_empty_map_is_freed(void **state)
{
    (void)state;
    struct digest_map map = {0};
    digest_map_free(&map);
    assert_null(map.cells);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_number_stays),
        cmocka_unit_test(an_empty_map_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
