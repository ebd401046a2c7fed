/* The postings table against lists collected by a linear scan: all shapes of items and keys,
 * lookups, lengths, items by position, merges, unpackers, damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/cpu.h"
#include "index/posting_items.h"

/* ---- the oracle ---- */

typedef ARRAY(uint32_t) positions;

static int compare_u32(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static positions slow_list(const struct fixture *f, uint32_t key)
{
    positions list = {0};
    uint32_t start = 0;
    for (size_t i = 0; i < f->count; start += f->items[i++].length)
        for (size_t k = 0; k < f->items[i].count; k++)
            if (f->items[i].postings[k].key == key)
                assert_true(array_push(&list, start + f->items[i].postings[k].position));
    if (list.count)
        qsort(list.items, list.count, sizeof *list.items, compare_u32);
    return list;
}

/* ---- lookups ---- */

struct seen {
    positions *lists;
    uint32_t last;
    bool in_order;
};

static bool take_run(void *context, uint32_t number, const uint32_t *run, size_t count)
{
    struct seen *seen = context;
    seen->in_order &= number >= seen->last && count > 0;
    seen->last = number;
    for (size_t i = 0; i < count; i++)
        assert_true(array_push(&seen->lists[number], run[i]));
    return true;
}

/* Keys that are there, neighbours of them, and any; some twice. */
static uint32_t *make_keys(const struct fixture *f, size_t count)
{
    uint64_t seed = 5;
    uint32_t *keys = calloc(count + 1, sizeof *keys);
    assert_non_null(keys);
    for (size_t i = 0; i < count; i++) {
        const struct item *item = f->count ? &f->items[random_word(&seed) % f->count] : NULL;
        keys[i] = (uint32_t)random_word(&seed);
        if (item && item->count && i % 4)
            keys[i] = item->postings[random_word(&seed) % item->count].key;
        keys[i] += i % 4 == 3;
    }
    return keys;
}

static void check_lookups(const struct fixture *f, size_t count)
{
    uint32_t *keys = make_keys(f, count);
    uint64_t *counts = calloc(count + 1, sizeof *counts);
    struct seen seen = {calloc(count + 1, sizeof(positions)), 0, true};
    assert_int_equal(postings_lookup(f->table, keys, count, take_run, &seen, NULL), DOPPEL_OK);
    assert_true(seen.in_order);
    counts[0] = count ? 7 : 0;
    assert_int_equal(postings_counts(f->table, keys, count, counts, NULL), DOPPEL_OK);
    for (size_t i = 0; i < count; i++) {
        positions wanted = slow_list(f, keys[i]);
        assert_int_equal(seen.lists[i].count, wanted.count);
        assert_int_equal(counts[i], wanted.count + (i ? 0 : 7));
        if (wanted.count)
            assert_memory_equal(seen.lists[i].items, wanted.items,
                                wanted.count * sizeof *wanted.items);
        array_free(&wanted);
        array_free(&seen.lists[i]);
    }
    free(seen.lists);
    free(counts);
    free(keys);
}

static void check_items(const struct fixture *f)
{
    uint32_t start = 0;
    struct postings_info info = postings_info(f->table);
    assert_int_equal(info.items, f->count);
    assert_int_equal(info.postings, f->postings);
    assert_int_equal(info.key_bits, f->key_bits);
    for (size_t i = 0; i < f->count; start += f->items[i++].length) {
        struct posting_item at = postings_item_at(f->table, i);
        assert_int_equal(at.payload, f->items[i].payload);
        assert_int_equal(at.start, start);
        assert_int_equal(at.length, f->items[i].length);
        if (!at.length)
            continue;
        struct posting_item first = postings_item(f->table, start);
        struct posting_item last = postings_item(f->table, start + at.length - 1);
        assert_memory_equal(&first, &at, sizeof at);
        assert_memory_equal(&last, &at, sizeof at);
    }
    assert_int_equal(info.axis, start);
}

static void check_table(enum items_kind kind, uint32_t key_bits, size_t count, size_t each)
{
    struct fixture f = make_items(kind, key_bits, count, each);
    build(&f, 0);
    check_lookups(&f, 0);
    check_lookups(&f, 1);
    check_lookups(&f, 120);
    check_items(&f);
    free_fixture(&f);
}

static void test_lookup(void **state)
{
    (void)state;
    static const uint32_t key_bits[] = {1, 4, 13, 25, 32};
    for (size_t b = 0; b < sizeof key_bits / sizeof *key_bits; b++)
        for (enum items_kind kind = 0; kind < KINDS; kind++) {
            if (kind == ONE_KEY && key_bits[b] == 32)
                continue;
            check_table(kind, key_bits[b], 0, 0);
            check_table(kind, key_bits[b], 1, 0);
            check_table(kind, key_bits[b], 1, 1);
            check_table(kind, key_bits[b], 2, 70);
            check_table(kind, key_bits[b], 21, 300);
        }
}

static void test_long_lists(void **state)
{
    (void)state;
    for (size_t each = 60; each < 140; each++)
        check_table(ONE_KEY, 9, 1, each);
    check_table(ONE_KEY, 25, 3, 50000);
    check_table(EVEN, 1, 3, 50000);
    check_table(DISORDER, 4, 2, 50000);
}

/* Numbers of units lie beyond 32 bits here. */
static void test_longest_axis(void **state)
{
    (void)state;
    for (uint32_t key_bits = 4; key_bits <= 6; key_bits++) {
        struct fixture f = make_items(FAR_APART, key_bits, 15, 400);
        uint32_t axis = 0;
        for (size_t i = 0; i < f.count; i++)
            axis += f.items[i].length;
        f.items[f.count - 1].length += UINT32_MAX - axis;
        build(&f, 0);
        assert_int_equal(f.table->position_bits, 33);
        check_lookups(&f, 1u << key_bits);
        check_items(&f);
        free_fixture(&f);
    }
}

/* All slots that eight groups of eight keys can have, and a few in the other groups. */
static void test_fullest_row(void **state)
{
    (void)state;
    enum { KEYS = 64, EACH = POSTINGS_LONG - 1, OTHERS = 400 };
    struct fixture f = make_items(EVEN, 12, 1, KEYS * EACH + OTHERS);
    struct item *item = f.items;
    for (uint32_t i = 0; i < item->count; i++)
        item->postings[i].key = i < OTHERS ? KEYS + i * 9 : i % KEYS;
    build(&f, 0);
    assert_int_equal(f.table->remainder_bits, 3);
    assert_true(f.table->in_rows);
    check_lookups(&f, 1 << 12);
    free_fixture(&f);
}

static void test_little_memory_takes_more_passes(void **state)
{
    (void)state;
    struct fixture plenty = make_items(SKEWED_KEYS, 25, 30, 2000);
    struct fixture little = make_items(SKEWED_KEYS, 25, 30, 2000);
    build(&plenty, 0);
    build(&little, 8 * plenty.postings / 5);
    assert_int_equal(plenty.passes, 2);
    assert_true(little.passes >= 11 && little.passes <= 30);
    for (unsigned part = 0; part <= POSTINGS_LISTS; part++) {
        const struct segment *a = postings_segment(plenty.table);
        const struct segment *b = postings_segment(little.table);
        assert_int_equal(a->plan.part_bytes[part], b->plan.part_bytes[part]);
        assert_memory_equal(a->parts[part], b->parts[part], a->plan.part_bytes[part]);
    }
    check_lookups(&little, 100);
    free_fixture(&plenty);
    free_fixture(&little);
}

static bool take_none(void *context, uint32_t number, const uint32_t *run, size_t count)
{
    (void)number;
    (void)run;
    (void)count;
    return --*(int *)context > 0;
}

static void test_lookup_ends_when_told(void **state)
{
    (void)state;
    for (size_t each = 10; each <= 1000; each += 990) {
        struct fixture f = make_items(ONE_KEY, 4, 1, each);
        uint32_t keys[5] = {15, 15, 15, 15, 15};
        int runs = 3;
        build(&f, 0);
        assert_int_equal(postings_lookup(f.table, keys, 5, take_none, &runs, NULL),
                         DOPPEL_E_CANCELLED);
        assert_int_equal(runs, 0);
        free_fixture(&f);
    }
}

/* ---- merges ---- */

static bool keep_most(void *context, size_t table, uint64_t payload)
{
    return (payload + table) % *(uint64_t *)context;
}

/* What is kept of some fixtures, as one. The postings are shared. */
static struct fixture concatenate(const struct fixture *parts, size_t count, uint64_t drop)
{
    struct fixture all = {.key_bits = parts[0].key_bits};
    all.items = calloc(200, sizeof *all.items);
    assert_non_null(all.items);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < parts[i].count; k++) {
            if (drop && !((parts[i].items[k].payload + i) % drop))
                continue;
            all.items[all.count++] = parts[i].items[k];
            all.postings += parts[i].items[k].count;
        }
    return all;
}

