/* The index of a node against a list of codes that is looked through one by one. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "cluster/answers.h"

enum { SHARDS = 12, CODES_MOST = 40000, QUERIES = 20, RADIUS = 9 };

static void begin_search(struct answer *answer, struct node_member *member, const uint64_t *codes,
                         size_t count, bool all)
{
    *answer = (struct answer){
        .search = {
            .codes = malloc(count * sizeof *codes), .count = count, .radius = RADIUS, .all = all}};
    memcpy(answer->search.codes, codes, count * sizeof *codes);
    begin_answer(answer, member);
}

/* ---- the oracle ---- */

struct known_code {
    uint64_t code, payload;
    uint32_t shard;
    bool is_there;
};

struct known {
    struct known_code codes[CODES_MOST];
    size_t count;
    uint64_t random;
};

static uint64_t next_random(struct known *known)
{
    known->random ^= known->random << 13;
    known->random ^= known->random >> 7;
    known->random ^= known->random << 17;
    return known->random;
}

/* Many are near each other. */
static uint64_t random_code(struct known *known)
{
    uint64_t code = (next_random(known) % 50) * UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < 6; i++)
        code ^= UINT64_C(1) << next_random(known) % 64;
    return code;
}

static bool is_wanted(const struct known_code *code, uint32_t shard, bool all)
{
    return code->is_there && (all || code->shard == shard);
}

static void check_answer(const struct known *known, const struct answer *answer,
                         const uint64_t *queries, uint32_t shard)
{
    const struct node_search *search = &answer->search;
    size_t expected = 0, found = 0;
    assert_int_equal(search->status, DOPPEL_OK);
    for (size_t q = 0; q < search->count; q++)
        for (size_t i = 0; i < known->count; i++)
            expected += is_wanted(&known->codes[i], shard, search->all) &&
                        __builtin_popcountll(known->codes[i].code ^ queries[q]) <= RADIUS;
    assert_int_equal(search->hit_count, expected);
    for (size_t h = 0; h < search->hit_count; h++) {
        const struct doppel_index_hit *hit = &search->hits[h];
        for (size_t i = 0; i < known->count; i++)
            found += is_wanted(&known->codes[i], shard, search->all) &&
                     known->codes[i].payload == node_hit_payload(hit) &&
                     known->codes[i].shard == node_hit_shard(hit) &&
                     (uint32_t)__builtin_popcountll(known->codes[i].code ^ queries[hit->query]) ==
                         hit->distance;
    }
    assert_true(found >= expected);
}

static struct node_family_options family_options(const char *name)
{
    struct node_family_options options = {.index = doppel_index_options_default()};
    strcpy(options.name, name);
    return options;
}

static struct node_member *join_shard(struct node *node, const char *family, uint32_t shard)
{
    struct node_family_options options = family_options(family);
    options.low = strcmp(family, "low") == 0 ? 17 : 0;
    struct node_member *member = NULL;
    assert_int_equal(node_join(node, &options, shard, &member, NULL), DOPPEL_OK);
    return member;
}

/* ---- steps ---- */

static void add_some(struct known *known, struct node_member *member, uint32_t shard, size_t count)
{
    uint64_t *codes = malloc(count * sizeof *codes), *payloads = malloc(count * sizeof *payloads);
    for (size_t i = 0; i < count; i++) {
        codes[i] = random_code(known);
        /* of all 50 bits */
        payloads[i] = known->count * UINT64_C(0x2545f4914f6cdd1d) >> (64 - NODE_PAYLOAD_BITS);
        known->codes[known->count++] = (struct known_code){codes[i], payloads[i], shard, true};
    }
    assert_int_equal(node_add(member, codes, payloads, count, NULL), DOPPEL_OK);
    free(codes);
    free(payloads);
}

static void remove_some(struct known *known, struct node_member *member, uint32_t shard)
{
    uint64_t payloads[64];
    size_t count = 0;
    for (size_t i = next_random(known) % 3; i < known->count && count < 64; i += 7)
        if (known->codes[i].is_there && known->codes[i].shard == shard) {
            payloads[count++] = known->codes[i].payload;
            known->codes[i].is_there = false;
        }
    assert_int_equal(node_remove(member, payloads, count, NULL), DOPPEL_OK);
}

static void leave_all(struct known *known, struct node_member *member, uint32_t shard)
{
    uint64_t *payloads = malloc((known->count + 1) * sizeof *payloads);
    size_t count = 0;
    for (size_t i = 0; i < known->count; i++)
        if (known->codes[i].is_there && known->codes[i].shard == shard) {
            payloads[count++] = known->codes[i].payload;
            known->codes[i].is_there = false;
        }
    node_leave(member, payloads, count);
    free(payloads);
}

static void compare_answers(struct known *known, struct node_member *member, uint32_t shard,
                            bool all)
{
    uint64_t queries[QUERIES];
    struct answer answer;
    for (size_t i = 0; i < QUERIES; i++)
        queries[i] = random_code(known);
    begin_search(&answer, member, queries, QUERIES, all);
    wait_for_answer(&answer);
    check_answer(known, &answer, queries, shard);
    for (uint32_t i = 0; all && i < SHARDS; i++)
        assert_true(answer.search.shards[i / 8] >> i % 8 & 1);
    free(answer.search.hits);
}

