/* The matcher against all pairs, judged one by one: find, join, lead, removal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "match/images.h"

enum { MAX_IMAGES = 1500, TELLING = 100 };

#define TOP_ID ((UINT64_C(1) << 60) - 1)

/* Pictures as the test knows them, in order of id, beside the matcher that is to agree. */
struct fixture {
    enum doppel_scheme_id scheme;
    struct doppel_match_options options;
    size_t count;
    uint64_t ids[MAX_IMAGES];
    struct doppel_fingerprint fingerprints[MAX_IMAGES];
    uint8_t quality[MAX_IMAGES];
    struct doppel_matcher *matcher;
};

static struct doppel_match_item item_of(const struct fixture *f, size_t i)
{
    return (struct doppel_match_item){&f->fingerprints[i], f->quality[i]};
}

/* A third are new, the others near copies of earlier ones: turned, cropped or barely changed. */
static struct doppel_fingerprint draw(const struct fixture *f, size_t made, uint64_t *seed)
{
    unsigned views = (unsigned)random_word(seed) & 0xff;
    struct doppel_fingerprint drawn = make_fingerprint(f->scheme, views, seed);
    uint64_t fate = random_word(seed) % 6;
    if (made == 0 || fate < 2)
        return drawn;
    const struct doppel_fingerprint *model = &f->fingerprints[random_word(seed) % made];
    if (fate == 2) {
        drawn.codes[0] = model->codes[random_word(seed) % model->count];
    } else {
        doppel_fingerprint_free(&drawn);
        drawn = copy_fingerprint(model);
    }
    disturb(&drawn, fate == 5 ? 2 + (unsigned)(random_word(seed) % 4) : 40, seed);
    if (random_word(seed) % 2)
        turn(&drawn, (unsigned)(random_word(seed) % 8));
    return drawn;
}

static void add(struct fixture *f, size_t i)
{
    struct doppel_match_item item = item_of(f, i);
    assert_int_equal(doppel_matcher_add(f->matcher, f->ids[i], &item, NULL), DOPPEL_OK);
}

/* As a list of codes of 64 bits has it. */
static void make_bare(struct doppel_fingerprint *fingerprint)
{
    fingerprint->code_bits = 64;
    for (uint32_t i = 0; i < fingerprint->count; i++)
        memset(fingerprint->codes[i].word + 1, 0, 3 * sizeof *fingerprint->codes[i].word);
}

/* Ids are spread up to the largest, and added out of order. */
static struct fixture *make(enum doppel_scheme_id scheme,
                            const struct doppel_match_options *options, size_t count,
                            uint32_t threads)
{
    static struct fixture f;
    uint64_t seed = 77 + scheme;
    f = (struct fixture){.scheme = scheme, .options = *options, .count = count};
    assert_int_equal(doppel_matcher_new(scheme, options, threads, &f.matcher, NULL), DOPPEL_OK);
    for (size_t i = 0; i < count; i++) {
        f.ids[i] = i < count / 2 ? i : TOP_ID - 3 * (count - 1 - i);
        f.quality[i] = random_word(&seed) % 10 ? TELLING : DOPPEL_IMAGE_MIN_QUALITY - 1;
        f.fingerprints[i] = draw(&f, i, &seed);
        if (scheme == DOPPEL_SCHEME_PHASH64 && random_word(&seed) % 8 == 0)
            make_bare(&f.fingerprints[i]);
    }
    for (size_t i = 1; i < count; i += 2)
        add(&f, i);
    for (size_t i = 0; i < count; i += 2)
        add(&f, i);
    return &f;
}

static void drop(struct fixture *f)
{
    doppel_matcher_free(f->matcher);
    for (size_t i = 0; i < f->count; i++)
        doppel_fingerprint_free(&f->fingerprints[i]);
}

/* ---- the oracle ---- */

