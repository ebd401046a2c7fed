/* Sources, groups, canonical members, the log, and requests: each alone. */
#include "tests/library/fixture.h"

#include <stdio.h>

#include <doppel/library_requests.h>

#include "library/sums.h"

static uint64_t add_number(struct doppel_library *library, uint64_t number)
{
    const struct doppel_file_stamp stamp = {.inode = number, .size = (int64_t)number * 100};
    struct doppel_record record = record_make(number);
    struct doppel_error error = {0};
    enum doppel_added added;
    uint64_t id = 0;
    char path[32];
    snprintf(path, sizeof path, "/files/%llu", (unsigned long long)number);
    if (doppel_library_add(library, path, &stamp, &record, &added, &id, &error))
        fail_msg("%s", error.message);
    doppel_record_free(&record);
    return id;
}

static struct doppel_library *library_of(const char *folder, uint64_t items)
{
    struct doppel_library *library = open_library(folder);
    for (uint64_t number = 1; number <= items; number++)
        assert_int_equal(add_number(library, number), number);
    return library;
}

static int64_t authority(struct doppel_library *library, const char *source)
{
    int64_t value = -1;
    assert_int_equal(doppel_library_authority(library, source, &value, NULL), DOPPEL_OK);
    return value;
}

static bool append_source(void *context, const char *pattern, int64_t value)
{
    char *text = context;
    size_t at = strlen(text);
    snprintf(text + at, 500 - at, "%s=%lld ", pattern, (long long)value);
    return true;
}

