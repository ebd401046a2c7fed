/* The life of an index of postings against plain arrays: items inserted, removed, flushed, merged,
 * reopened; every key looked up at every step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include <doppel/index_items.h>

#include "index/codes.h"
#include "index/published.h"

enum { KEYS = 40, KEY_BITS = 6, MOST_ITEMS = 3000, MOST_POSTINGS = 100 };

static char folder[] = "/tmp/test-items-XXXXXX";

struct item {
    uint64_t payload;
    uint32_t length, count;
    struct doppel_index_posting postings[MOST_POSTINGS];
};

struct life {
    struct doppel_index *index;
    struct doppel_index_options options;
    bool in_files;
    struct published published;
    size_t count;
    struct item *items; /* the living */
    uint64_t seed;
};

static uint64_t pick(struct life *life, uint64_t below)
{
    return random_word(&life->seed) % below;
}

/* ---- comparing: each living posting is visited once, at its place ---- */

struct check {
    struct life *life;
    struct doppel_index_axis *axis;
    uint64_t last[KEYS], visited[KEYS];
    bool *seen; /* item × posting */
};

static struct item *item_of(struct life *life, uint64_t payload)
{
    for (size_t i = 0; i < life->count; i++)
        if (life->items[i].payload == payload)
            return &life->items[i];
    return NULL;
}

static bool visit(void *context, uint32_t number, uint64_t base, const uint32_t *positions,
                  size_t count)
{
    struct check *check = context;
    assert_true(number < KEYS && count > 0);
    check->visited[number] += count;
    for (size_t i = 0; i < count; i++) {
        uint64_t at = base + positions[i];
        assert_true(at >= check->last[number]); /* ascending */
        assert_true(at < doppel_index_axis_length(check->axis));
        check->last[number] = at;
        struct doppel_index_place place = doppel_index_item_at(check->axis, at);
        assert_true(place.start <= at && at - place.start < place.length);
        struct item *item = item_of(check->life, place.payload);
        if (place.removed)
            continue;
        assert_non_null(item);
        assert_int_equal(item->length, place.length);
        bool found = false;
        for (uint32_t p = 0; p < item->count && !found; p++) {
            bool *seen = &check->seen[(size_t)(item - check->life->items) * MOST_POSTINGS + p];
            found = !*seen && item->postings[p].key == number &&
                    item->postings[p].position == at - place.start;
            *seen |= found;
        }
        assert_true(found);
    }
    return true;
}

/* What was removed may lie on the axis still. */
static void check_axis(const struct life *life, const struct doppel_index_axis *axis, bool merged)
{
    uint64_t living = 0;
    for (size_t i = 0; i < life->count; i++)
        living += life->items[i].length;
    assert_true(doppel_index_axis_length(axis) >= living);
    assert_true(!merged || doppel_index_axis_length(axis) == living);
}

static int compare_postings(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct doppel_index_posting));
}

/* All living items are read, each with its postings. */
static void check_items(struct life *life)
{
    struct doppel_index_items read;
    assert_int_equal(doppel_index_items_read(life->index, &read, NULL), DOPPEL_OK);
    assert_int_equal(read.count, life->count);
    for (size_t i = 0; i < read.count; i++) {
        const struct item *item = item_of(life, read.items[i].payload);
        assert_non_null(item);
        assert_int_equal(item->length, read.items[i].length);
        assert_int_equal(item->count, read.items[i].count);
        const size_t bytes = item->count * sizeof *item->postings;
        struct item wanted = *item, found = *item;
        memcpy(found.postings, read.items[i].postings, bytes);
        qsort(wanted.postings, item->count, sizeof *item->postings, compare_postings);
        qsort(found.postings, item->count, sizeof *item->postings, compare_postings);
        assert_memory_equal(wanted.postings, found.postings, bytes);
    }
    doppel_index_items_free(&read);
}