static uint32_t radius_of(const struct fixture *f)
{
    const bool near = f->options.min_similarity < 0 && doppel_match_pair_rate(&f->options) < 2e-7 &&
                      (!f->options.check_pixels || doppel_match_check_rate(&f->options) < 2e-7);
    const int32_t least = near ? DOPPEL_IMAGE_NEAR_RADIUS : DOPPEL_IMAGE_CANDIDATE_RADIUS;
    const int32_t most = f->options.max_distance;
    return (uint32_t)(most > least ? most : least);
}

/* Whether a look-up of `a` hits a code of `b`, or the full frames are near. Schemes without views
 * have no gate but the limit. */
static bool is_candidate(const struct fixture *f, const struct doppel_fingerprint *a,
                         const struct doppel_fingerprint *b)
{
    if (f->scheme != DOPPEL_SCHEME_PHASH64)
        return true;
    struct doppel_image_query queries[DOPPEL_IMAGE_MAX_QUERIES];
    uint64_t codes[DOPPEL_VIEW_COUNT];
    size_t query_count = doppel_image_queries(a, &f->options.image, queries);
    size_t code_count = doppel_image_index_codes(b, &f->options.image, codes);
    for (size_t i = 0; i < query_count; i++)
        for (size_t j = 0; j < code_count; j++)
            if ((uint32_t)__builtin_popcountll(queries[i].code ^ codes[j]) <= radius_of(f))
                return true;
    return a->code_bits == 256 && b->code_bits == 256 &&
           doppel_code_distance(&a->codes[0], &b->codes[0], 256) <= DOPPEL_IMAGE_FULL_RADIUS;
}

/* What is to be said of a pair; false when nothing. */
static bool judge(const struct fixture *f, const struct doppel_match_item *query,
                  const struct doppel_match_item *item, struct doppel_found *out)
{
    bool matches = doppel_match_pair(query, item, &f->options, &out->match);
    out->borderline = !matches && doppel_match_borderline(&out->match, &f->options);
    return matches || out->borderline;
}

static void assert_same(const struct doppel_found *got, const struct doppel_found *wanted)
{
    assert_int_equal(got->id, wanted->id);
    assert_int_equal(got->query, wanted->query);
    assert_int_equal(got->borderline, wanted->borderline);
    assert_int_equal(got->match.distance, wanted->match.distance);
    assert_int_equal(got->match.relation, wanted->match.relation);
    assert_int_equal(got->match.transform.rotated, wanted->match.transform.rotated);
    assert_true(got->match.similarity >= wanted->match.similarity &&
                got->match.similarity <= wanted->match.similarity);
}

/* ---- find ---- */

struct visits {
    struct doppel_found *items;
    size_t count, capacity, stop_after;
};

static bool collect(void *context, const struct doppel_found *found)
{
    struct visits *visits = context;
    if (visits->count == visits->capacity) {
        visits->capacity = visits->capacity ? 2 * visits->capacity : 64;
        visits->items = realloc(visits->items, visits->capacity * sizeof *visits->items);
        assert_non_null(visits->items);
    }
    visits->items[visits->count++] = *found;
    return visits->count != visits->stop_after;
}

static void assert_best_first(const struct visits *visits)
{
    for (size_t i = 1; i < visits->count; i++) {
        const struct doppel_found *a = &visits->items[i - 1], *b = &visits->items[i];
        assert_true(a->borderline <= b->borderline);
        if (a->borderline != b->borderline)
            continue;
        assert_true(a->match.false_positive_rate <= b->match.false_positive_rate);
        if (a->match.false_positive_rate < b->match.false_positive_rate)
            continue;
        assert_true(a->match.similarity >= b->match.similarity);
        if (a->match.similarity <= b->match.similarity)
            assert_true(a->id < b->id);
    }
}

static const struct doppel_found *visit_of(const struct visits *visits, uint64_t id)
{
    for (size_t i = 0; i < visits->count; i++)
        if (visits->items[i].id == id)
            return &visits->items[i];
    return NULL;
}

