/* Candidates from tables that others keep, judged by who asked: the answers of doppel_images_find.
 * And questions as bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "match/images.h"

enum { PICTURES = 600, ANSWERS_MOST = PICTURES, CROPS_OF_ALL = 0xff9 };

struct kept_images {
    struct doppel_fingerprint prints[PICTURES]; /* id - 1 */
    uint8_t quality[PICTURES];
    struct doppel_index *tables[DOPPEL_IMAGE_TABLES];
    uint64_t state;
};

/* ---- pictures, many of them near each other ---- */

static struct doppel_fingerprint next_print(struct kept_images *kept, enum doppel_scheme_id scheme,
                                            size_t number)
{
    const unsigned views = number % 5 ? CROPS_OF_ALL | (unsigned)(number % 3) << 1 : 1;
    if (!number || random_word(&kept->state) % 3 == 0)
        return make_fingerprint(scheme, views, &kept->state);
    struct doppel_fingerprint made =
        copy_fingerprint(&kept->prints[random_word(&kept->state) % number]);
    disturb(&made, 4 + (unsigned)(random_word(&kept->state) % 20), &kept->state);
    if (scheme == DOPPEL_SCHEME_PHASH64 || scheme == DOPPEL_SCHEME_PHASH256)
        turn(&made, (unsigned)(random_word(&kept->state) % DOPPEL_IMAGE_ORIENTATIONS));
    return made;
}

/* 64 bits alone, as people type them. */
static void make_bare(struct doppel_fingerprint *print)
{
    print->code_bits = 64;
    for (uint32_t i = 0; i < print->count; i++)
        memset(&print->codes[i].word[1], 0, 3 * sizeof(uint64_t));
}

static void keep_print(struct kept_images *kept, size_t number, enum doppel_scheme_id scheme)
{
    uint64_t codes[DOPPEL_IMAGE_TABLE_WORDS], payloads[DOPPEL_IMAGE_MAX_QUERIES];
    struct doppel_fingerprint *print = &kept->prints[number];
    *print = next_print(kept, scheme, number);
    if (scheme == DOPPEL_SCHEME_PHASH64 && number % 11 == 10)
        make_bare(print);
    kept->quality[number] = number % 13 ? 100 : number % 2 ? 45 : 20;
    const struct doppel_match_item item = {print, kept->quality[number]};
    for (int table = 0; table < DOPPEL_IMAGE_TABLES; table++) {
        const size_t count = doppel_image_table_codes((enum doppel_image_table)table, &item, codes);
        for (size_t i = 0; i < count; i++)
            payloads[i] = doppel_image_table_payload(print, number + 1, i);
        if (count && kept->tables[table])
            assert_int_equal(doppel_index_insert(kept->tables[table], codes, payloads, count, NULL),
                             DOPPEL_OK);
    }
}

static struct kept_images *keep_images(enum doppel_scheme_id scheme)
{
    struct kept_images *kept = calloc(1, sizeof *kept);
    struct doppel_index_options options;
    kept->state = 42 + (uint64_t)scheme;
    for (int table = 0; table < DOPPEL_IMAGE_TABLES; table++)
        if (doppel_image_table_options(scheme, (enum doppel_image_table)table, &options))
            assert_int_equal(doppel_index_new(&options, &kept->tables[table], NULL), DOPPEL_OK);
    for (size_t i = 0; i < PICTURES; i++)
        keep_print(kept, i, scheme);
    for (uint64_t id = 7; id < PICTURES; id += 29) { /* some are gone */
        uint64_t payloads[DOPPEL_VIEW_COUNT];
        const struct doppel_fingerprint *print = &kept->prints[id - 1];
        for (uint32_t i = 0; i < print->count; i++)
            payloads[i] = doppel_image_table_payload(print, id, i);
        for (int table = 0; table < DOPPEL_IMAGE_TABLES; table++)
            if (kept->tables[table])
                assert_int_equal(
                    doppel_index_remove(kept->tables[table], payloads, print->count, NULL),
                    DOPPEL_OK);
    }
    return kept;
}

static void drop_images(struct kept_images *kept)
{
    for (int table = 0; table < DOPPEL_IMAGE_TABLES; table++)
        doppel_index_free(kept->tables[table]);
    for (size_t i = 0; i < PICTURES; i++)
        doppel_fingerprint_free(&kept->prints[i]);
    free(kept);
}

/* ---- answers, by both ways ---- */

