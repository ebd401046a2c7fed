/* Candidates that a node gives of the pictures in its shards: those of the same codes in one index,
 * and, judged, what doppel_images_find gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster/answers.h"
#include "match/images.h"

enum { SHARDS = 5, FIRST_SHARD = 900, PICTURES = 700, QUESTIONS = 40, CROPS_OF_ALL = 0xff9 };

struct pictures {
    struct doppel_fingerprint prints[PICTURES]; /* id - 1 */
    bool gone[PICTURES];
    uint64_t random;
    struct doppel_index *index; /* of the same codes, here */
    struct node *node;
    struct node_member *members[SHARDS];
};

static size_t shard_of_picture(uint64_t id)
{
    return (size_t)(id * 7 % SHARDS);
}

/* ---- pictures ---- */

static struct doppel_fingerprint print_of(struct pictures *all, size_t number)
{
    if (number < 20 || random_word(&all->random) % 3 == 0)
        return make_fingerprint(DOPPEL_SCHEME_PHASH64, number % 4 ? CROPS_OF_ALL : 7, &all->random);
    struct doppel_fingerprint print =
        copy_fingerprint(&all->prints[random_word(&all->random) % number]);
    disturb(&print, 4 + (unsigned)(random_word(&all->random) % 20), &all->random);
    turn(&print, (unsigned)(random_word(&all->random) % DOPPEL_IMAGE_ORIENTATIONS));
    return print;
}

static size_t payloads_of(const struct pictures *all, uint64_t id, uint64_t *payloads)
{
    const struct doppel_fingerprint *print = &all->prints[id - 1];
    for (uint32_t i = 0; i < print->count; i++)
        payloads[i] = doppel_image_table_payload(print, id, i);
    return print->count;
}

static void add_picture(struct pictures *all, uint64_t id)
{
    uint64_t codes[DOPPEL_IMAGE_TABLE_WORDS], payloads[DOPPEL_VIEW_COUNT];
    const struct doppel_match_item item = {&all->prints[id - 1], 100};
    const size_t count = payloads_of(all, id, payloads);
    assert_int_equal(doppel_image_table_codes(DOPPEL_IMAGE_TABLE_CODES, &item, codes), count);
    assert_int_equal(doppel_index_insert(all->index, codes, payloads, count, NULL), DOPPEL_OK);
    assert_int_equal(node_add(all->members[shard_of_picture(id)], codes, payloads, count, NULL),
                     DOPPEL_OK);
}

static void remove_picture(struct pictures *all, uint64_t id)
{
    uint64_t payloads[DOPPEL_VIEW_COUNT];
    const size_t count = payloads_of(all, id, payloads);
    all->gone[id - 1] = true;
    assert_int_equal(doppel_index_remove(all->index, payloads, count, NULL), DOPPEL_OK);
    assert_int_equal(node_remove(all->members[shard_of_picture(id)], payloads, count, NULL),
                     DOPPEL_OK);
}

static struct node_family_options look_options(void)
{
    struct node_family_options options = {.name = "pictures", .low = 17};
    assert_true(doppel_image_table_options(DOPPEL_SCHEME_PHASH64, DOPPEL_IMAGE_TABLE_CODES,
                                           &options.index));
    return options;
}

static void join_all(struct pictures *all)
{
    const struct node_family_options options = look_options();
    for (uint32_t i = 0; i < SHARDS; i++)
        assert_int_equal(node_join(all->node, &options, FIRST_SHARD + i, &all->members[i], NULL),
                         DOPPEL_OK);
}

static struct pictures *make_pictures(void)
{
    struct pictures *all = calloc(1, sizeof *all);
    const struct node_family_options options = look_options();
    all->random = 77;
    assert_int_equal(node_new(2, &all->node, NULL), DOPPEL_OK);
    assert_int_equal(doppel_index_new(&options.index, &all->index, NULL), DOPPEL_OK);
    join_all(all);
    for (uint64_t id = 1; id <= PICTURES; id++) {
        all->prints[id - 1] = print_of(all, id - 1);
        add_picture(all, id);
    }
    for (uint64_t id = 3; id <= PICTURES; id += 17)
        remove_picture(all, id);
    return all;
}

static void drop_pictures(struct pictures *all)
{
    for (size_t i = 0; i < SHARDS; i++)
        node_leave(all->members[i], NULL, 0);
    node_free(all->node);
    doppel_index_free(all->index);
    for (size_t i = 0; i < PICTURES; i++)
        doppel_fingerprint_free(&all->prints[i]);
    free(all);
}

