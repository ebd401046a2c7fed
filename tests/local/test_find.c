/* Known transforms are recovered; sets against each of their items alone; bad input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scenes.h"

enum { PICTURES = 12 };

static struct doppel_local_verdict verified(const struct doppel_fingerprint *query,
                                            const struct doppel_fingerprint *item)
{
    struct doppel_local_options options = doppel_local_options_default();
    struct doppel_local_verdict verdict;
    assert_int_equal(doppel_local_verify(query, item, &options, &verdict, NULL), DOPPEL_OK);
    return verdict;
}

/* ---- two pictures ---- */

static const struct scene_view views[] = {
    {0, 0, 1. / 480, 0, false, 480, 480},     {.1, .1, 1. / 480, 0, false, 260, 260},
    {.3, .25, 1. / 900, 0, false, 500, 400},  {.2, .2, 1. / 300, 0, false, 200, 180},
    {.5, .05, 1. / 480, .5, false, 300, 200}, {.8, .8, 1. / 480, 3.2, false, 300, 300},
    {.1, .2, 1. / 480, 0, true, 300, 300},    {.5, .1, 1. / 600, .7, true, 330, 300},
};

static void test_transforms_are_recovered(void **state)
{
    (void)state;
    struct scene scene = scene_make(3);
    struct doppel_fingerprint item = scene_points(&scene, &scene_whole);
    doppel_local_keep(&item);
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        const struct scene_view *view = &views[i];
        struct doppel_fingerprint query = scene_points(&scene, view);
        struct doppel_local_verdict verdict = verified(&query, &item);
        const struct doppel_local_where *where = &verdict.where;
        double longer = view->width > view->height ? view->width : view->height;
        assert_true(verdict.false_positive_rate < 1e-5);
        assert_true(verdict.inliers >= 6 && verdict.inliers <= verdict.points);
        assert_int_equal(where->mirrored, view->mirrored);
        assert_true(fabs(where->scale * longer * view->scale - 1) < .04);
        double turned = view->mirrored ? view->angle : -view->angle;
        double off = fmod(where->query.angle - turned * 180 / 3.14159265358979 + 720, 360);
        assert_true(off < 3 || off > 357);
        /* The middle of the item's part, in the query's view. */
        double u = where->query.x * longer, v = where->query.y * longer;
        u = (view->mirrored ? view->width - u : u) * view->scale;
        v *= view->scale;
        double x = view->x + cos(view->angle) * u - sin(view->angle) * v;
        double y = view->y + sin(view->angle) * u + cos(view->angle) * v;
        assert_true(hypot(x - where->item.x, y - where->item.y) < .015);
        doppel_fingerprint_free(&query);
    }
    doppel_fingerprint_free(&item);
}

static void test_strangers_share_nothing(void **state)
{
    (void)state;
    struct doppel_fingerprint pictures[PICTURES];
    for (uint64_t i = 0; i < PICTURES; i++) {
        struct scene scene = scene_make(100 + i);
        pictures[i] = scene_points(&scene, &scene_whole);
    }
    for (int i = 0; i < PICTURES; i++)
        for (int k = 0; k < PICTURES; k++)
            if (i != k)
                assert_true(verified(&pictures[i], &pictures[k]).false_positive_rate > 1e-4);
    for (int i = 0; i < PICTURES; i++)
        doppel_fingerprint_free(&pictures[i]);
}

/* ---- sets ---- */

struct answer {
    uint64_t ids[200];
    bool matches[200];
    double rates[200];
    size_t count, stop_at;
};

static bool note_match(void *context, uint64_t id, bool is_match,
                       const struct doppel_local_verdict *verdict)
{
    struct answer *answer = context;
    answer->ids[answer->count] = id;
    answer->matches[answer->count] = is_match;
    answer->rates[answer->count++] = verdict->false_positive_rate;
    return answer->count != answer->stop_at;
}