static void test_sources(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_error error;
    char text[500] = "";
    assert_int_equal(authority(library, "pib.gov.in"), 0);
    assert_int_equal(doppel_library_set_source(library, "*.gov.in", 50, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_source(library, "*", -5, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_source(library, "pib.gov.in", 100, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_source(library, "pib.gov.in", 99, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_source(library, "[ab]*.gov.in", 7, NULL), DOPPEL_OK);
    assert_int_equal(authority(library, "pib.gov.in"), 99);
    assert_int_equal(authority(library, "other.gov.in"), 50);
    assert_int_equal(authority(library, "a.gov.in"), 7);
    assert_int_equal(authority(library, "blog"), -5);
    assert_int_equal(authority(library, NULL), 0);
    assert_int_equal(doppel_library_each_source(library, append_source, text, NULL), DOPPEL_OK);
    assert_string_equal(text, "pib.gov.in=99 [ab]*.gov.in=7 *.gov.in=50 *=-5 ");
    assert_int_equal(doppel_library_remove_source(library, "*", NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_remove_source(library, "*", &error), DOPPEL_E_NOT_FOUND);
    assert_int_equal(authority(library, "blog"), 0);
    static const char *const bad[] = {"", "[ab", "[!]", "\xff", "a\nb", "end\\", "[[:alpha:]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        error.message[0] = '\0';
        assert_int_equal(doppel_library_set_source(library, bad[i], 1, &error), DOPPEL_E_ARGUMENT);
        assert_true(error.message[0] != '\0');
    }
    doppel_library_close(library); /* takes it all back */
    library = open_library(*state);
    assert_int_equal(authority(library, "pib.gov.in"), 0);
    doppel_library_close(library);
}

static void test_what_others_say_is_seen_after_a_begin(void **state)
{
    struct doppel_library *one = open_library(*state), *other = open_library(*state);
    const struct doppel_digest a = {{1}}, b = {{2}};
    enum doppel_manual_label word;
    assert_int_equal(authority(other, "s"), 0);
    assert_int_equal(doppel_library_get_label(other, &a, &b, &word, NULL), DOPPEL_OK);
    assert_int_equal(word, DOPPEL_LABEL_NONE);
    assert_false(doppel_library_has_states(other));
    assert_int_equal(doppel_library_set_source(one, "s", 5, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_mark(one, &b, &a, NULL, DOPPEL_LABEL_SAME, NULL, NULL),
                     DOPPEL_OK);
    assert_int_equal(doppel_library_set_list(one, "stock", DOPPEL_LIST_BENIGN, NULL), DOPPEL_OK);
    commit(one);
    assert_int_equal(authority(other, "s"), 0);
    assert_int_equal(doppel_library_begin(other, NULL, NULL), DOPPEL_OK);
    assert_int_equal(authority(other, "s"), 5);
    assert_int_equal(doppel_library_get_label(other, &a, &b, &word, NULL), DOPPEL_OK);
    assert_int_equal(word, DOPPEL_LABEL_SAME);
    assert_true(doppel_library_has_states(other));
    doppel_library_close(one);
    doppel_library_close(other);
}

static void test_policy(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_keep_policy policy, kept;
    assert_int_equal(doppel_library_policy(library, &kept, NULL), DOPPEL_OK);
    policy = doppel_keep_policy_default();
    assert_int_equal(kept.count, policy.count);
    assert_int_equal(doppel_keep_policy_parse("date,size", &policy, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_policy(library, &policy, NULL), DOPPEL_OK);
    commit(library);
    doppel_library_close(library);
    library = open_library(*state);
    assert_int_equal(doppel_library_policy(library, &kept, NULL), DOPPEL_OK);
    assert_int_equal(kept.count, 2);
    assert_int_equal(kept.criteria[0], DOPPEL_KEEP_DATE);
    assert_int_equal(kept.criteria[1], DOPPEL_KEEP_SIZE);
    policy.count = 0;
    assert_int_equal(doppel_library_set_policy(library, &policy, NULL), DOPPEL_E_ARGUMENT);
    doppel_library_close(library);
}

/* ---- groups ---- */

static bool append_id(void *context, uint64_t id)
{
    char *text = context;
    size_t at = strlen(text);
    snprintf(text + at, 200 - at, "%llu ", (unsigned long long)id);
    return true;
}

static void assert_group(struct doppel_library *library, uint64_t leader, uint64_t limit,
                         const char *expected)
{
    char text[200] = "";
    assert_int_equal(doppel_library_each_follower(library, leader, limit, append_id, text, NULL),
                     DOPPEL_OK);
    assert_string_equal(text, expected);
}

static uint64_t leader_of(struct doppel_library *library, uint64_t id)
{
    uint64_t leader = 0;
    assert_int_equal(doppel_library_leader(library, id, &leader, NULL), DOPPEL_OK);
    return leader;
}

static uint64_t canonical_of(struct doppel_library *library, uint64_t leader)
{
    uint64_t item = 0;
    assert_int_equal(doppel_library_canonical(library, leader, &item, NULL), DOPPEL_OK);
    return item;
}

static void test_links(void **state)
{
    struct doppel_library *library = library_of(*state, 7);
    assert_int_equal(doppel_library_link(library, 2, 1, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_link(library, 5, 1, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_link(library, 4, 3, NULL), DOPPEL_OK);
    assert_int_equal(leader_of(library, 5), 1);
    assert_int_equal(leader_of(library, 1), 1);
    assert_group(library, 1, 0, "1 2 5 ");
    assert_group(library, 1, 2, "1 2 ");
    assert_group(library, 6, 0, "6 ");
    commit(library);
    assert_int_equal(doppel_library_link(library, 1, 1, NULL), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_library_link(library, 6, 2, NULL), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_library_link(library, 6, 99, NULL), DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_library_link(library, 3, 1, NULL), DOPPEL_OK); /* takes 4 along */
    assert_group(library, 1, 0, "1 2 3 4 5 ");
    assert_int_equal(doppel_library_set_canonical(library, 1, 4, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_remove(library, 1, NULL), DOPPEL_OK);
    assert_group(library, 2, 0, "2 3 4 5 ");
    assert_int_equal(leader_of(library, 2), 2);
    assert_int_equal(canonical_of(library, 2), 4);
    assert_int_equal(doppel_library_unlink(library, 4, NULL), DOPPEL_OK);
    assert_int_equal(canonical_of(library, 2), 2);
    assert_int_equal(doppel_library_set_canonical(library, 2, 4, NULL), DOPPEL_E_ARGUMENT);
    doppel_library_close(library);
}

static void test_choosing(void **state)
{
    struct doppel_library *library = library_of(*state, 3);
    struct doppel_candidate candidate;
    struct doppel_metadata about = {.source = (char *)"good"};
    uint64_t replaced = 9;
    enum doppel_keep by;
    char *name;
    assert_int_equal(doppel_library_link(library, 2, 1, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_link(library, 3, 1, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_candidate(library, 2, &candidate, &name, NULL), DOPPEL_OK);
    assert_string_equal(candidate.path, "/files/2");
    assert_int_equal(candidate.size, 200);
    assert_int_equal(candidate.width, 3);
    assert_int_equal(
        doppel_library_choose_canonical(library, 1, 2, &candidate, &replaced, &by, NULL),
        DOPPEL_OK);
    assert_int_equal(replaced, 1);
    assert_int_equal(by, DOPPEL_KEEP_RESOLUTION);
    assert_int_equal(canonical_of(library, 1), 2);
    free(name);
    assert_int_equal(doppel_library_candidate(library, 1, &candidate, &name, NULL), DOPPEL_OK);
    assert_int_equal(
        doppel_library_choose_canonical(library, 1, 1, &candidate, &replaced, &by, NULL),
        DOPPEL_OK);
    assert_int_equal(replaced, 0);
    free(name);
    assert_int_equal(doppel_library_set_source(library, "good", 1, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_metadata(library, 1, &about, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_candidate(library, 1, &candidate, &name, NULL), DOPPEL_OK);
    assert_int_equal(candidate.authority, 1);
    assert_int_equal(
        doppel_library_choose_canonical(library, 1, 1, &candidate, &replaced, &by, NULL),
        DOPPEL_OK);
    assert_int_equal(replaced, 2);
    assert_int_equal(by, DOPPEL_KEEP_AUTHORITY);
    assert_int_equal(canonical_of(library, 1), 1);
    free(name);
    assert_int_equal(doppel_library_candidate(library, 77, &candidate, &name, NULL),
                     DOPPEL_E_NOT_FOUND);
    doppel_library_close(library);
}

/* ---- log ---- */

static bool append_entry(void *context, const struct doppel_log_entry *entry,
                         const struct doppel_error *error)
{
    char *text = context;
    size_t at = strlen(text);
    assert_int_equal(error->status, DOPPEL_OK);
    snprintf(text + at, 500 - at, "%llu:%s ", (unsigned long long)entry->entry,
             doppel_log_action_name(entry->action));
    return true;
}

static void assert_log(struct doppel_library *library, struct doppel_log_query query,
                       const char *expected)
{
    char text[500] = "";
    assert_int_equal(doppel_library_each_log(library, &query, append_entry, text, NULL), DOPPEL_OK);
    assert_string_equal(text, expected);
}

static bool keep_time(void *context, const struct doppel_log_entry *entry,
                      const struct doppel_error *error)
{
    (void)error;
    *(int64_t *)context = entry->time_ns;
    return true;
}

static bool append_kept(void *context, const struct doppel_kept_mark *mark)
{
    char *text = context;
    size_t at = strlen(text);
    assert_true(mark->time_ns > 0);
    snprintf(text + at, 100 - at, "%d of %d ", (int)mark->item, (int)mark->leader);
    return true;
}

static void assert_kept_marks(struct doppel_library *library, const char *expected)
{
    char text[100] = "";
    assert_int_equal(doppel_library_each_kept_mark(library, append_kept, text, NULL), DOPPEL_OK);
    assert_string_equal(text, expected);
}

static bool end_at_once(void *context, const struct doppel_kept_mark *mark)
{
    (void)context;
    (void)mark;
    return false;
}

static void test_kept_marks(void **state)
{
    struct doppel_library *library = library_of(*state, 6);
    assert_kept_marks(library, "");
    assert_int_equal(doppel_library_link(library, 2, 1, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_link(library, 3, 1, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_link(library, 5, 4, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_canonical(library, 4, 5, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_canonical(library, 1, 2, NULL), DOPPEL_OK);
    assert_kept_marks(library, "5 of 4 2 of 1 ");
    assert_int_equal(doppel_library_each_kept_mark(library, end_at_once, NULL, NULL),
                     DOPPEL_E_CANCELLED);
    assert_int_equal(doppel_library_set_canonical(library, 1, 1, NULL), DOPPEL_OK);
    assert_kept_marks(library, "5 of 4 1 of 1 ");
    assert_int_equal(doppel_library_supersede(library, 4, 4, "newer", NULL), DOPPEL_OK);
    assert_kept_marks(library, "1 of 1 "); /* not a policy's */
    assert_int_equal(doppel_library_set_canonical(library, 1, 0, NULL), DOPPEL_OK);
    assert_kept_marks(library, "");
    doppel_library_close(library);
}

static bool is_to_end(void *context)
{
    (void)context;
    return true;
}

/* Nothing but time depends on it. */
static void test_read_in(void **state)
{
    struct doppel_library *library = library_of(*state, 6);
    commit(library);
    assert_int_equal(doppel_library_read_in(library, NULL), DOPPEL_OK);
    doppel_library_set_cancel(library, is_to_end, NULL);
    assert_int_equal(doppel_library_read_in(library, NULL), DOPPEL_OK);
    assert_int_equal(leader_of(library, 6), 6);
    doppel_library_close(library);
}

static void test_log_queries(void **state)
{
    struct doppel_library *library = library_of(*state, 3);
    assert_int_equal(doppel_library_link(library, 2, 1, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_canonical(library, 1, 2, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_remove(library, 3, NULL), DOPPEL_OK);
    commit(library);
    assert_log(library, (struct doppel_log_query){0},
               "1:added 2:added 3:added 4:canonical 5:removed ");
    assert_log(library, (struct doppel_log_query){.item = 1}, "1:added 4:canonical ");
    assert_log(library, (struct doppel_log_query){.item = 2}, "2:added 4:canonical ");
    assert_log(library, (struct doppel_log_query){.item = 3, .newest_first = true},
               "5:removed 3:added ");
    assert_log(library, (struct doppel_log_query){.limit = 2, .newest_first = true},
               "5:removed 4:canonical ");
    assert_log(library, (struct doppel_log_query){.first = 2, .last = 3}, "2:added 3:added ");
    int64_t time = 0;
    const struct doppel_log_query fourth = {.first = 4, .last = 4};
    assert_int_equal(doppel_library_each_log(library, &fourth, keep_time, &time, NULL), DOPPEL_OK);
    assert_log(library, (struct doppel_log_query){.since_ns = time}, "4:canonical 5:removed ");
    assert_log(library, (struct doppel_log_query){.until_ns = time - 1, .limit = 2},
               "1:added 2:added ");
    doppel_library_close(library);
}

static bool compare_entry(void *context, const struct doppel_log_entry *entry,
                          const struct doppel_error *error)
{
    const struct doppel_log_entry *expected = context;
    assert_int_equal(error->status, DOPPEL_OK);
    assert_int_equal(entry->action, expected->action);
    assert_int_equal(entry->item, expected->item);
    assert_string_equal(entry->name, expected->name);
    assert_string_equal(entry->source, expected->source);
    assert_string_equal(entry->reason, expected->reason);
    assert_string_equal(entry->detail, expected->detail);
    assert_true(entry->decided);
    assert_int_equal(entry->decision, expected->decision);
    assert_int_equal(entry->of, expected->of);
    assert_int_equal(entry->former, expected->former);
    assert_true(entry->has_match);
    assert_int_equal(entry->scheme, expected->scheme);
    assert_int_equal(entry->version, expected->version);
    assert_int_equal(entry->distance, expected->distance);
    assert_int_equal(entry->bits, expected->bits);
    assert_true(entry->similarity == expected->similarity);
    assert_true(entry->limit == expected->limit);
    assert_int_equal(entry->limit_kind, expected->limit_kind);
    assert_true(entry->false_positive_rate == expected->false_positive_rate);
    return true;
}

static void test_a_decision_is_kept_whole(void **state)
{
    struct doppel_log_entry entry = {
        .action = DOPPEL_LOG_DECIDED,
        .item = 9,
        .name = "/a\xff/b",
        .source = "s\xfe",
        .decided = true,
        .decision = DOPPEL_DECISION_DUPLICATE,
        .of = 4,
        .former = 4,
        .reason = "near",
        .has_match = true,
        .scheme = DOPPEL_SCHEME_PHASH64,
        .version = 3,
        .distance = 0,
        .bits = 64,
        .similarity = 0.5,
        .limit = 10,
        .limit_kind = DOPPEL_LIMIT_DISTANCE,
        .false_positive_rate = 1e-9,
        .detail = "{\"relation\":\"same\"}",
    };
    struct doppel_library *library = open_library(*state);
    const struct doppel_log_query all = {0};
    assert_int_equal(doppel_library_log(library, &entry, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_each_log(library, &all, compare_entry, &entry, NULL),
                     DOPPEL_OK);
    commit(library);
    doppel_library_close(library);
}

/* ---- requests ---- */

static enum doppel_status begin_request(struct doppel_library *library, uint8_t body)
{
    const struct doppel_library_request request = {
        .client = "", .key = "a", .body = {.bytes = {body}}};
    uint64_t id = 0;
    enum doppel_status status = doppel_library_begin_request(library, &request, &id, NULL);
    commit(library);
    return status;
}

static void test_the_key_of_an_old_request_is_free(void **state)
{
    struct doppel_library *library = open_library(*state);
    assert_int_equal(begin_request(library, 1), DOPPEL_OK);
    assert_int_equal(begin_request(library, 1), DOPPEL_OK);
    assert_int_equal(begin_request(library, 2), DOPPEL_E_ARGUMENT);
    doppel_library_close(library);
    run_raw(folder_path(*state, "a/library/catalogue.db"),
            "UPDATE request SET time_ns = time_ns - 86401000000000;"
            "UPDATE request SET checksum = " CHECKSUM_OF(REQUEST_SUM));
    library = open_library(*state);
    assert_int_equal(begin_request(library, 2), DOPPEL_OK);
    assert_int_equal(begin_request(library, 1), DOPPEL_E_ARGUMENT);
    doppel_library_close(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_sources),
        IN_FOLDER(test_what_others_say_is_seen_after_a_begin),
        IN_FOLDER(test_policy),
        IN_FOLDER(test_links),
        IN_FOLDER(test_choosing),
        IN_FOLDER(test_kept_marks),
        IN_FOLDER(test_read_in),
        IN_FOLDER(test_log_queries),
        IN_FOLDER(test_a_decision_is_kept_whole),
        IN_FOLDER(test_the_key_of_an_old_request_is_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