/* All of a shard goes, here and there. */
static void leave_with_pictures(struct pictures *all, size_t member)
{
    uint64_t *payloads = calloc(PICTURES * DOPPEL_VIEW_COUNT, sizeof *payloads);
    size_t count = 0;
    for (uint64_t id = 1; id <= PICTURES; id++) {
        if (shard_of_picture(id) != member || all->gone[id - 1])
            continue;
        all->gone[id - 1] = true;
        count += payloads_of(all, id, payloads + count);
    }
    assert_int_equal(doppel_index_remove(all->index, payloads, count, NULL), DOPPEL_OK);
    node_leave(all->members[member], payloads, count);
    free(payloads);
}

/* ---- answers ---- */

/* Questions as a client sends them. */
static struct node_question *ask_about(const struct pictures *all, uint64_t first, uint64_t step)
{
    static const struct doppel_match_options table[] = {
        {{DOPPEL_VIEWS_ALL, true}, -1, -1, false, 0, 0},
        {{DOPPEL_VIEWS_TRIM, true}, -1, -1, true, 0, 0},
        {{DOPPEL_VIEWS_ALL, false}, 9, -1, false, 0, 0},
        {{DOPPEL_VIEWS_ALL, true}, -1, .7, false, 0, 0},
    };
    struct node_question *questions = calloc(QUESTIONS, sizeof *questions);
    for (size_t i = 0; i < QUESTIONS; i++) {
        uint8_t bytes[DOPPEL_IMAGE_QUESTION_BYTES];
        const size_t size = doppel_image_question_pack(&all->prints[(first + step * i) % PICTURES],
                                                       &table[i % 4], bytes);
        assert_int_equal(doppel_image_question_unpack(bytes, size, &questions[i].print,
                                                      &questions[i].options, NULL),
                         DOPPEL_OK);
    }
    return questions;
}

struct expected {
    const struct pictures *all;
    const struct node_search *search;
    int64_t shard; /* < 0: of all */
    uint32_t query;
    size_t at;
};

static bool expect_candidate(void *context, uint64_t id)
{
    struct expected *expected = context;
    const uint32_t shard = FIRST_SHARD + (uint32_t)shard_of_picture(id);
    if (expected->shard >= 0 && expected->shard != shard)
        return true;
    assert_true(expected->at < expected->search->hit_count);
    const struct doppel_index_hit *hit = &expected->search->hits[expected->at++];
    assert_int_equal(hit->query, expected->query);
    assert_int_equal(node_hit_payload(hit), id);
    assert_int_equal(node_hit_shard(hit), shard);
    assert_false(expected->all->gone[id - 1]);
    return true;
}

/* @return candidates */
static size_t compare_candidates(struct pictures *all, size_t member, bool node, uint64_t first)
{
    struct answer answer = {
        .search = {.questions = ask_about(all, first, 13), .count = QUESTIONS, .all = node}};
    struct node_question *again = ask_about(all, first, 13);
    struct expected expected = {
        .all = all, .search = &answer.search, .shard = node ? -1 : FIRST_SHARD + (int64_t)member};
    begin_answer(&answer, all->members[member]);
    wait_for_answer(&answer);
    assert_int_equal(answer.search.status, DOPPEL_OK);
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        const struct doppel_match_item item = {&again[i].print, 100};
        const struct doppel_image_request request = {
            .query = &item, .options = &again[i].options, .tables = {all->index}};
        expected.query = i;
        assert_int_equal(doppel_images_look(&request, expect_candidate, &expected, NULL),
                         DOPPEL_OK);
    }
    assert_int_equal(expected.at, answer.search.hit_count);
    node_questions_free(again, QUESTIONS);
    free(answer.search.hits);
    return expected.at;
}

static void test_candidates_are_those_of_one_index(void **state)
{
    struct pictures *all = make_pictures();
    size_t found = 0, found_alone = 0;
    (void)state;
    for (size_t member = 0; member < SHARDS; member++) {
        found += compare_candidates(all, member, true, member);
        found_alone += compare_candidates(all, member, false, member);
    }
    assert_true(found > 4 * QUESTIONS && found_alone > 0 && found_alone < found);
    leave_with_pictures(all, 1);
    all->members[1] = NULL;
    assert_true(compare_candidates(all, 0, true, 5) > 0);
    const struct node_family_options options = look_options();
    assert_int_equal(node_join(all->node, &options, FIRST_SHARD + 1, &all->members[1], NULL),
                     DOPPEL_OK);
    for (uint64_t id = 1; id <= PICTURES; id++)
        if (shard_of_picture(id) == 1 && id % 2) {
            add_picture(all, id);
            all->gone[id - 1] = false;
        }
    assert_true(compare_candidates(all, 1, true, 6) > 0);
    assert_true(compare_candidates(all, 1, false, 7) > 0);
    drop_pictures(all);
}

