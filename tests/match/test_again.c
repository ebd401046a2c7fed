/* What is joined again gives the pairs of a join that knows nothing, whatever came, went and moved
 * in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "match/images.h"

enum { POOL = 240, ALIKE = 600, ROUNDS = 40, MOST_PAIRS = ALIKE * ALIKE };

/* All pictures there may be; a collection is some of them, in an order. */
struct pool {
    struct doppel_match_options options;
    bool some_weak; /* a third of the pairs are */
    uint32_t count;
    struct doppel_fingerprint fingerprints[ALIKE];
    uint8_t quality[ALIKE];
    bool reference[ALIKE];
};

struct collection {
    uint32_t images[ALIKE]; /* numbers in the pool; the id is the place, times 3 */
    uint32_t count;
};

/* What was visited, and followed, or worth keeping though it was not. */
struct visits {
    const struct pool *pool;
    const struct collection *collection;
    struct visit {
        uint32_t query, id;
        double similarity;
        bool follows, weak;
    } items[MOST_PAIRS];
    size_t count, stop_after;
};

/* In `families` of near copies of each other. */
static void make_pool(struct pool *pool, uint32_t count, unsigned families, uint64_t *seed)
{
    pool->count = count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t model = (uint32_t)(random_word(seed) % families);
        pool->fingerprints[i] = i < families ? make_fingerprint(DOPPEL_SCHEME_PHASH64, 0xff, seed)
                                             : copy_fingerprint(&pool->fingerprints[model]);
        if (i >= families)
            disturb(&pool->fingerprints[i], 10 + (unsigned)(random_word(seed) % 40), seed);
        pool->quality[i] = random_word(seed) % 12 ? 100 : DOPPEL_IMAGE_MIN_QUALITY - 1;
        pool->reference[i] = false;
    }
}

static void free_pool(struct pool *pool)
{
    for (uint32_t i = 0; i < pool->count; i++)
        doppel_fingerprint_free(&pool->fingerprints[i]);
}

static struct doppel_matcher *matcher_of(const struct pool *pool, const struct collection *of,
                                         uint32_t threads)
{
    struct doppel_matcher *matcher;
    assert_int_equal(
        doppel_matcher_new(DOPPEL_SCHEME_PHASH64, &pool->options, threads, &matcher, NULL),
        DOPPEL_OK);
    for (uint32_t i = 0; i < of->count; i++) {
        uint32_t number = of->images[i];
        struct doppel_match_item item = {&pool->fingerprints[number], pool->quality[number]};
        assert_int_equal(doppel_matcher_add(matcher, 3 * i, &item, NULL), DOPPEL_OK);
    }
    return matcher;
}

static void begin(struct visits *visits, const struct pool *pool,
                  const struct collection *collection)
{
    visits->pool = pool;
    visits->collection = collection;
    visits->count = visits->stop_after = 0;
}

static bool visit(void *context, const struct doppel_found *found, bool *out_follows)
{
    struct visits *visits = context;
    const struct pool *pool = visits->pool;
    const uint32_t *images = visits->collection->images;
    assert_true(visits->count < MOST_PAIRS);
    const uint32_t query = images[found->query / 3], item = images[found->id / 3];
    const bool matches = !(pool->reference[query] && pool->reference[item]);
    const bool weak =
        found->borderline ? (query + item) % 2 : pool->some_weak && (query ^ item) % 3 == 0;
    *out_follows = matches && !weak && !found->borderline;
    visits->items[visits->count++] =
        (struct visit){(uint32_t)found->query, (uint32_t)found->id, found->match.similarity,
                       *out_follows, matches && weak};
    return visits->count != visits->stop_after;
}

static bool is_kept(const struct visit *visit)
{
    return visit->follows || visit->weak;
}

static void assert_same_pairs(const struct visits *got, const struct visits *wanted)
{
    size_t i = 0, j = 0;
    for (;; i++, j++) {
        while (i < got->count && !is_kept(&got->items[i]))
            i++;
        while (j < wanted->count && !is_kept(&wanted->items[j]))
            j++;
        if (i == got->count || j == wanted->count)
            break;
        assert_int_equal(got->items[i].query, wanted->items[j].query);
        assert_int_equal(got->items[i].id, wanted->items[j].id);
        assert_int_equal(got->items[i].follows, wanted->items[j].follows);
        assert_memory_equal(&got->items[i].similarity, &wanted->items[j].similarity,
                            sizeof(double));
    }
    assert_int_equal(i, got->count);
    assert_int_equal(j, wanted->count);
}

/* ---- changes ---- */