static void check_find(const struct fixture *f, size_t query)
{
    struct visits visits = {0};
    struct doppel_match_item asked = item_of(f, query);
    assert_int_equal(doppel_matcher_find(f->matcher, &asked, collect, &visits, NULL), DOPPEL_OK);
    size_t wanted = 0;
    for (size_t i = 0; i < f->count; i++) {
        struct doppel_found found = {.id = f->ids[i]};
        struct doppel_match_item item = item_of(f, i);
        bool candidate = is_candidate(f, asked.fingerprint, item.fingerprint) ||
                         is_candidate(f, item.fingerprint, asked.fingerprint);
        if (!candidate || !judge(f, &asked, &item, &found))
            continue;
        const struct doppel_found *got = visit_of(&visits, f->ids[i]);
        assert_non_null(got);
        assert_same(got, &found);
        wanted++;
    }
    assert_int_equal(visits.count, wanted);
    assert_best_first(&visits);
    free(visits.items);
}

/* ---- join ---- */

/* All pairs, in the order that the join promises. */
static void check_join(const struct fixture *f, size_t *out_pairs)
{
    struct visits visits = {0};
    size_t at = 0;
    assert_int_equal(doppel_matcher_join(f->matcher, collect, &visits, NULL), DOPPEL_OK);
    for (size_t later = 0; later < f->count; later++)
        for (size_t earlier = 0; earlier < later; earlier++) {
            struct doppel_found found = {.id = f->ids[later], .query = f->ids[earlier]};
            struct doppel_match_item query = item_of(f, earlier), item = item_of(f, later);
            bool candidate = is_candidate(f, query.fingerprint, item.fingerprint) ||
                             is_candidate(f, item.fingerprint, query.fingerprint);
            if (!candidate || !judge(f, &query, &item, &found))
                continue;
            assert_true(at < visits.count);
            assert_same(&visits.items[at++], &found);
        }
    assert_int_equal(at, visits.count);
    *out_pairs = at;
    free(visits.items);
}

static void check_all(enum doppel_scheme_id scheme, const struct doppel_match_options *options)
{
    size_t pairs;
    struct fixture *f = make(scheme, options, 150, 1);
    for (size_t query = 0; query < f->count; query++)
        check_find(f, query);
    check_join(f, &pairs);
    assert_true(pairs > 5);
    drop(f);
}

static void test_every_scheme(void **state)
{
    (void)state;
    struct doppel_match_options options = doppel_match_options_default();
    for (enum doppel_scheme_id scheme = DOPPEL_SCHEME_PHASH64; scheme <= DOPPEL_SCHEME_PDQ;
         scheme++)
        check_all(scheme, &options);
}

static void test_options(void **state)
{
    (void)state;
    for (unsigned trial = 0; trial < 24; trial++) {
        struct doppel_match_options options = doppel_match_options_default();
        options.image.views = (enum doppel_image_views)(trial % 3);
        options.image.orientations = trial % 2;
        options.check_pixels = trial / 6 == 1;
        if (trial / 6 == 2)
            options.max_distance = 4 + (int)trial % 3 * 8;
        if (trial / 6 == 3)
            options.min_similarity = 0.6;
        check_all(DOPPEL_SCHEME_PHASH64, &options);
        if (trial >= 12)
            check_all(DOPPEL_SCHEME_PHASH256 + trial % 3, &options);
    }
}

/* More pictures than a block of the join, on several threads. */
static void test_blocks_and_threads(void **state)
{
    (void)state;
    struct doppel_match_options options = doppel_match_options_default();
    options.image.orientations = false;
    options.check_pixels = true;
    for (uint32_t threads = 1; threads <= 4; threads += 3) {
        size_t pairs;
        struct fixture *f = make(DOPPEL_SCHEME_PHASH64, &options, MAX_IMAGES, threads);
        check_join(f, &pairs);
        assert_true(pairs > 900);
        drop(f);
    }
}

/* ---- lead ---- */

struct edges {
    const struct fixture *f;
    struct doppel_edge *items;
    size_t count, capacity;
};

static uint32_t number_of(const struct fixture *f, uint64_t id)
{
    uint32_t i = 0;
    while (f->ids[i] != id)
        i++;
    return i;
}