static void test_what_is_hidden_is_no_candidate(void **state)
{
    struct pictures *all = make_pictures();
    struct node_member *old[SHARDS];
    (void)state;
    node_hide_all(all->node);
    memcpy(old, all->members, sizeof old);
    join_all(all);
    struct answer answer = {
        .search = {.questions = ask_about(all, 0, 1), .count = QUESTIONS, .all = true}};
    begin_answer(&answer, all->members[0]);
    wait_for_answer(&answer);
    assert_int_equal(answer.search.status, DOPPEL_OK);
    assert_int_equal(answer.search.hit_count, 0);
    free(answer.search.hits);
    for (size_t i = 0; i < SHARDS; i++)
        node_leave(old[i], NULL, 0);
    drop_pictures(all);
}

/* ---- judged ---- */

struct judged {
    const struct pictures *all;
    struct doppel_found found[PICTURES]; /* id - 1; query: 1 where it is there */
    size_t count;
};

static enum doppel_status give_print(void *context, uint64_t id, struct doppel_fingerprint *out,
                                     uint8_t *out_quality, struct doppel_error *error)
{
    const struct judged *judged = context;
    (void)error;
    *out = copy_fingerprint(&judged->all->prints[id - 1]);
    *out_quality = 100;
    return DOPPEL_OK;
}

static bool count_judged(void *context, const struct doppel_found *found)
{
    struct judged *judged = context;
    judged->found[found->id - 1] = *found;
    judged->count++;
    return true;
}

/* Options by which full frames are not looked up. */
static void test_judged_candidates_are_what_is_found(void **state)
{
    struct pictures *all = make_pictures();
    struct answer answer = {
        .search = {.questions = ask_about(all, 2, 5), .count = QUESTIONS, .all = true}};
    struct node_question *again = ask_about(all, 2, 5);
    size_t matches = 0;
    (void)state;
    begin_answer(&answer, all->members[0]);
    wait_for_answer(&answer);
    for (uint32_t i = 2; i < QUESTIONS; i += 4) {
        struct judged *judged = calloc(1, sizeof *judged);
        const struct doppel_match_item query = {&again[i].print, 100};
        const struct doppel_image_request request = {.query = &query,
                                                     .options = &again[i].options,
                                                     .tables = {all->index},
                                                     .source = give_print,
                                                     .context = judged};
        judged->all = all;
        assert_int_equal(doppel_images_find(&request, count_judged, judged, NULL), DOPPEL_OK);
        for (size_t h = 0; h < answer.search.hit_count; h++) {
            const uint64_t id = node_hit_payload(&answer.search.hits[h]);
            const struct doppel_match_item item = {&all->prints[id - 1], 100};
            struct doppel_found one = {.id = id};
            if (answer.search.hits[h].query != i ||
                !doppel_image_judge_candidate(&query, &item, &again[i].options, &one))
                continue;
            assert_int_equal(judged->found[id - 1].id, id);
            assert_int_equal(judged->found[id - 1].match.distance, one.match.distance);
            judged->count--;
            matches++;
        }
        assert_int_equal(judged->count, 0);
        free(judged);
    }
    assert_true(matches >= QUESTIONS / 4 - 1);
    node_questions_free(again, QUESTIONS);
    free(answer.search.hits);
    drop_pictures(all);
}

static void test_which_families_are_looked_through(void **state)
{
    struct node_family_options options = look_options();
    (void)state;
    assert_true(node_is_looked_through(&options));
    for (options.low = 0; options.low <= NODE_LOW_MOST; options.low++)
        assert_int_equal(node_is_looked_through(&options), options.low == 17);
    options = look_options();
    options.index.design_radius = 112;
    assert_false(node_is_looked_through(&options));
    options = look_options();
    options.index.bits = 128;
    assert_false(node_is_looked_through(&options));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_candidates_are_those_of_one_index),
        cmocka_unit_test(test_what_is_hidden_is_no_candidate),
        cmocka_unit_test(test_judged_candidates_are_what_is_found),
        cmocka_unit_test(test_which_families_are_looked_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