struct found_images {
    struct doppel_found found[PICTURES]; /* id - 1; query: 1 where it is there */
    size_t count;
};

static enum doppel_status give_print(void *context, uint64_t id, struct doppel_fingerprint *out,
                                     uint8_t *out_quality, struct doppel_error *error)
{
    const struct kept_images *kept = context;
    (void)error;
    if (!out)
        return DOPPEL_OK;
    *out = copy_fingerprint(&kept->prints[id - 1]);
    *out_quality = kept->quality[id - 1];
    return DOPPEL_OK;
}

static bool note_found(void *context, const struct doppel_found *found)
{
    struct found_images *all = context;
    all->found[found->id - 1] = *found;
    all->found[found->id - 1].query = 1;
    all->count++;
    return true;
}

struct judging {
    const struct kept_images *kept;
    const struct doppel_match_item *query;
    const struct doppel_match_options *options;
    struct found_images *all;
    size_t candidates;
    uint64_t last;
};

static bool judge_id(void *context, uint64_t id)
{
    struct judging *judging = context;
    const struct kept_images *kept = judging->kept;
    const struct doppel_match_item item = {&kept->prints[id - 1], kept->quality[id - 1]};
    struct doppel_found one = {.id = id};
    judging->candidates++;
    if (!judging->all->found[id - 1].query &&
        doppel_image_judge_candidate(judging->query, &item, judging->options, &one))
        note_found(judging->all, &one);
    return true;
}

static bool judge_looked(void *context, uint64_t id)
{
    struct judging *judging = context;
    assert_true(id > judging->last); /* each once, ascending */
    assert_int_not_equal(id % 29, 7);
    judging->last = id;
    return judge_id(context, id);
}

static bool judge_hit(void *context, const struct doppel_index_hit *hit)
{
    const struct judging *judging = context;
    return judge_id(context,
                    doppel_image_table_id(judging->query->fingerprint->scheme, hit->payload));
}

/* As a client of nodes does. */
static void find_by_candidates(const struct kept_images *kept,
                               const struct doppel_image_request *request, struct judging *judging)
{
    uint64_t codes[DOPPEL_IMAGE_TABLE_WORDS];
    struct doppel_index_request sought = {.queries = codes};
    if (request->query->fingerprint->scheme == DOPPEL_SCHEME_PHASH64)
        assert_int_equal(doppel_images_look(request, judge_looked, judging, NULL), DOPPEL_OK);
    sought.count = doppel_image_lookups(request->query, request->options, codes, &sought.radius);
    if (sought.count)
        assert_int_equal(doppel_index_search(kept->tables[0], &sought, judge_hit, judging, NULL),
                         DOPPEL_OK);
    sought.count =
        doppel_image_full_lookup(request->query, request->options, codes, &sought.radius);
    if (sought.count)
        assert_int_equal(doppel_index_search(kept->tables[1], &sought, judge_hit, judging, NULL),
                         DOPPEL_OK);
}

static void assert_same_match(const struct doppel_found *a, const struct doppel_found *b)
{
    assert_int_equal(a->query, b->query);
    assert_int_equal(a->borderline, b->borderline);
    assert_int_equal(a->match.distance, b->match.distance);
    assert_int_equal(a->match.relation, b->match.relation);
    assert_true(a->match.similarity == b->match.similarity);
    assert_true(a->match.false_positive_rate == b->match.false_positive_rate);
    assert_int_equal(a->match.transform.rotated, b->match.transform.rotated);
    assert_int_equal(a->match.transform.mirrored, b->match.transform.mirrored);
}

/* @return how many match */
static size_t compare_both(struct kept_images *kept, const struct doppel_match_item *query,
                           const struct doppel_match_options *options)
{
    struct found_images *found = calloc(2, sizeof *found);
    struct judging judging = {kept, query, options, &found[1], 0, 0};
    const struct doppel_image_request request = {
        .query = query,
        .options = options,
        .tables = {kept->tables[0], kept->tables[1]},
        .source = give_print,
        .context = kept,
    };
    assert_int_equal(doppel_images_find(&request, note_found, &found[0], NULL), DOPPEL_OK);
    find_by_candidates(kept, &request, &judging);
    const size_t count = found[0].count;
    assert_int_equal(count, found[1].count);
    assert_true(judging.candidates >= count);
    for (size_t i = 0; i < PICTURES; i++)
        assert_same_match(&found[0].found[i], &found[1].found[i]);
    free(found);
    return count;
}