static void check_merge(enum items_kind kind, uint32_t key_bits, uint64_t drop)
{
    static const size_t counts[4] = {10, 0, 31, 1};
    struct fixture parts[4];
    const struct postings *tables[4];
    for (size_t i = 0; i < 4; i++) {
        parts[i] = make_items(kind, key_bits, counts[i], 150 + 40 * i);
        build(&parts[i], 0);
        tables[i] = parts[i].table;
    }
    struct postings_merge merge = {tables, 4, drop ? keep_most : NULL, &drop};
    struct segment_target target = {0};
    struct segment *segment = NULL;
    struct fixture all = concatenate(parts, 4, drop);
    assert_int_equal(postings_merge(&merge, &target, &segment, NULL), DOPPEL_OK);
    assert_int_equal(postings_open(segment, &all.table, NULL), DOPPEL_OK);
    check_lookups(&all, 150);
    check_items(&all);
    postings_free(all.table);
    free(all.items);
    for (size_t i = 0; i < 4; i++)
        free_fixture(&parts[i]);
}

static void test_merge(void **state)
{
    (void)state;
    for (enum items_kind kind = 0; kind < FAR_APART; kind++)
        for (uint64_t drop = 0; drop < 4; drop++) {
            check_merge(kind, 5, drop);
            check_merge(kind, 25, drop);
        }
}

