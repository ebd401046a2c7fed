/* Matches of items on lists, against an oracle that remembers each of them; what lists say of their
 * items beside what people say; limits; and a list that is made again. */
#include "tests/library/fixture.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <doppel/match.h>

enum { ITEMS = 6, ROUNDS = 300, GUARD = 5 };

static uint64_t random_state = 11;

static uint64_t draw(uint64_t below)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return (z ^ z >> 31) % below;
}

static void list_item(struct doppel_library *library, uint64_t id, const char *list)
{
    char *lists[] = {(char *)list};
    const struct doppel_metadata about = {.lists = lists, .list_count = 1};
    assert_int_equal(doppel_library_set_metadata(library, id, &about, NULL), DOPPEL_OK);
}

static struct doppel_library *library_of_items(const char *folder)
{
    struct doppel_library *library = open_library(folder);
    for (uint64_t i = 1; i <= ITEMS; i++)
        assert_int_equal(add_numbered(library, i, record_make(i), NULL), DOPPEL_OK);
    for (uint64_t i = 1; i < ITEMS; i++)
        list_item(library, i, "blocked");
    commit(library);
    return library;
}

/* ---- counts ---- */

/* Matches by how many hours ago they are; of released ones, those that count no more. */
struct oracle {
    unsigned by_age[ITEMS + 1][200], released[ITEMS + 1], release_age[ITEMS + 1];
    bool reviewed[ITEMS + 1];
};

static unsigned matches_of_day(const struct oracle *oracle, uint64_t id)
{
    unsigned count = 0;
    for (int age = 0; age < 24; age++)
        count += oracle->by_age[id][age];
    return count;
}

static void count_one(struct doppel_library *library, struct oracle *oracle, uint64_t id)
{
    assert_int_equal(doppel_library_count_matches(library, &id, 1, NULL), DOPPEL_OK);
    if (id == ITEMS)
        return; /* is on no list */
    oracle->by_age[id][0]++;
    unsigned off = oracle->release_age[id] < 24 ? oracle->released[id] : 0;
    oracle->reviewed[id] |= matches_of_day(oracle, id) > GUARD + off;
}

static void release_one(struct doppel_library *library, struct oracle *oracle, uint64_t id)
{
    assert_int_equal(doppel_library_release_review(library, id, NULL),
                     oracle->reviewed[id] ? DOPPEL_OK : DOPPEL_E_NOT_FOUND);
    if (!oracle->reviewed[id])
        return;
    oracle->reviewed[id] = false;
    oracle->released[id] = matches_of_day(oracle, id);
    oracle->release_age[id] = 0;
}

static void age_matches(struct oracle *oracle, unsigned hours)
{
    for (int id = 1; id <= ITEMS; id++) {
        memmove(oracle->by_age[id] + hours, oracle->by_age[id],
                (200 - hours) * sizeof oracle->by_age[id][0]);
        memset(oracle->by_age[id], 0, hours * sizeof oracle->by_age[id][0]);
        oracle->release_age[id] += hours;
    }
}

/* The hour may end while the test runs: never within a round. */
static void follow_clock(struct oracle *oracle, time_t *hour)
{
    while (time(NULL) % 3600 > 3595)
        sleep(1);
    const time_t now = time(NULL) / 3600;
    if (*hour && now > *hour)
        age_matches(oracle, (unsigned)(now - *hour));
    *hour = now;
}

/* The rows are as many hours older as hours have gone by. */
static void let_hours_pass(struct doppel_library **library, const char *folder,
                           struct oracle *oracle, unsigned hours)
{
    char sql[500];
    commit(*library);
    doppel_library_close(*library);
    snprintf(sql, sizeof sql,
             "UPDATE list_match SET last_ns = last_ns - %u * 3600000000000;"
             "UPDATE list_match SET hour = hour - %u WHERE hour > 0;"
             "UPDATE list_match SET checksum = row_checksum(item, hour, matches, last_ns)",
             hours, hours);
    run_raw(folder_path(folder, "a/library/catalogue.db"), sql);
    age_matches(oracle, hours);
    *library = open_library(folder);
}