static void test_judged_candidates_are_what_is_found(void **state)
{
    static const struct doppel_match_options table[] = {
        {{DOPPEL_VIEWS_ALL, true}, -1, -1, false, 0, 0},
        {{DOPPEL_VIEWS_ALL, true}, -1, -1, true, 0, 0},
        {{DOPPEL_VIEWS_TRIM, true}, -1, -1, false, 0, 0},
        {{DOPPEL_VIEWS_FULL, false}, -1, -1, false, 0, 0},
        {{DOPPEL_VIEWS_ALL, false}, 6, -1, false, 0, 0},
        {{DOPPEL_VIEWS_ALL, true}, -1, .7, false, 0, 0},
        {{DOPPEL_VIEWS_ALL, true}, 0, -1, false, 0, 0},
    };
    (void)state;
    for (int scheme = DOPPEL_SCHEME_PHASH64; scheme <= DOPPEL_SCHEME_PDQ; scheme++) {
        struct kept_images *kept = keep_images((enum doppel_scheme_id)scheme);
        size_t found = 0;
        for (size_t i = 0; i < PICTURES; i += 7) {
            const struct doppel_match_item query = {&kept->prints[i], kept->quality[i]};
            found += compare_both(kept, &query, &table[i / 7 % (sizeof table / sizeof *table)]);
        }
        assert_true(found > PICTURES / 7);
        drop_images(kept);
    }
}

static bool end_look(void *context, uint64_t id)
{
    (void)id;
    ++*(int *)context;
    return false;
}

static void test_what_is_not_looked_for(void **state)
{
    struct doppel_match_options options = doppel_match_options_default();
    struct kept_images *kept = keep_images(DOPPEL_SCHEME_PHASH64);
    struct doppel_fingerprint pdq = make_fingerprint(DOPPEL_SCHEME_PDQ, 1, &kept->state);
    struct doppel_match_item item = {&kept->prints[1], 39};
    struct doppel_image_request request = {
        .query = &item, .options = &options, .tables = {kept->tables[0]}};
    uint64_t codes[DOPPEL_IMAGE_TABLE_WORDS];
    uint32_t radius;
    int visits = 0;
    (void)state;
    assert_int_equal(doppel_images_look(&request, end_look, &visits, NULL), DOPPEL_OK);
    assert_int_equal(visits, 0); /* too flat */
    assert_int_equal(doppel_image_full_lookup(&item, &options, codes, &radius), 1);
    assert_int_equal(radius, DOPPEL_IMAGE_STRICT_RADIUS); /* but as a whole */
    item.quality = DOPPEL_IMAGE_STRICT_QUALITY - 1;
    assert_int_equal(doppel_image_full_lookup(&item, &options, codes, &radius), 0);
    item.quality = 40;
    assert_int_equal(doppel_images_look(&request, end_look, &visits, NULL), DOPPEL_E_CANCELLED);
    assert_int_equal(visits, 1);
    assert_int_equal(doppel_image_lookups(&item, &options, codes, &radius), 0);
    assert_int_equal(doppel_image_full_lookup(&item, &options, codes, &radius), 1);
    options.max_distance = 3;
    item.fingerprint = &pdq;
    assert_int_equal(doppel_images_look(&request, end_look, &visits, NULL), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_image_lookups(&item, &options, codes, &radius), 1);
    assert_int_equal(radius, 3);
    doppel_fingerprint_free(&pdq);
    drop_images(kept);
}

/* ---- questions as bytes ---- */