static struct answer asked(const struct doppel_local_set *set,
                           const struct doppel_fingerprint *query, size_t near_misses)
{
    struct doppel_local_options options = doppel_local_options_default();
    options.near_misses = near_misses;
    struct answer answer = {0};
    assert_int_equal(doppel_local_find(set, query, &options, note_match, &answer, NULL), DOPPEL_OK);
    for (size_t i = 1; i < answer.count; i++)
        assert_true(answer.matches[i - 1] >= answer.matches[i] &&
                    answer.rates[i - 1] <= answer.rates[i]);
    return answer;
}

struct library {
    struct doppel_local_set *set;
    struct scene scenes[PICTURES];
    struct doppel_fingerprint items[PICTURES];
};

static struct library library_make(void)
{
    struct library library;
    assert_int_equal(doppel_local_set_new(&library.set, NULL), DOPPEL_OK);
    for (uint64_t i = 0; i < PICTURES; i++) {
        library.scenes[i] = scene_make(200 + i);
        library.items[i] = scene_points(&library.scenes[i], &scene_whole);
        assert_int_equal(doppel_local_set_add(library.set, 1000 + i, &library.items[i], NULL),
                         DOPPEL_OK);
    }
    return library;
}

static void library_free(struct library *library)
{
    for (int i = 0; i < PICTURES; i++)
        doppel_fingerprint_free(&library->items[i]);
    doppel_local_set_free(library->set);
}

/* Against the oracle: every item, verified by itself. */
static void test_a_set_finds_what_is_verified(void **state)
{
    (void)state;
    struct library library = library_make();
    assert_int_equal(doppel_local_set_count(library.set), PICTURES);
    for (uint64_t i = 0; i < PICTURES; i++) {
        struct doppel_fingerprint query =
            scene_points(&library.scenes[i], &views[i % (sizeof views / sizeof *views)]);
        struct answer answer = asked(library.set, &query, 0);
        uint64_t expected = 0;
        size_t count = 0;
        for (uint64_t k = 0; k < PICTURES; k++) {
            struct doppel_fingerprint kept = library.items[k];
            doppel_local_keep(&kept);
            if (verified(&query, &kept).false_positive_rate * PICTURES > 1e-3)
                continue;
            expected = 1000 + k;
            count++;
        }
        assert_int_equal(count, 1);
        assert_int_equal(expected, 1000 + i);
        assert_int_equal(answer.count, 1);
        assert_int_equal(answer.ids[0], expected);
        assert_true(answer.matches[0]);
        doppel_fingerprint_free(&query);
    }
    library_free(&library);
}

/* Many pictures of nothing but one edge, which the query has as well, do not stand before the one
 * that it shows. */
static void test_edges_do_not_hide_a_picture(void **state)
{
    enum { DECOYS = 150, OWN_POINTS = 60 };
    (void)state;
    struct scene scene = scene_make(3);
    struct doppel_fingerprint item = scene_points(&scene, &scene_whole);
    struct doppel_fingerprint edge = scene_points(&scene, &scene_whole);
    struct doppel_fingerprint query = scene_points(&scene, &views[0]);
    struct doppel_local_set *set;
    doppel_local_keep(&edge);
    for (uint32_t i = 0; i < edge.count; i++)
        edge.codes[i] = edge.codes[0];
    for (uint32_t i = OWN_POINTS; i < query.count; i++)
        query.codes[i] = edge.codes[0];
    assert_true(query.count > 4 * OWN_POINTS);
    assert_int_equal(doppel_local_set_new(&set, NULL), DOPPEL_OK);
    for (uint64_t id = 0; id < DECOYS; id++)
        assert_int_equal(doppel_local_set_add(set, id, &edge, NULL), DOPPEL_OK);
    assert_int_equal(doppel_local_set_add(set, DECOYS, &item, NULL), DOPPEL_OK);
    struct answer answer = asked(set, &query, 0);
    assert_int_equal(answer.count, 1);
    assert_int_equal(answer.ids[0], DECOYS);
    doppel_local_set_free(set);
    doppel_fingerprint_free(&item);
    doppel_fingerprint_free(&edge);
    doppel_fingerprint_free(&query);
}