static bool collect_edge(void *context, const struct doppel_found *found)
{
    struct edges *edges = context;
    if (found->borderline)
        return true;
    if (edges->count == edges->capacity) {
        edges->capacity = edges->capacity ? 2 * edges->capacity : 1024;
        edges->items = realloc(edges->items, edges->capacity * sizeof *edges->items);
        assert_non_null(edges->items);
    }
    edges->items[edges->count++] =
        (struct doppel_edge){number_of(edges->f, found->query), number_of(edges->f, found->id),
                             found->match.similarity, 0, false};
    return true;
}

static bool collect_leader(void *context, const struct doppel_found *found, bool *out_follows)
{
    assert_false(*out_follows);
    *out_follows = !found->borderline;
    return collect_edge(context, found);
}

/* The pairs with leaders give the same groups as all pairs, from fewer of them. */
static void test_leaders_suffice(void **state)
{
    (void)state;
    static uint32_t leaders[2][MAX_IMAGES], joined_by[MAX_IMAGES];
    struct doppel_match_options options = doppel_match_options_default();
    options.image.orientations = false;
    options.check_pixels = true;
    for (uint32_t threads = 1; threads <= 3; threads += 2) {
        struct fixture *f = make(DOPPEL_SCHEME_PHASH64, &options, MAX_IMAGES, threads);
        struct edges all = {.f = f}, few = {.f = f};
        assert_int_equal(doppel_matcher_join(f->matcher, collect_edge, &all, NULL), DOPPEL_OK);
        assert_int_equal(doppel_matcher_lead(f->matcher, collect_leader, &few, NULL), DOPPEL_OK);
        uint32_t count = (uint32_t)f->count;
        assert_int_equal(doppel_group_by_leader(count, all.items, all.count, leaders[0], joined_by),
                         DOPPEL_OK);
        assert_int_equal(doppel_group_by_leader(count, few.items, few.count, leaders[1], joined_by),
                         DOPPEL_OK);
        assert_memory_equal(leaders[0], leaders[1], count * sizeof **leaders);
        assert_true(few.count < all.count);
        for (size_t i = 0; i < few.count; i++)
            assert_int_equal(leaders[0][few.items[i].a], few.items[i].a);
        free(all.items);
        free(few.items);
        drop(f);
    }
}

/* ---- compare ---- */

static void test_compare(void **state)
{
    (void)state;
    struct doppel_match_options options = doppel_match_options_default();
    struct fixture *f = make(DOPPEL_SCHEME_PHASH64, &options, 60, 1);
    for (size_t i = 0; i < f->count; i++)
        for (size_t j = 0; j < f->count; j++) {
            struct doppel_match_item query = item_of(f, i), item = item_of(f, j);
            struct doppel_found wanted = {0}, got = {0};
            (void)doppel_match_pair(&query, &item, &options, &wanted.match);
            assert_true(doppel_matcher_compare(f->matcher, f->ids[i], f->ids[j], &got.match));
            assert_same(&got, &wanted);
        }
    struct doppel_match match;
    assert_false(doppel_matcher_compare(f->matcher, f->ids[0], 123456789, &match));
    assert_false(doppel_matcher_compare(f->matcher, 123456789, f->ids[0], &match));
    drop(f);
}

/* ---- removal, wrong use ---- */

static void forget(struct fixture *f, size_t i)
{
    doppel_matcher_remove(f->matcher, f->ids[i]);
    doppel_fingerprint_free(&f->fingerprints[i]);
    f->count--;
    memmove(f->ids + i, f->ids + i + 1, (f->count - i) * sizeof *f->ids);
    memmove(f->quality + i, f->quality + i + 1, (f->count - i) * sizeof *f->quality);
    memmove(f->fingerprints + i, f->fingerprints + i + 1, (f->count - i) * sizeof *f->fingerprints);
}