static void compare_with_scan(const char *family)
{
    struct known *known = calloc(1, sizeof *known);
    struct node_member *members[SHARDS];
    struct node *node;
    known->random = 88172645463325252;
    assert_int_equal(node_new(2, &node, NULL), DOPPEL_OK);
    for (uint32_t i = 0; i < SHARDS; i++)
        members[i] = join_shard(node, family, i);
    for (int step = 0; step < 60; step++) {
        const uint32_t shard = (uint32_t)(next_random(known) % SHARDS);
        const uint64_t what = next_random(known) % 8;
        if (what < 5 && known->count < 30000)
            add_some(known, members[shard], shard, 1 + next_random(known) % 900);
        else if (what < 7)
            remove_some(known, members[shard], shard);
        else {
            leave_all(known, members[shard], shard);
            members[shard] = join_shard(node, family, shard);
        }
        compare_answers(known, members[shard], shard, step % 2);
    }
    for (uint32_t i = 0; i < SHARDS; i++)
        node_leave(members[i], NULL, 0);
    node_free(node);
    free(known);
}

static void test_answers_are_those_of_a_scan(void **state)
{
    (void)state;
    compare_with_scan("pictures");
    compare_with_scan("low");
}

/* So many at once are a segment, and there are merges while others search. */
static void test_many_at_once(void **state)
{
    struct known *known = calloc(1, sizeof *known);
    struct node *node;
    (void)state;
    known->random = 1234567;
    assert_int_equal(node_new(2, &node, NULL), DOPPEL_OK);
    struct node_member *one = join_shard(node, "many", 0), *two = join_shard(node, "many", 3);
    add_some(known, one, 0, 33000);
    add_some(known, two, 3, 900);
    leave_all(known, one, 0);
    one = join_shard(node, "many", 0);
    add_some(known, one, 0, 500);
    uint64_t query = random_code(known);
    struct answer answer;
    begin_search(&answer, one, &query, 1, true);
    wait_for_answer(&answer);
    check_answer(known, &answer, &query, 0);
    assert_int_equal(answer.search.shards[0], 1 << 0 | 1 << 3);
    assert_int_equal(answer.search.shards_bytes, 1);
    free(answer.search.hits);
    node_leave(one, NULL, 0);
    node_leave(two, NULL, 0);
    node_free(node);
    free(known);
}

/* One segment is faster than several and a head, and takes less. */
static void test_all_is_merged_when_nothing_comes(void **state)
{
    const struct timespec some = {.tv_nsec = 20000000};
    struct known *known = calloc(1, sizeof *known);
    struct node *node;
    (void)state;
    known->random = 321;
    assert_int_equal(node_new(1, &node, NULL), DOPPEL_OK);
    struct node_member *large = join_shard(node, "large", 0), *small = join_shard(node, "low", 0);
    add_some(known, large, 0, 5000);
    assert_int_equal(node_add(small, &known->codes[0].code, &known->codes[0].payload, 1, NULL),
                     DOPPEL_OK);
    for (int i = 0; i < 500 && node_info(large).index.segments != 1; i++)
        nanosleep(&some, NULL);
    assert_int_equal(node_info(large).index.segments, 1);
    assert_int_equal(node_info(large).index.head_codes, 0);
    assert_int_equal(node_info(small).index.head_codes, 1);
    compare_answers(known, large, 0, false);
    node_leave(large, NULL, 0);
    node_leave(small, NULL, 0);
    node_free(node);
    free(known);
}

/* ---- members that go ---- */

static void test_what_is_hidden_is_not_found(void **state)
{
    const uint64_t code = 5, payload = 9;
    struct answer answer;
    struct node *node;
    (void)state;
    assert_int_equal(node_new(1, &node, NULL), DOPPEL_OK);
    struct node_member *old = join_shard(node, "f", 1);
    assert_int_equal(node_add(old, &code, &payload, 1, NULL), DOPPEL_OK);
    node_hide_all(node);
    struct node_member *fresh = join_shard(node, "f", 2);
    begin_search(&answer, fresh, &code, 1, true);
    wait_for_answer(&answer);
    assert_int_equal(answer.search.hit_count, 0);
    assert_int_equal(answer.search.shards[0], 1 << 2);
    free(answer.search.hits);
    node_leave(old, &payload, 1);
    node_leave(fresh, NULL, 0);
    node_free(node);
}