static void test_merge_refuses(void **state)
{
    (void)state;
    struct fixture a = make_items(EVEN, 9, 3, 20), b = make_items(EVEN, 10, 3, 20);
    build(&a, 0);
    build(&b, 0);
    const struct postings *tables[] = {a.table, b.table};
    struct segment_target target = {0};
    struct segment *segment = NULL;
    struct postings_merge merge = {tables, 2, NULL, NULL};
    assert_int_equal(postings_merge(&merge, &target, &segment, NULL), DOPPEL_E_ARGUMENT);
    merge.count = 0;
    assert_int_equal(postings_merge(&merge, &target, &segment, NULL), DOPPEL_E_ARGUMENT);
    assert_null(segment);
    free_fixture(&a);
    free_fixture(&b);
}

/* ---- unpackers ---- */

static void check_unpacker(postings_unpacker *unpack)
{
    uint64_t seed = 3;
    for (uint32_t width = 0; width <= 32; width++)
        for (uint32_t count = 1; count <= POSTINGS_BLOCK; count++) {
            uint32_t deltas[POSTINGS_BLOCK] = {0}, out[POSTINGS_BLOCK];
            uint32_t packed[4 * 32 + 4] = {0}, before = (uint32_t)random_word(&seed);
            for (uint32_t i = 0; i < count; i++)
                deltas[i] = (uint32_t)(random_word(&seed) & ((1ull << width) - 1));
            postings_pack(deltas, count, width, packed);
            unpack(packed, width, block_rows(count), before, out);
            for (uint32_t i = 0; i < count; i++)
                assert_int_equal(out[i], before += deltas[i]);
            for (uint32_t i = count; i < 4 * block_rows(count); i++)
                assert_int_equal(out[i], before);
        }
}