/* Slots and codes are reused: removed ones come back in other places, changed. */
static void test_removal(void **state)
{
    (void)state;
    uint64_t seed = 5;
    size_t pairs;
    struct doppel_match_options options = doppel_match_options_default();
    struct fixture *f = make(DOPPEL_SCHEME_PHASH64, &options, 120, 1);
    doppel_matcher_remove(f->matcher, 987654321);
    for (unsigned round = 0; f->count; round++) {
        for (unsigned i = 0; i < 20 && f->count; i++)
            forget(f, random_word(&seed) % f->count);
        for (unsigned i = 0; i < 10 && f->count && round < 4; i++) {
            size_t again = random_word(&seed) % f->count;
            doppel_matcher_remove(f->matcher, f->ids[again]);
            disturb(&f->fingerprints[again], 60, &seed);
            add(f, again);
        }
        check_join(f, &pairs);
        for (size_t query = 0; query < f->count; query += 7)
            check_find(f, query);
    }
    drop(f);
}

static void test_wrong_use(void **state)
{
    (void)state;
    struct doppel_match_options options = doppel_match_options_default();
    struct doppel_matcher *matcher = NULL;
    assert_int_equal(doppel_matcher_new(DOPPEL_SCHEME_NONE, &options, 1, &matcher, NULL),
                     DOPPEL_E_ARGUMENT);
    assert_null(matcher);
    struct fixture *f = make(DOPPEL_SCHEME_PHASH64, &options, 10, 1);
    struct doppel_match_item item = item_of(f, 3);
    struct doppel_error error = {0};
    assert_int_equal(doppel_matcher_add(f->matcher, TOP_ID + 1, &item, &error), DOPPEL_E_ARGUMENT);
    assert_int_equal(error.status, DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_matcher_add(f->matcher, f->ids[3], &item, NULL), DOPPEL_E_ARGUMENT);
    f->fingerprints[3].version++;
    assert_int_equal(doppel_matcher_add(f->matcher, 5000, &item, NULL), DOPPEL_E_VERSION);
    struct visits visits = {0};
    assert_int_equal(doppel_matcher_find(f->matcher, &item, collect, &visits, NULL),
                     DOPPEL_E_VERSION);
    f->fingerprints[3].version--;
    uint32_t position = f->fingerprints[3].positions[0];
    f->fingerprints[3].positions[0] = DOPPEL_VIEW_COUNT;
    assert_int_equal(doppel_matcher_add(f->matcher, 5000, &item, NULL), DOPPEL_E_ARGUMENT);
    f->fingerprints[3].positions[0] = position;
    f->fingerprints[3].code_bits = 128;
    assert_int_equal(doppel_matcher_add(f->matcher, 5000, &item, NULL), DOPPEL_E_ARGUMENT);
    f->fingerprints[3].code_bits = 256;
    size_t pairs;
    check_join(f, &pairs);
    drop(f);
    doppel_matcher_free(NULL);
}

static void test_the_visitor_ends_it(void **state)
{
    (void)state;
    struct doppel_match_options options = doppel_match_options_default();
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct fixture *f = make(DOPPEL_SCHEME_PHASH64, &options, 200, threads);
        struct visits visits = {.stop_after = 20};
        assert_int_equal(doppel_matcher_join(f->matcher, collect, &visits, NULL),
                         DOPPEL_E_CANCELLED);
        assert_int_equal(visits.count, 20);
        struct doppel_match_item item = {0};
        for (size_t i = 0; i < f->count; i++)
            if (f->ids[i] == visits.items[0].query)
                item = item_of(f, i);
        visits.stop_after = visits.count + 1;
        assert_int_equal(doppel_matcher_find(f->matcher, &item, collect, &visits, NULL),
                         DOPPEL_E_CANCELLED);
        assert_int_equal(visits.count, 21);
        free(visits.items);
        drop(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_scheme),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_blocks_and_threads),
        cmocka_unit_test(test_leaders_suffice),
        cmocka_unit_test(test_compare),
        cmocka_unit_test(test_removal),
        cmocka_unit_test(test_wrong_use),
        cmocka_unit_test(test_the_visitor_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