static void insert(struct collection *collection, uint32_t at, uint32_t number)
{
    memmove(collection->images + at + 1, collection->images + at,
            (collection->count++ - at) * sizeof *collection->images);
    collection->images[at] = number;
}

static uint32_t take_out(struct collection *collection, uint32_t at)
{
    uint32_t number = collection->images[at];
    memmove(collection->images + at, collection->images + at + 1,
            (--collection->count - at) * sizeof *collection->images);
    return number;
}

static void move_run(struct collection *collection, uint64_t *seed)
{
    uint32_t length = 1 + (uint32_t)(random_word(seed) % (collection->count / 4 + 1));
    uint32_t from = (uint32_t)(random_word(seed) % (collection->count - length + 1));
    uint32_t to = (uint32_t)(random_word(seed) % (collection->count - length + 1));
    for (uint32_t i = 0; i < length; i++) {
        uint32_t number = take_out(collection, to < from ? from + i : from);
        insert(collection, to < from ? to + i : to + length - 1, number);
    }
}

static bool is_there(const struct collection *collection, uint32_t number)
{
    for (uint32_t i = 0; i < collection->count; i++)
        if (collection->images[i] == number)
            return true;
    return false;
}

/* Some go, some come, some move, and a few become references or cease to be. */
static void change(struct pool *pool, struct collection *collection, bool changed[ALIKE],
                   uint64_t *seed)
{
    uint32_t going = (uint32_t)(random_word(seed) % 20),
             coming = (uint32_t)(random_word(seed) % 20);
    memset(changed, 0, ALIKE * sizeof *changed);
    for (uint32_t i = 0; i < going && collection->count > 8; i++)
        take_out(collection, (uint32_t)(random_word(seed) % (i % 2 ? collection->count : 8)));
    for (uint32_t i = 0; i < coming; i++) {
        uint32_t number = (uint32_t)(random_word(seed) % pool->count);
        if (!is_there(collection, number))
            insert(collection, (uint32_t)(random_word(seed) % (collection->count + 1)), number);
    }
    for (uint32_t i = 0; i < random_word(seed) % 3; i++)
        move_run(collection, seed);
    for (uint32_t i = 0; i < random_word(seed) % 6; i++) {
        uint32_t number = (uint32_t)(random_word(seed) % pool->count);
        pool->reference[number] = !pool->reference[number];
        changed[number] = true;
    }
}

/* ---- again ---- */

static struct visits first, again;

static void lead_again(struct doppel_matcher *matcher, const struct collection *former,
                       const struct collection *now, const bool changed[ALIKE],
                       enum doppel_status wanted)
{
    static struct doppel_former_pair pairs[MOST_PAIRS];
    struct doppel_former_place places[ALIKE];
    struct doppel_former what = {.images = places, .pairs = pairs};
    for (size_t i = 0; i < first.count; i++)
        if (is_kept(&first.items[i]))
            pairs[what.pair_count++] = (struct doppel_former_pair){
                first.items[i].query / 3, first.items[i].id / 3, first.items[i].weak};
    for (uint32_t i = 0; i < now->count; i++)
        for (uint32_t place = 0; place < former->count; place++)
            if (former->images[place] == now->images[i] && !changed[now->images[i]])
                places[what.image_count++] = (struct doppel_former_place){3 * i, place};
    assert_int_equal(doppel_matcher_lead_cached(matcher, &what, visit, &again, NULL), wanted);
}

static void check_history(const struct doppel_match_options *options, uint32_t count,
                          unsigned families, uint64_t seed)
{
    static struct pool pool;
    static struct collection former, now;
    bool changed[ALIKE] = {false};
    pool.options = *options;
    pool.some_weak = seed % 2;
    now.count = former.count = 0;
    first.count = 0;
    make_pool(&pool, count, families, &seed);
    for (uint32_t i = 0; i < count / 2; i++)
        insert(&now, i, i * 2);
    for (int round = 0; round < ROUNDS * POOL / (int)count; round++) {
        struct doppel_matcher *matcher = matcher_of(&pool, &now, 1 + (uint32_t)round % 2);
        begin(&again, &pool, &now);
        lead_again(matcher, &former, &now, changed, DOPPEL_OK);
        begin(&first, &pool, &now);
        assert_int_equal(doppel_matcher_lead(matcher, visit, &first, NULL), DOPPEL_OK);
        assert_same_pairs(&again, &first);
        doppel_matcher_free(matcher);
        former = now;
        change(&pool, &now, changed, &seed);
    }
    free_pool(&pool);
}