static void check_all(struct life *life, bool merged)
{
    struct check check = {.life = life, .seen = calloc(MOST_ITEMS * MOST_POSTINGS, sizeof(bool))};
    uint32_t keys[KEYS];
    uint64_t lengths[KEYS];
    assert_non_null(check.seen);
    for (uint32_t i = 0; i < KEYS; i++)
        keys[i] = i;
    assert_int_equal(doppel_index_axis_take(life->index, &check.axis, NULL), DOPPEL_OK);
    check_axis(life, check.axis, merged);
    assert_int_equal(doppel_index_lengths(check.axis, keys, KEYS, lengths, NULL), DOPPEL_OK);
    assert_int_equal(doppel_index_lookup(check.axis, keys, KEYS, visit, &check, NULL), DOPPEL_OK);
    for (uint32_t i = 0; i < KEYS; i++)
        assert_int_equal(check.visited[i], lengths[i]);
    for (size_t i = 0; i < life->count; i++)
        for (uint32_t p = 0; p < life->items[i].count; p++)
            assert_true(check.seen[i * MOST_POSTINGS + p]);
    doppel_index_axis_free(check.axis);
    free(check.seen);
}

/* ---- what happens ---- */

static void open_index(struct life *life)
{
    assert_int_equal(open_published(&life->published, life->in_files ? folder : NULL,
                                    &life->options, &life->index),
                     DOPPEL_OK);
}

static void insert(struct life *life)
{
    if (life->count == MOST_ITEMS)
        return;
    struct item *item = &life->items[life->count++];
    do
        item->payload = pick(life, 4 * MOST_ITEMS);
    while (item_of(life, item->payload) != item);
    item->length = (uint32_t)pick(life, 400);
    item->count = item->length ? (uint32_t)pick(life, MOST_POSTINGS) : 0;
    for (uint32_t i = 0; i < item->count; i++)
        item->postings[i] = (struct doppel_index_posting){(uint32_t)pick(life, KEYS),
                                                          (uint32_t)pick(life, item->length)};
    struct doppel_index_item given = {item->payload, item->length, item->count, item->postings};
    assert_int_equal(doppel_index_insert_item(life->index, &given, NULL), DOPPEL_OK);
}

static void remove_some(struct life *life)
{
    uint64_t payloads[3];
    size_t count = pick(life, 4);
    for (size_t i = 0; i < count; i++) {
        payloads[i] = pick(life, 4 * MOST_ITEMS);
        if (life->count && pick(life, 3))
            payloads[i] = life->items[pick(life, life->count)].payload;
        struct item *item = item_of(life, payloads[i]);
        if (item)
            *item = life->items[--life->count];
    }
    assert_int_equal(doppel_index_remove(life->index, payloads, count, NULL), DOPPEL_OK);
}

static void step(struct life *life)
{
    switch (pick(life, 20)) {
    case 0:
        assert_int_equal(doppel_index_flush(life->index, NULL), DOPPEL_OK);
        break;
    case 1:
        assert_int_equal(doppel_index_compact(life->index, pick(life, 3) == 0, NULL), DOPPEL_OK);
        break;
    case 2:
        if (life->in_files) {
            assert_int_equal(doppel_index_flush(life->index, NULL), DOPPEL_OK);
            doppel_index_free(life->index);
            open_index(life);
        }
        break;
    case 3:
    case 4:
    case 5:
        remove_some(life);
        break;
    default:
        for (uint64_t i = pick(life, 4); i > 0; i--)
            insert(life);
    }
}

static void live(bool in_files)
{
    struct life life = {.in_files = in_files, .seed = 9, .options = doppel_index_options_default()};
    life.options.table = DOPPEL_INDEX_POSTINGS;
    life.options.key_bits = KEY_BITS;
    life.options.head_codes = 1000;
    life.items = malloc(MOST_ITEMS * sizeof *life.items);
    assert_non_null(life.items);
    open_index(&life);
    for (unsigned i = 0; i < 250; i++) {
        step(&life);
        check_all(&life, false);
    }
    check_items(&life);
    assert_int_equal(doppel_index_flush(life.index, NULL), DOPPEL_OK);
    assert_int_equal(doppel_index_compact(life.index, true, NULL), DOPPEL_OK);
    uint64_t postings = 0;
    for (size_t i = 0; i < life.count; i++)
        postings += life.items[i].count;
    assert_int_equal(doppel_index_count(life.index), postings);
    check_all(&life, true);
    doppel_index_free(life.index);
    remove_published(&life.published, folder);
    free(life.items);
}

static void test_in_memory(void **state)
{
    (void)state;
    live(false);
}

static void test_in_files(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    live(true);
    assert_int_equal(rmdir(folder), 0);
}