static bool check_list(void *context, const struct doppel_list *list)
{
    const struct oracle *oracle = context;
    unsigned all = 0, day = 0, reviewed = 0;
    for (uint64_t id = 1; id < ITEMS; id++) {
        for (int age = 0; age < 200; age++)
            all += oracle->by_age[id][age];
        day += matches_of_day(oracle, id);
        reviewed += oracle->reviewed[id];
    }
    assert_string_equal(list->name, "blocked");
    assert_int_equal(list->items, ITEMS - 1);
    assert_int_equal(list->rule.flood, GUARD);
    assert_int_equal(list->matches, all);
    assert_int_equal(list->matches_day, day);
    assert_int_equal(list->in_review, reviewed);
    assert_true(!all == !list->last_match_ns);
    return true;
}

static bool check_review(void *context, const struct doppel_review *review)
{
    const struct oracle *oracle = context;
    assert_true(oracle->reviewed[review->item]);
    assert_int_equal(review->matches, matches_of_day(oracle, review->item));
    return true;
}

static void matches_are_counted(void **state)
{
    struct doppel_library *library = library_of_items(*state);
    struct oracle oracle = {0};
    const struct doppel_list_rule rule = {.flood = GUARD};
    assert_int_equal(doppel_library_set_list_rule(library, "blocked", &rule, NULL), DOPPEL_OK);
    unsigned hours = 0, reviews = 0;
    time_t hour = 0;
    for (int round = 0; round < ROUNDS; round++) {
        follow_clock(&oracle, &hour);
        unsigned pass = draw(12) == 0 ? (unsigned)draw(9) + 1 : 0;
        uint64_t id = draw(ITEMS) + 1;
        if (pass && hours + pass < 190) {
            let_hours_pass(&library, *state, &oracle, pass);
            hours += pass;
        } else if (draw(8) == 0) {
            release_one(library, &oracle, id);
        } else {
            count_one(library, &oracle, id);
        }
        bool reviewed;
        assert_int_equal(doppel_library_is_reviewed(library, id, &reviewed, NULL), DOPPEL_OK);
        assert_int_equal(reviewed, oracle.reviewed[id]);
        reviews += reviewed;
        assert_int_equal(doppel_library_each_list(library, check_list, &oracle, NULL), DOPPEL_OK);
        assert_int_equal(doppel_library_each_review(library, check_review, &oracle, NULL),
                         DOPPEL_OK);
    }
    assert_in_range(hours, 48, 200);
    assert_in_range(reviews, 10, ROUNDS);
    doppel_library_close(library);
}

/* ---- limits ---- */