static void test_histories(void **state)
{
    (void)state;
    struct doppel_match_options options = doppel_match_options_default();
    for (uint64_t seed = 1; seed <= 4; seed++)
        check_history(&options, POOL, 40, seed);
    check_history(&options, POOL, 3, 5);    /* nearly all alike */
    check_history(&options, ALIKE, 1, 6);   /* more pairs than are formed at once */
    check_history(&options, POOL, POOL, 7); /* nearly none */
    options.check_pixels = true;
    check_history(&options, POOL, 30, 8);
    options.check_pixels = false;
    options.max_distance = 6;
    check_history(&options, POOL, 30, 9);
}

/* What is unchanged is not looked up: with nobody's pairs kept, nobody is found. */
static void test_trusts_what_is_kept(void **state)
{
    (void)state;
    static struct pool pool;
    static struct collection now;
    bool changed[ALIKE] = {false};
    uint64_t seed = 3;
    pool.options = doppel_match_options_default();
    make_pool(&pool, POOL, 10, &seed);
    now.count = 0;
    for (uint32_t i = 0; i < POOL; i++)
        insert(&now, i, i);
    struct doppel_matcher *matcher = matcher_of(&pool, &now, 1);
    first.count = 0;
    begin(&again, &pool, &now);
    lead_again(matcher, &now, &now, changed, DOPPEL_OK);
    assert_int_equal(again.count, 0);
    doppel_matcher_free(matcher);
    free_pool(&pool);
}

/* All but the first two are the same picture, and the one that led them goes: their pairs are too
 * many to be formed at once. */
static void test_many_orphans(void **state)
{
    (void)state;
    static struct pool pool;
    static struct collection former, now;
    bool changed[ALIKE] = {false};
    uint64_t seed = 5;
    pool.options = doppel_match_options_default();
    pool.count = ALIKE;
    now.count = 0;
    for (uint32_t i = 0; i < ALIKE; i++) {
        pool.fingerprints[i] = i % 2 == 0 && i < 4
                                   ? make_fingerprint(DOPPEL_SCHEME_PHASH64, 0xff, &seed)
                                   : copy_fingerprint(&pool.fingerprints[i - 1]);
        pool.quality[i] = 100;
        pool.reference[i] = false;
        insert(&now, i, i);
    }
    struct doppel_matcher *matcher = matcher_of(&pool, &now, 1);
    begin(&first, &pool, &now);
    assert_int_equal(doppel_matcher_lead(matcher, visit, &first, NULL), DOPPEL_OK);
    assert_int_equal(first.count, ALIKE - 2);
    doppel_matcher_free(matcher);
    former = now;
    take_out(&now, 2);
    matcher = matcher_of(&pool, &now, 1);
    begin(&again, &pool, &now);
    lead_again(matcher, &former, &now, changed, DOPPEL_OK);
    begin(&first, &pool, &now);
    assert_int_equal(doppel_matcher_lead(matcher, visit, &first, NULL), DOPPEL_OK);
    assert_same_pairs(&again, &first);
    doppel_matcher_free(matcher);
    free_pool(&pool);
}

static void test_odd_memories(void **state)
{
    (void)state;
    static struct pool pool;
    static struct collection now;
    uint64_t seed = 4;
    pool.options = doppel_match_options_default();
    make_pool(&pool, POOL, 10, &seed);
    now.count = 0;
    for (uint32_t i = 0; i < POOL; i++)
        insert(&now, i, i);
    struct doppel_matcher *matcher = matcher_of(&pool, &now, 1);
    const struct doppel_former_pair pairs[] = {{5, 5, false},          {7, 2, true},
                                               {UINT32_MAX, 3, false}, {3, UINT32_MAX, true},
                                               {900, 1, false},        {1, 900, true}};
    struct doppel_former_place places[POOL];
    for (uint32_t i = 0; i < POOL; i++)
        places[i] = (struct doppel_former_place){3 * i, i};
    struct doppel_former what = {places, POOL, pairs, 6};
    begin(&again, &pool, &now);
    assert_int_equal(doppel_matcher_lead_cached(matcher, &what, visit, &again, NULL), DOPPEL_OK);
    again.count = 0;
    again.stop_after = 1;
    what.image_count = POOL / 2 + 40;
    assert_int_equal(doppel_matcher_lead_cached(matcher, &what, visit, &again, NULL),
                     DOPPEL_E_CANCELLED);
    doppel_matcher_free(matcher);
    free_pool(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_histories),
        cmocka_unit_test(test_trusts_what_is_kept),
        cmocka_unit_test(test_many_orphans),
        cmocka_unit_test(test_odd_memories),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