static void test_unpackers(void **state)
{
    (void)state;
    check_unpacker(postings_unpack_portable);
#if defined(__x86_64__)
    if (cpu_flags() & CPU_AVX2)
        check_unpacker(postings_unpack_avx2);
#endif
}

/* Slots of any width, sorted or not, against the same cut out bit by bit. */
static void check_scanner(postings_scanner *scanner)
{
    uint64_t seed = 8;
    uint8_t bytes[1024];
    for (int round = 0; round < 30000; round++) {
        uint32_t position_bits = 1 + (uint32_t)(random_word(&seed) % 33);
        uint32_t most = SCAN_SLOT_BITS - position_bits < 4 ? SCAN_SLOT_BITS - position_bits : 4;
        struct slot_scan scan = {.slots = bytes, .first = random_word(&seed) % 40};
        scan.count = 1 + (uint32_t)(random_word(&seed) % SCAN_SLOTS);
        scan.position_bits = position_bits;
        scan.slot_bits = position_bits + (uint32_t)(random_word(&seed) % (most + 1));
        scan.remainder = random_word(&seed) % (1u << (scan.slot_bits - position_bits));
        scan.axis = random_word(&seed) >> (64 - position_bits) | (round % 2 ? 1ull << 40 : 0);
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)random_word(&seed);
        uint32_t out[SCAN_SLOTS + 8], wanted = 0;
        bool beyond = true, any = false;
        uint32_t count = scanner(&scan, out, &beyond);
        for (uint32_t i = 0; i < scan.count; i++) {
            uint64_t slot = 0, at = (scan.first + i) * scan.slot_bits;
            for (uint32_t bit = 0; bit < scan.slot_bits; bit++)
                slot |= (uint64_t)(bytes[(at + bit) / 8] >> (at + bit) % 8 & 1) << bit;
            if (slot >> position_bits != scan.remainder)
                continue;
            uint64_t position = slot & ((1ull << position_bits) - 1);
            assert_true(wanted < count);
            assert_int_equal(out[wanted++], (uint32_t)position);
            any |= position >= scan.axis;
        }
        assert_int_equal(count, wanted);
        assert_int_equal(beyond, any);
    }
}

static void test_scanners(void **state)
{
    (void)state;
    check_scanner(postings_scan_portable);
#if defined(__x86_64__)
    if (cpu_flags() & CPU_AVX512_POPCNT)
        check_scanner(postings_scan_avx512);
#endif
}

static void test_choice_follows_the_processor(void **state)
{
    (void)state;
    cpu_mask(0);
    assert_ptr_equal(postings_unpack_choose(), postings_unpack_portable);
    assert_ptr_equal(postings_scan_choose(), postings_scan_portable);
    cpu_mask(UINT32_MAX);
    bool plain = !(cpu_flags() & CPU_AVX2);
    assert_int_equal(postings_unpack_choose() == postings_unpack_portable, plain);
}

/* ---- what cannot be ---- */

static enum doppel_status try_build(uint32_t key_bits, struct item *items, size_t count,
                                    uint64_t announced)
{
    struct fixture f = {.key_bits = key_bits, .items = items, .count = count};
    struct posting_stream stream = stream_of(&f);
    struct segment_target target = {0};
    struct segment *segment = NULL;
    stream.items = announced;
    enum doppel_status status = postings_build(&(struct postings_options){.key_bits = key_bits},
                                               &stream, &target, &segment, NULL);
    segment_release(segment);
    return status;
}