/* One member's search, and a family whose options change when all have left. */
static void test_a_member_that_left(void **state)
{
    const struct node_family_options plain = family_options("f");
    struct node_family_options other = plain;
    struct node_member *member, *second = NULL;
    struct node *node;
    (void)state;
    other.index.bits = 256;
    assert_int_equal(node_new(1, &node, NULL), DOPPEL_OK);
    assert_int_equal(node_join(node, &plain, 1, &member, NULL), DOPPEL_OK);
    assert_int_equal(node_join(node, &other, 2, &second, NULL), DOPPEL_E_ARGUMENT);
    other.index.bits = plain.index.bits;
    other.low = 17;
    assert_int_equal(node_join(node, &other, 2, &second, NULL), DOPPEL_E_ARGUMENT);
    other.index.bits = 256;
    node_leave(member, NULL, 0);
    assert_int_equal(node_join(node, &other, 2, &second, NULL), DOPPEL_OK);
    other.low = NODE_LOW_MOST + 1;
    assert_int_equal(node_join(node, &other, 3, &member, NULL), DOPPEL_E_ARGUMENT);
    other.low = 0;
    other.index.bits = 100;
    *other.name = 0;
    assert_int_equal(node_join(node, &other, 2, &member, NULL), DOPPEL_E_ARGUMENT);
    other.index.table = DOPPEL_INDEX_VECTORS;
    assert_int_equal(node_join(node, &other, 2, &member, NULL), DOPPEL_E_ARGUMENT);
    node_leave(second, NULL, 0);
    node_free(node);
}

/* ---- at once ---- */

struct racing {
    struct node *node;
    uint32_t shard;
    struct node_member *watched;
};

static void *race(void *context)
{
    struct racing *racing = context;
    for (uint64_t round = 0; round < 60; round++) {
        struct node_member *member = join_shard(racing->node, "race", racing->shard);
        uint64_t codes[100], payloads[100];
        for (uint64_t i = 0; i < 100; i++) {
            codes[i] = (uint64_t)racing->shard << 32 | i;
            payloads[i] = (uint64_t)racing->shard << 16 | i;
        }
        assert_int_equal(node_add(member, codes, payloads, 100, NULL), DOPPEL_OK);
        struct answer all, own;
        begin_search(&all, racing->watched, codes, 1, true);
        begin_search(&own, member, codes, 1, false);
        if (round % 3 == 0)
            node_leave(member, payloads, 100);
        wait_for_answer(&all);
        wait_for_answer(&own);
        bool found = false;
        for (size_t i = 0; i < all.search.hit_count; i++)
            found = found || node_hit_payload(&all.search.hits[i]) == payloads[0];
        /* what is said to be searched was */
        assert_true(found || !(all.search.shards[racing->shard / 8] >> racing->shard % 8 & 1));
        assert_true(own.search.status == DOPPEL_E_NOT_FOUND ||
                    (own.search.status == DOPPEL_OK && own.search.hit_count > 0));
        free(all.search.hits);
        free(own.search.hits);
        if (round % 3)
            node_leave(member, payloads, 100);
    }
    return NULL;
}

static void test_shards_come_and_go_while_others_search(void **state)
{
    struct racing racing[4];
    pthread_t threads[4];
    struct node *node;
    (void)state;
    assert_int_equal(node_new(3, &node, NULL), DOPPEL_OK);
    struct node_member *watched = join_shard(node, "race", 100);
    for (uint32_t i = 0; i < 4; i++) {
        racing[i] = (struct racing){node, i + 1, watched};
        assert_int_equal(pthread_create(&threads[i], NULL, race, &racing[i]), 0);
    }
    for (uint32_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    node_leave(watched, NULL, 0);
    node_free(node);
}

/* The searcher is held by an answer that is not taken; meanwhile a shard joins, with codes. */
static void hold_searcher(struct node_search *search)
{
    pthread_mutex_t *held = search->context;
    pthread_mutex_lock(held);
    pthread_mutex_unlock(held);
    free(search->hits);
}

static void test_what_joins_after_a_question_is_not_named(void **state)
{
    static const uint64_t code = 5, payload = 7;
    pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
    struct node_search holding = {
        .codes = calloc(1, sizeof code), .count = 1, .done = hold_searcher, .context = &held};
    struct answer early, late;
    struct node *node;
    (void)state;
    assert_int_equal(node_new(1, &node, NULL), DOPPEL_OK);
    struct node_member *first = join_shard(node, "joins", 1);
    pthread_mutex_lock(&held);
    node_search(first, &holding);
    begin_search(&early, first, &code, 1, true);
    struct node_member *second = join_shard(node, "joins", 2);
    assert_int_equal(node_add(second, &code, &payload, 1, NULL), DOPPEL_OK);
    begin_search(&late, first, &code, 1, true);
    pthread_mutex_unlock(&held);
    wait_for_answer(&early);
    wait_for_answer(&late);
    assert_int_equal(early.search.shards[0], 1 << 1);
    assert_int_equal(late.search.shards[0], 1 << 1 | 1 << 2);
    assert_int_equal(late.search.hit_count, 1);
    free(early.search.hits);
    free(late.search.hits);
    node_leave(first, NULL, 0);
    node_leave(second, &payload, 1);
    node_free(node);
    pthread_mutex_destroy(&held);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_joins_after_a_question_is_not_named),
        cmocka_unit_test(test_answers_are_those_of_a_scan),
        cmocka_unit_test(test_many_at_once),
        cmocka_unit_test(test_all_is_merged_when_nothing_comes),
        cmocka_unit_test(test_what_is_hidden_is_not_found),
        cmocka_unit_test(test_a_member_that_left),
        cmocka_unit_test(test_shards_come_and_go_while_others_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
