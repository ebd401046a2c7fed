/* Growing arrays, little-endian numbers, sizes that do not overflow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "core/array.h"
#include "core/bytes.h"

struct pair {
    uint64_t a;
    char b;
};

static void test_an_array_grows(void **state)
{
    (void)state;
    ARRAY(struct pair) array = {0};
    for (uint64_t i = 0; i < 10000; i++) {
        assert_true(array_push(&array, ((struct pair){i, (char)i})));
        assert_int_equal(array.count, i + 1);
        assert_true(array.capacity >= array.count);
        assert_true(array.capacity < 32 || array.capacity <= 2 * array.count);
    }
    for (uint64_t i = 0; i < 10000; i++)
        assert_true(array.items[i].a == i && array.items[i].b == (char)i);
    array_free(&array);
    assert_null(array.items);
    assert_int_equal(array.count + array.capacity, 0);
    assert_true(array_push(&array, ((struct pair){1, 2})));
    assert_int_equal(array.items[0].a, 1);
    array_free(&array);
    array_free(&array);
}

static void test_a_full_array_stays_as_it_is(void **state)
{
    (void)state;
    int value = 5;
    void *items = &value; /* never looked at: the sizes are refused first */
    size_t capacity = SIZE_MAX / 2 + 1;
    assert_false(array_grow(&items, capacity, &capacity, 1));
    assert_int_equal(capacity, SIZE_MAX / 2 + 1);
    capacity = SIZE_MAX / 16;
    assert_false(array_grow(&items, capacity, &capacity, 16));
    assert_int_equal(capacity, SIZE_MAX / 16);
    assert_ptr_equal(items, &value);
    assert_true(array_grow(&items, 3, &capacity, 16)); /* there is room */
    assert_ptr_equal(items, &value);
}

static void test_numbers_are_little_endian(void **state)
{
    (void)state;
    uint8_t bytes[10];
    memset(bytes, 0xee, sizeof bytes);
    put_u64(bytes + 1, UINT64_C(0xf1e2d3c4b5a69788));
    static const uint8_t expected[] = {0xee, 0x88, 0x97, 0xa6, 0xb5, 0xc4, 0xd3, 0xe2, 0xf1, 0xee};
    assert_memory_equal(bytes, expected, sizeof bytes);
    assert_true(get_u64(bytes + 1) == UINT64_C(0xf1e2d3c4b5a69788));
    assert_int_equal(get_u32(bytes + 1), 0xb5a69788);
    assert_int_equal(get_u16(bytes + 1), 0x9788);
    for (unsigned shift = 0; shift < 64; shift++) {
        uint64_t value = UINT64_C(1) << shift;
        put_u64(bytes, value);
        assert_true(get_u64(bytes) == value);
        put_u32(bytes, (uint32_t)value);
        assert_int_equal(get_u32(bytes), (uint32_t)value);
        put_u16(bytes, (uint16_t)value);
        assert_int_equal(get_u16(bytes), (uint16_t)value);
    }
}

static void test_sizes_do_not_overflow(void **state)
{
    (void)state;
    size_t product = 7;
    assert_true(size_multiply(3, 5, &product));
    assert_int_equal(product, 15);
    assert_true(size_multiply(SIZE_MAX, 1, &product));
    assert_int_equal(product, SIZE_MAX);
    assert_true(size_multiply(SIZE_MAX, 0, &product));
    assert_int_equal(product, 0);
    product = 7;
    assert_false(size_multiply(SIZE_MAX / 2 + 1, 2, &product));
    assert_false(size_multiply(SIZE_MAX, SIZE_MAX, &product));
    assert_int_equal(product, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_array_grows),
        cmocka_unit_test(test_a_full_array_stays_as_it_is),
        cmocka_unit_test(test_numbers_are_little_endian),
        cmocka_unit_test(test_sizes_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