static size_t pack_some(uint64_t *state, bool bare, uint8_t out[DOPPEL_IMAGE_QUESTION_BYTES])
{
    struct doppel_match_options options = doppel_match_options_default();
    struct doppel_fingerprint print = make_fingerprint(
        DOPPEL_SCHEME_PHASH64, (unsigned)random_word(state) % (1u << DOPPEL_VIEW_COUNT), state);
    if (bare)
        make_bare(&print);
    options.image.views = (enum doppel_image_views)(random_word(state) % 3);
    options.image.orientations = random_word(state) % 2;
    options.check_pixels = random_word(state) % 2;
    options.max_distance = (int32_t)(random_word(state) % 20) - 1;
    options.min_similarity = random_word(state) % 2 ? -1 : .125;
    options.max_rate = random_word(state) % 2 ? 0 : 1e-2;
    options.compared = random_word(state) % 2 ? 0 : random_word(state) % (1u << 30);
    const size_t size = doppel_image_question_pack(&print, &options, out);
    struct doppel_fingerprint read;
    struct doppel_match_options read_options;
    assert_int_equal(doppel_image_question_unpack(out, size, &read, &read_options, NULL),
                     DOPPEL_OK);
    assert_int_equal(read_options.image.views, options.image.views);
    assert_int_equal(read_options.image.orientations, options.image.orientations);
    assert_int_equal(read_options.check_pixels, options.check_pixels);
    assert_true(doppel_match_pair_rate(&read_options) == doppel_match_pair_rate(&options));
    assert_true(doppel_match_check_rate(&read_options) == doppel_match_check_rate(&options));
    assert_int_equal(read_options.max_distance, options.max_distance);
    assert_true(read_options.min_similarity == options.min_similarity);
    assert_int_equal(read.count, print.count);
    assert_int_equal(read.code_bits, print.code_bits);
    assert_memory_equal(read.codes, print.codes, print.count * sizeof *print.codes);
    assert_memory_equal(read.positions, print.positions, print.count * sizeof *print.positions);
    doppel_fingerprint_free(&read);
    doppel_fingerprint_free(&print);
    return size;
}

/* @return whether it was taken: then it is what somebody would write */
static bool unpack_again(const uint8_t *bytes, size_t size)
{
    struct doppel_fingerprint read;
    struct doppel_match_options options;
    uint8_t again[DOPPEL_IMAGE_QUESTION_BYTES];
    const enum doppel_status status =
        doppel_image_question_unpack(bytes, size, &read, &options, NULL);
    if (status) {
        assert_int_equal(status, DOPPEL_E_CORRUPT);
        return false;
    }
    assert_int_equal(doppel_image_question_pack(&read, &options, again), size);
    assert_memory_equal(again, bytes, size);
    doppel_fingerprint_free(&read);
    return true;
}

static void test_questions_of_any_bytes(void **state)
{
    uint64_t random = 5;
    (void)state;
    for (int round = 0; round < 60; round++) {
        uint8_t bytes[DOPPEL_IMAGE_QUESTION_BYTES + 8] = {0};
        const size_t size = pack_some(&random, round % 2, bytes);
        size_t heads = 24 + 12, taken = 0;
        for (size_t cut = 0; cut <= size + 8; cut++) {
            uint8_t *alone = malloc(cut + 1); /* so that nothing is read behind it */
            memcpy(alone, bytes, cut);
            assert_int_equal(unpack_again(alone, cut), cut == size);
            free(alone);
        }
        for (size_t bit = 0; bit < 8 * heads; bit++) {
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            taken += unpack_again(bytes, size);
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        assert_true(taken < 160); /* other options, and no other form */
        for (int i = 0; i < 200; i++) {
            const size_t at = random_word(&random) % size;
            const uint8_t was = bytes[at];
            bytes[at] = (uint8_t)random_word(&random);
            unpack_again(bytes, size);
            bytes[at] = was;
        }
    }
}

static void test_no_questions(void **state)
{
    const struct doppel_match_options options = doppel_match_options_default();
    uint8_t out[DOPPEL_IMAGE_QUESTION_BYTES];
    uint64_t random = 9;
    struct doppel_fingerprint print = make_fingerprint(DOPPEL_SCHEME_PHASH64, 0xfff, &random);
    struct doppel_fingerprint pdq = make_fingerprint(DOPPEL_SCHEME_PDQ, 1, &random);
    (void)state;
    assert_int_equal(doppel_image_question_pack(&print, &options, out), sizeof out);
    assert_int_equal(doppel_image_question_pack(&pdq, &options, out), 0);
    print.positions[4] = 3;
    assert_int_equal(doppel_image_question_pack(&print, &options, out), 0);
    print.positions[4] = 4;
    print.positions[11] = 12;
    assert_int_equal(doppel_image_question_pack(&print, &options, out), 0);
    print.positions[11] = 11;
    print.count = 0;
    assert_int_equal(doppel_image_question_pack(&print, &options, out), 0);
    print.version++;
    print.count = 3;
    assert_int_equal(doppel_image_question_pack(&print, &options, out), 0);
    doppel_fingerprint_free(&print);
    doppel_fingerprint_free(&pdq);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_judged_candidates_are_what_is_found),
        cmocka_unit_test(test_what_is_not_looked_for),
        cmocka_unit_test(test_questions_of_any_bytes),
        cmocka_unit_test(test_no_questions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