static void test_removed_pictures_are_not_found(void **state)
{
    (void)state;
    struct library library = library_make();
    struct doppel_error error;
    assert_int_equal(doppel_local_set_add(library.set, 1003, &library.items[3], &error),
                     DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_local_set_remove(library.set, 77, NULL), DOPPEL_OK);
    assert_int_equal(doppel_local_set_remove(library.set, 1003, NULL), DOPPEL_OK);
    assert_int_equal(doppel_local_set_count(library.set), PICTURES - 1);
    assert_int_equal(asked(library.set, &library.items[3], 0).count, 0);
    assert_int_equal(doppel_local_set_remove(library.set, 1003, NULL), DOPPEL_OK);
    assert_int_equal(doppel_local_set_count(library.set), PICTURES - 1);
    assert_int_equal(doppel_local_set_add(library.set, 1003, &library.items[3], NULL), DOPPEL_OK);
    assert_int_equal(asked(library.set, &library.items[3], 0).ids[0], 1003);
    struct answer stopped = {.stop_at = 1};
    struct doppel_local_options options = doppel_local_options_default();
    assert_int_equal(
        doppel_local_find(library.set, &library.items[3], &options, note_match, &stopped, NULL),
        DOPPEL_E_CANCELLED);
    library_free(&library);
}

/* ---- a set over an index ---- */

static bool give_item(void *context, uint64_t id, uint32_t frame,
                      struct doppel_local_frame *out_frame)
{
    struct library *library = context;
    const struct doppel_fingerprint *item = &library->items[id - 1000];
    struct doppel_fingerprint *out = &out_frame->points;
    assert_int_equal(frame, 0);
    if (id == 1005)
        return false; /* gone */
    assert_int_equal(doppel_fingerprint_make(doppel_scheme_by_name("local"), DOPPEL_LOCAL_BITS,
                                             item->count, out, NULL),
                     DOPPEL_OK);
    memcpy(out->codes, item->codes, item->count * sizeof *out->codes);
    memcpy(out->positions, item->positions, item->count * sizeof *out->positions);
    doppel_local_keep(out);
    return true;
}

static void test_a_set_over_an_index_answers_alike(void **state)
{
    (void)state;
    struct library library = library_make();
    struct doppel_index_options options = doppel_local_index_options();
    struct doppel_index *index;
    struct doppel_local_set *over;
    assert_int_equal(doppel_index_new(&options, &index, NULL), DOPPEL_OK);
    for (uint64_t i = 0; i < PICTURES; i++) {
        struct doppel_index_posting postings[DOPPEL_LOCAL_KEPT];
        const struct doppel_index_item item = {
            .payload = 1000 + i,
            .length = DOPPEL_LOCAL_ITEM_LENGTH,
            .count = (uint32_t)doppel_local_postings(&library.items[i], postings),
            .postings = postings};
        assert_int_equal(doppel_index_insert_item(index, &item, NULL), DOPPEL_OK);
        if (i == PICTURES / 2)
            assert_int_equal(doppel_index_flush(index, NULL), DOPPEL_OK);
    }
    assert_int_equal(doppel_local_set_over(index, give_item, &library, &over, NULL), DOPPEL_OK);
    assert_int_equal(doppel_local_set_count(over), PICTURES);
    for (uint64_t i = 0; i < PICTURES; i++) {
        struct answer expected = asked(library.set, &library.items[i], 3);
        struct answer answer = asked(over, &library.items[i], 3);
        size_t at = 0;
        for (size_t k = 0; k < expected.count && i != 5; k++)
            if (expected.ids[k] != 1005 && at < answer.count) {
                assert_int_equal(answer.ids[at], expected.ids[k]);
                assert_true(answer.rates[at++] == expected.rates[k]);
            }
        assert_true(at > 0 || i == 5);
    }
    assert_int_equal(doppel_local_set_add(over, 1, &library.items[0], NULL), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_local_set_remove(over, 1, NULL), DOPPEL_E_ARGUMENT);
    doppel_local_set_free(over);
    assert_int_equal(doppel_local_set_over(NULL, give_item, NULL, &over, NULL), DOPPEL_OK);
    assert_int_equal(asked(over, &library.items[0], 3).count, 0);
    assert_int_equal(doppel_local_set_count(over), 0);
    doppel_local_set_free(over);
    doppel_index_free(index);
    library_free(&library);
}