static void test_streams_are_checked(void **state)
{
    (void)state;
    struct doppel_index_posting posting = {7, 9};
    struct item items[2] = {{1, 10, &posting, 1}, {2, UINT32_MAX - 10, NULL, 0}};
    assert_int_equal(try_build(3, items, 2, 2), DOPPEL_OK);
    assert_int_equal(try_build(2, items, 2, 2), DOPPEL_E_ARGUMENT);
    assert_int_equal(try_build(0, items, 2, 2), DOPPEL_E_ARGUMENT);
    assert_int_equal(try_build(33, items, 2, 2), DOPPEL_E_ARGUMENT);
    assert_int_equal(try_build(3, items, 2, 1), DOPPEL_E_ARGUMENT);
    items[1].length++;
    assert_int_equal(try_build(3, items, 2, 2), DOPPEL_E_LIMIT);
    posting.position = 10;
    assert_int_equal(try_build(3, items, 2, 2), DOPPEL_E_ARGUMENT);
}

static void test_parameters_are_checked_at_open(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 8; i++)
        for (uint64_t change = 1; change; change <<= 9) {
            struct fixture f = make_items(SKEWED_KEYS, 9, 3, 300);
            build(&f, 0);
            struct segment *segment = segment_retain(postings_segment(f.table));
            struct postings *table = NULL;
            segment->plan.parameters[i] += change;
            /* The number of postings is told, not used. */
            bool refused = postings_open(segment, &table, NULL) != DOPPEL_OK;
            assert_true(refused || i == POSTINGS_PARAMETER_POSTINGS);
            postings_free(table);
            free_fixture(&f);
        }
}

static bool check_run(void *context, uint32_t number, const uint32_t *run, size_t count)
{
    const struct postings *table = context;
    (void)number;
    for (size_t i = 0; i < count; i++) {
        assert_true(run[i] < postings_info(table).axis);
        (void)postings_item(table, run[i]);
    }
    return true;
}

/* Whatever the parts hold, lookups and merges end and read nothing that is not there. */
static void test_damaged_parts_are_survived(void **state)
{
    (void)state;
    struct fixture f = make_items(SKEWED_KEYS, 9, 30, 500);
    build(&f, 0);
    uint32_t *keys = make_keys(&f, 200);
    uint64_t seed = 11, counts[200];
    int refused = 0;
    for (int round = 0; round < 400; round++) {
        struct segment *segment = postings_segment(f.table), *merged = NULL;
        unsigned part = POSTINGS_STARTS + (unsigned)round % 4;
        uint8_t *bytes = segment_fill(segment, part), kept[8];
        uint64_t at[8];
        for (int i = 0; i < 8; i++) {
            at[i] = random_word(&seed) % segment->plan.part_bytes[part];
            kept[i] = bytes[at[i]];
            bytes[at[i]] = (uint8_t)random_word(&seed);
        }
        refused +=
            postings_lookup(f.table, keys, 200, check_run, f.table, NULL) == DOPPEL_E_CORRUPT;
        (void)postings_counts(f.table, keys, 200, counts, NULL);
        const struct postings *tables[] = {f.table, f.table};
        struct segment_target target = {0};
        (void)postings_merge(&(struct postings_merge){tables, 2, NULL, NULL}, &target, &merged,
                             NULL);
        segment_release(merged);
        for (int i = 8; i--;)
            bytes[at[i]] = kept[i];
    }
    assert_true(refused > 0);
    check_lookups(&f, 100);
    free(keys);
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lookup),
        cmocka_unit_test(test_long_lists),
        cmocka_unit_test(test_longest_axis),
        cmocka_unit_test(test_fullest_row),
        cmocka_unit_test(test_little_memory_takes_more_passes),
        cmocka_unit_test(test_lookup_ends_when_told),
        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_merge_refuses),
        cmocka_unit_test(test_unpackers),
        cmocka_unit_test(test_scanners),
        cmocka_unit_test(test_choice_follows_the_processor),
        cmocka_unit_test(test_streams_are_checked),
        cmocka_unit_test(test_parameters_are_checked_at_open),
        cmocka_unit_test(test_damaged_parts_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
