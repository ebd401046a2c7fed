/* Keys at positions of items in the shards of a node, against a list that is looked through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster/answers.h"

enum { SHARDS = 3, POSTINGS_MOST = 100000, KEYS = 40 };

struct known_posting {
    uint64_t payload;
    uint32_t key, position, shard;
    bool is_there;
};

struct known_postings {
    struct known_posting all[POSTINGS_MOST];
    size_t count;
    uint32_t low;
    uint64_t random;
    struct node *node;
    struct node_member *members[SHARDS];
};

static uint64_t random_number(struct known_postings *known)
{
    known->random ^= known->random << 13;
    known->random ^= known->random >> 7;
    known->random ^= known->random << 17;
    return known->random;
}

static struct known_postings *make_known(uint32_t low)
{
    struct known_postings *known = calloc(1, sizeof *known);
    struct node_family_options options = {
        .name = "keys", .index = doppel_index_options_default(), .low = low};
    options.index.table = DOPPEL_INDEX_POSTINGS;
    options.index.key_bits = 20;
    known->random = 99;
    known->low = low;
    assert_int_equal(node_code_words(&options), 1);
    assert_int_equal(node_new(2, &known->node, NULL), DOPPEL_OK);
    for (uint32_t i = 0; i < SHARDS; i++)
        assert_int_equal(node_join(known->node, &options, i, &known->members[i], NULL), DOPPEL_OK);
    return known;
}

static void drop_known(struct known_postings *known)
{
    for (uint32_t i = 0; i < SHARDS; i++)
        node_leave(known->members[i], NULL, 0);
    node_free(known->node);
    free(known);
}

/* Some items, one after the other, in one call. */
static void add_items(struct known_postings *known, uint32_t shard, size_t count, uint32_t length)
{
    uint64_t *codes = malloc(count * sizeof *codes), *payloads = malloc(count * sizeof *payloads);
    uint64_t payload = 0;
    for (size_t i = 0; i < count; i++) {
        if (!i || random_number(known) % 20 == 0)
            payload = known->count + i + (UINT64_C(1) << 40);
        struct known_posting *posting = &known->all[known->count + i];
        *posting = (struct known_posting){.payload = payload,
                                          .key = (uint32_t)(random_number(known) % KEYS) * 999,
                                          .position = (uint32_t)(random_number(known) % length),
                                          .shard = shard,
                                          .is_there = true};
        payloads[i] = payload;
        codes[i] = (uint64_t)posting->position << 32 | posting->key;
    }
    known->count += count;
    assert_int_equal(node_add(known->members[shard], codes, payloads, count, NULL), DOPPEL_OK);
    free(codes);
    free(payloads);
}

static void remove_items(struct known_postings *known, uint32_t shard)
{
    uint64_t payloads[50];
    size_t count = 0;
    for (size_t i = random_number(known) % 400; i < known->count && count < 50; i += 400)
        if (known->all[i].shard == shard)
            payloads[count++] = known->all[i].payload;
    for (size_t i = 0; i < known->count; i++)
        for (size_t j = 0; j < count; j++)
            known->all[i].is_there &= known->all[i].payload != payloads[j];
    assert_int_equal(node_remove(known->members[shard], payloads, count, NULL), DOPPEL_OK);
}

static int compare_hits(const void *left, const void *right)
{
    return memcmp(left, right, sizeof(struct doppel_index_hit));
}

static void check_keys(struct known_postings *known, uint32_t shard, bool all)
{
    struct answer answer = {.search = {.count = 7, .all = all}};
    struct doppel_index_hit *expected = calloc(known->count * 7 + 1, sizeof *expected);
    uint32_t keys[7];
    size_t count = 0;
    answer.search.codes = calloc(7, sizeof(uint64_t));
    for (uint32_t i = 0; i < 7; i++) {
        keys[i] = (uint32_t)(random_number(known) % (KEYS + 2)) * 999;
        answer.search.codes[i] = keys[i];
        for (size_t j = 0; j < known->count; j++) {
            const struct known_posting *posting = &known->all[j];
            if (posting->key != keys[i] || !posting->is_there || (!all && posting->shard != shard))
                continue;
            expected[count++] = (struct doppel_index_hit){
                posting->payload << NODE_MEMBER_BITS | posting->shard, posting->position, i};
        }
    }
    begin_answer(&answer, known->members[shard]);
    wait_for_answer(&answer);
    assert_int_equal(answer.search.status, DOPPEL_OK);
    assert_int_equal(answer.search.hit_count, count);
    for (size_t i = 1; i < count; i++) {
        const struct doppel_index_hit *a = &answer.search.hits[i - 1], *b = a + 1;
        assert_true(a->query <= b->query);
        assert_true(a->query < b->query ||
                    node_hit_payload(a) >> known->low <= node_hit_payload(b) >> known->low);
    }
    if (count) {
        qsort(expected, count, sizeof *expected, compare_hits);
        qsort(answer.search.hits, count, sizeof *expected, compare_hits);
        assert_memory_equal(expected, answer.search.hits, count * sizeof *expected);
    }
    free(answer.search.hits);
    free(expected);
}

static void compare_with_list(uint32_t low)
{
    struct known_postings *known = make_known(low);
    for (int step = 0; step < 40; step++) {
        const uint32_t shard = (uint32_t)(random_number(known) % SHARDS);
        if (step % 4 < 3 && known->count < POSTINGS_MOST - 5000)
            add_items(known, shard, 1 + random_number(known) % 4000, 5000);
        else
            remove_items(known, shard);
        check_keys(known, shard, step % 2);
    }
    assert_true(known->count > 40000);
    drop_known(known);
}

static void test_positions_are_those_of_a_list(void **state)
{
    (void)state;
    compare_with_list(0);
    compare_with_list(7);
}

/* More positions than an index has room for before it is flushed. */
static void test_items_that_are_long(void **state)
{
    struct known_postings *known = make_known(0);
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        add_items(known, i % SHARDS, 100, UINT32_C(1) << NODE_POSITION_BITS);
    for (uint32_t i = 0; i < 4; i++)
        check_keys(known, i % SHARDS, true);
    remove_items(known, 1);
    check_keys(known, 1, false);
    drop_known(known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_positions_are_those_of_a_list),
        cmocka_unit_test(test_items_that_are_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