/* ---- bad input ---- */

static struct doppel_fingerprint made_points(uint32_t count, uint64_t seed, bool same_code,
                                             bool same_position)
{
    struct doppel_fingerprint out;
    uint32_t step = count ? UINT32_MAX / count : 1;
    assert_int_equal(doppel_fingerprint_make(doppel_scheme_by_name("local"), DOPPEL_LOCAL_BITS,
                                             count, &out, NULL),
                     DOPPEL_OK);
    for (uint32_t i = 0; i < count; i++) {
        for (int word = 0; word < 2 && !same_code; word++)
            out.codes[i].word[word] = (uint64_t)(scene_number(&seed) * 18446744073709549568.0);
        out.positions[i] = same_position ? UINT32_MAX : i * step;
    }
    return out;
}

static void test_bad_input(void **state)
{
    (void)state;
    static const struct {
        uint32_t count;
        bool same_code, same_position;
    } cases[] = {{0, false, false},  {1, false, false},   {2, true, true},     {3000, true, false},
                 {3000, true, true}, {3000, false, true}, {3000, false, false}};
    enum { CASES = sizeof cases / sizeof *cases };
    struct library library = library_make();
    struct doppel_fingerprint bad[CASES];
    for (uint64_t i = 0; i < CASES; i++) {
        bad[i] = made_points(cases[i].count, i, cases[i].same_code, cases[i].same_position);
        assert_int_equal(doppel_local_set_add(library.set, i, &bad[i], NULL), DOPPEL_OK);
    }
    for (int i = 0; i < CASES; i++) {
        for (int k = 0; k < CASES; k++)
            assert_true(verified(&bad[i], &bad[k]).false_positive_rate <= 1);
        assert_true(verified(&bad[i], &library.items[0]).false_positive_rate > 1e-4);
        assert_true(verified(&library.items[0], &bad[i]).false_positive_rate > 1e-4);
        struct answer answer = asked(library.set, &bad[i], 5);
        assert_true(answer.count < PICTURES + CASES);
        assert_int_equal(asked(library.set, &library.items[0], 0).ids[0], 1000);
    }
    bad[0].version++;
    assert_int_equal(doppel_local_set_add(library.set, 50, &bad[0], NULL), DOPPEL_E_ARGUMENT);
    bad[0].version--;
    bad[0].scheme = DOPPEL_SCHEME_PDQ;
    struct doppel_local_options options = doppel_local_options_default();
    struct doppel_local_verdict verdict;
    struct answer answer = {0};
    assert_int_equal(doppel_local_verify(&bad[0], &bad[1], &options, &verdict, NULL),
                     DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_local_find(library.set, &bad[0], &options, note_match, &answer, NULL),
                     DOPPEL_E_ARGUMENT);
    for (int i = 0; i < CASES; i++)
        doppel_fingerprint_free(&bad[i]);
    library_free(&library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transforms_are_recovered),
        cmocka_unit_test(test_strangers_share_nothing),
        cmocka_unit_test(test_a_set_finds_what_is_verified),
        cmocka_unit_test(test_edges_do_not_hide_a_picture),
        cmocka_unit_test(test_removed_pictures_are_not_found),
        cmocka_unit_test(test_a_set_over_an_index_answers_alike),
        cmocka_unit_test(test_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