static bool stop(void *context, uint32_t number, uint64_t base, const uint32_t *positions,
                 size_t count)
{
    (void)number;
    (void)base;
    (void)positions;
    (void)count;
    ++*(unsigned *)context;
    return false;
}

static void test_an_axis_stays_as_it_was(void **state)
{
    (void)state;
    struct doppel_index_options options = doppel_index_options_default();
    options.table = DOPPEL_INDEX_POSTINGS;
    options.key_bits = KEY_BITS;
    struct doppel_index *index;
    assert_int_equal(doppel_index_new(&options, &index, NULL), DOPPEL_OK);
    struct doppel_index_posting posting = {7, 3};
    struct doppel_index_item item = {100, 10, 1, &posting};
    uint64_t payload = 100, length;
    uint32_t key = 7;
    unsigned runs = 0;
    for (unsigned flushed = 0; flushed < 2; flushed++) {
        struct doppel_index_axis *axis;
        assert_int_equal(doppel_index_insert_item(index, &item, NULL), DOPPEL_OK);
        if (flushed)
            assert_int_equal(doppel_index_flush(index, NULL), DOPPEL_OK);
        assert_int_equal(doppel_index_axis_take(index, &axis, NULL), DOPPEL_OK);
        assert_int_equal(doppel_index_insert_item(index, &item, NULL), DOPPEL_OK);
        assert_int_equal(doppel_index_remove(index, &payload, 1, NULL), DOPPEL_OK);
        assert_int_equal(doppel_index_flush(index, NULL), DOPPEL_OK);
        assert_int_equal(doppel_index_compact(index, true, NULL), DOPPEL_OK);
        assert_int_equal(doppel_index_lengths(axis, &key, 1, &length, NULL), DOPPEL_OK);
        assert_int_equal(length, 1);
        assert_int_equal(doppel_index_axis_length(axis), 10);
        assert_false(doppel_index_item_at(axis, 3).removed);
        assert_int_equal(doppel_index_item_at(axis, 3).payload, 100);
        assert_int_equal(doppel_index_lookup(axis, &key, 1, stop, &runs, NULL), DOPPEL_E_CANCELLED);
        doppel_index_axis_free(axis);
        assert_int_equal(doppel_index_count(index), 0);
    }
    assert_int_equal(runs, 2);
    doppel_index_free(index);
}

static void test_wrong_use(void **state)
{
    (void)state;
    struct doppel_index_options options = doppel_index_options_default();
    struct doppel_index *codes, *postings;
    assert_int_equal(doppel_index_new(&options, &codes, NULL), DOPPEL_OK);
    options.table = DOPPEL_INDEX_POSTINGS;
    options.key_bits = 4;
    assert_int_equal(doppel_index_new(&options, &postings, NULL), DOPPEL_OK);
    struct doppel_index_posting posting = {16, 0};
    struct doppel_index_item item = {1, 1, 1, &posting};
    uint64_t word = 0;
    struct doppel_index_items read;
    struct doppel_index_axis *axis;
    struct doppel_index_request request = {.queries = &word, .count = 1};
    struct doppel_index_hit *hits;
    size_t count;
    assert_int_equal(doppel_index_insert_item(postings, &item, NULL), DOPPEL_E_ARGUMENT);
    posting = (struct doppel_index_posting){15, 1};
    assert_int_equal(doppel_index_insert_item(postings, &item, NULL), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_index_insert_item(codes, &item, NULL), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_index_insert(postings, &word, &word, 1, NULL), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_index_axis_take(codes, &axis, NULL), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_index_items_read(codes, &read, NULL), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_index_search_array(postings, &request, &hits, &count, NULL),
                     DOPPEL_E_ARGUMENT);
    item.count = 0;
    item.length = UINT32_MAX;
    assert_int_equal(doppel_index_insert_item(postings, &item, NULL), DOPPEL_OK);
    assert_int_equal(doppel_index_insert_item(postings, &item, NULL), DOPPEL_E_LIMIT);
    doppel_index_axis_free(NULL);
    doppel_index_free(codes);
    doppel_index_free(postings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_memory),
        cmocka_unit_test(test_in_files),
        cmocka_unit_test(test_an_axis_stays_as_it_was),
        cmocka_unit_test(test_wrong_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