static void limits_are_those_of_the_lists(void **state)
{
    struct doppel_library *library = library_of_items(*state);
    struct doppel_item_limit limit;
    struct doppel_match match = {.bits = 256, .distance = 20, .similarity = 0.85};
    const struct doppel_list_rule near = {.limit_kind = DOPPEL_LIMIT_DISTANCE, .limit = 10},
                                  far = {.limit_kind = DOPPEL_LIMIT_SIMILARITY, .limit = 0.8},
                                  wrong = {.limit_kind = DOPPEL_LIMIT_SIMILARITY, .limit = 2};
    int64_t distance;
    double similarity;
    bool any;
    assert_int_equal(doppel_library_list_limits(library, &distance, &similarity, &any, NULL),
                     DOPPEL_OK);
    assert_false(any);
    assert_int_equal(doppel_library_set_list_rule(library, "blocked", &near, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_list_rule(library, "far", &wrong, NULL), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_library_set_list_rule(library, "far", &far, NULL), DOPPEL_OK);
    list_item(library, 2, "far");
    list_item(library, 3, "plain");
    assert_int_equal(doppel_library_list_limits(library, &distance, &similarity, &any, NULL),
                     DOPPEL_OK);
    assert_true(any && distance == 10 && similarity == 0.8);
    static const struct {
        uint64_t id;
        bool by_default;
        enum doppel_limit_kind kind;
    } cases[] = {{1, false, DOPPEL_LIMIT_NONE},
                 {2, false, DOPPEL_LIMIT_SIMILARITY},
                 {3, true, DOPPEL_LIMIT_NONE},
                 {ITEMS, true, DOPPEL_LIMIT_NONE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(doppel_library_item_limits(library, cases[i].id, &match, &limit, NULL),
                         DOPPEL_OK);
        assert_int_equal(limit.by_default, cases[i].by_default);
        assert_int_equal(limit.rule.limit_kind, cases[i].kind);
    }
    match.distance = 10;
    assert_int_equal(doppel_library_item_limits(library, 1, &match, &limit, NULL), DOPPEL_OK);
    assert_int_equal(limit.rule.limit_kind, DOPPEL_LIMIT_DISTANCE);
    doppel_library_close(library);
}

/* ---- what lists say ---- */

static void say(struct doppel_library *library, const char *list, const char *first,
                const char *second, bool expected)
{
    char *names[] = {(char *)first, (char *)second};
    const struct doppel_list_tags tags = {names, first ? second ? 2 : 1 : 0, true};
    bool changed;
    assert_int_equal(doppel_library_list_says(library, 1, list, &tags, false, &changed, NULL),
                     DOPPEL_OK);
    assert_int_equal(changed, expected);
}

static void assert_labels(struct doppel_library *library, const char *expected)
{
    struct doppel_metadata about;
    char text[200] = "";
    assert_int_equal(doppel_library_get_metadata(library, 1, &about, NULL), DOPPEL_OK);
    for (size_t i = 0; i < about.label_count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s ", about.labels[i]);
    assert_string_equal(text, expected);
    doppel_metadata_free(&about);
}

/* What people and other lists say stays. */
static void tags_go_with_their_list(void **state)
{
    struct doppel_library *library = library_of_items(*state);
    char *labels[] = {"mine"};
    const struct doppel_metadata mine = {.labels = labels, .label_count = 1};
    list_item(library, 1, "other");
    say(library, "blocked", "a", "mine", true);
    assert_labels(library, "a mine ");
    say(library, "blocked", "mine", "a", false);
    assert_int_equal(doppel_library_set_metadata(library, 1, &mine, NULL), DOPPEL_OK);
    say(library, "other", "a", "b", true);
    say(library, "blocked", NULL, NULL, true);
    assert_labels(library, "a b mine ");
    say(library, "other", "b", NULL, true);
    assert_labels(library, "b mine ");
    say(library, "other", NULL, NULL, true);
    assert_labels(library, "mine ");
    doppel_library_close(library);
}

/* A sync of which nothing came takes all off the list; files stay. */
static void what_did_not_come_is_taken_off(void **state)
{
    struct doppel_library *library = library_of_items(*state);
    struct doppel_list_sync *sync;
    struct doppel_sync_counts counts;
    list_item(library, 2, "other");
    commit(library);
    assert_int_equal(doppel_list_sync_begin(library, "", &sync, NULL), DOPPEL_E_ARGUMENT);
    for (int keeps = 0; keeps < 2; keeps++) {
        assert_int_equal(doppel_list_sync_begin(library, "blocked", &sync, NULL), DOPPEL_OK);
        doppel_list_sync_came(sync, 1, false, false);
        doppel_list_sync_came(sync, 3, true, true);
        doppel_list_sync_came(sync, 3, true, true);
        doppel_list_sync_came(sync, 999, true, true);
        assert_int_equal(doppel_list_sync_count(sync, &counts, NULL), DOPPEL_OK);
        assert_int_equal(doppel_list_sync_end(sync, &counts, NULL), DOPPEL_OK);
        doppel_list_sync_free(sync);
        assert_int_equal(counts.before, ITEMS - 1);
        assert_int_equal(counts.after, 2);
        assert_int_equal(counts.removed, ITEMS - 3);
        assert_int_equal(counts.kept, ITEMS - 3);
        assert_int_equal(counts.unchanged, 1);
        assert_int_equal(counts.updated, 1);
        if (!keeps)
            doppel_library_rollback(library);
    }
    commit(library);
    struct doppel_item item;
    assert_int_equal(doppel_library_get(library, 2, false, &item, NULL), DOPPEL_OK);
    doppel_item_free(&item);
    doppel_library_close(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(matches_are_counted),
        IN_FOLDER(limits_are_those_of_the_lists),
        IN_FOLDER(tags_go_with_their_list),
        IN_FOLDER(what_did_not_come_is_taken_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
