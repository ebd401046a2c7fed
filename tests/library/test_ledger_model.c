/* Links, canonical members, lists and words in random order, with commits and what is taken back:
 * the library says what a plain model says; and what is asked for often costs no walk through a
 * table. */
#include "tests/library/fixture.h"

#include <sqlite3.h>
#include <stdio.h>

#include "library/catalogue.h"

enum { ITEMS = 10, LISTS = 3, STEPS = 1500 };

static const char *const list_names[LISTS] = {"a", "b", "c"};

/* Ids are numbers from 1 on. */
struct model {
    bool there[ITEMS + 1];
    uint64_t leader[ITEMS + 1];    /* 0: follows none */
    uint64_t canonical[ITEMS + 1]; /* of a leader; 0: itself */
    bool on[ITEMS + 1][LISTS];
    int state[LISTS]; /* -1: there is no such list */
    int word[ITEMS + 1][ITEMS + 1];
};

static uint64_t seed = 42;

static uint64_t pick(uint64_t count)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (seed >> 33) % count;
}

static struct doppel_digest digest_of(uint64_t id)
{
    return doppel_digest_bytes(&id, sizeof id); /* as record_make */
}

/* ---- what the model says ---- */

static uint64_t leader_of(const struct model *model, uint64_t id)
{
    return model->leader[id] ? model->leader[id] : id;
}

static void step_down(struct model *model, uint64_t id)
{
    uint64_t leader = leader_of(model, id);
    if (model->canonical[leader] == id)
        model->canonical[leader] = 0;
}

static bool model_link(struct model *model, uint64_t item, uint64_t leader)
{
    if (!model->there[item] || !model->there[leader] || item == leader || model->leader[leader])
        return false;
    step_down(model, item);
    for (uint64_t id = 1; id <= ITEMS; id++)
        if (model->leader[id] == item)
            model->leader[id] = leader;
    model->canonical[item] = 0;
    model->leader[item] = leader;
    return true;
}

static void model_unlink(struct model *model, uint64_t item)
{
    step_down(model, item);
    model->leader[item] = 0;
}

static void model_remove(struct model *model, uint64_t item)
{
    uint64_t first = 0, canonical = model->canonical[item];
    model_unlink(model, item);
    for (uint64_t id = ITEMS; id >= 1; id--)
        first = model->leader[id] == item ? id : first;
    for (uint64_t id = 1; id <= ITEMS; id++)
        if (model->leader[id] == item)
            model->leader[id] = id == first ? 0 : first;
    if (first && canonical && canonical != first && canonical != item)
        model->canonical[first] = canonical;
    model->canonical[item] = 0;
    model->there[item] = false;
    memset(model->on[item], 0, sizeof model->on[item]);
}

static int state_of(const struct model *model, uint64_t id)
{
    bool any = false, benign = false, disabled = true;
    for (int list = 0; list < LISTS; list++)
        if (model->on[id][list]) {
            any = true;
            benign |= model->state[list] == DOPPEL_LIST_BENIGN;
            disabled &= model->state[list] == DOPPEL_LIST_DISABLED;
        }
    return benign            ? DOPPEL_LIST_BENIGN
           : any && disabled ? DOPPEL_LIST_DISABLED
                             : DOPPEL_LIST_ACTIVE;
}

/* ---- compared ---- */

struct ids {
    uint64_t items[ITEMS + 1];
    size_t count;
};

static bool take_id(void *context, uint64_t id)
{
    struct ids *ids = context;
    assert_true(ids->count <= ITEMS);
    ids->items[ids->count++] = id;
    return true;
}

static void compare_group(struct doppel_library *library, const struct model *model, uint64_t id)
{
    struct ids ids = {0};
    uint64_t leader = 0, canonical = 0;
    assert_int_equal(doppel_library_leader(library, id, &leader, NULL), DOPPEL_OK);
    assert_int_equal(leader, leader_of(model, id));
    assert_int_equal(doppel_library_canonical(library, leader, &canonical, NULL), DOPPEL_OK);
    assert_int_equal(canonical, model->canonical[leader] ? model->canonical[leader] : leader);
    assert_int_equal(doppel_library_each_follower(library, id, 0, take_id, &ids, NULL), DOPPEL_OK);
    size_t at = 1;
    assert_int_equal(ids.items[0], id);
    for (uint64_t other = 1; other <= ITEMS; other++)
        if (model->there[other] && model->leader[other] == id)
            assert_int_equal(ids.items[at++], other);
    assert_int_equal(ids.count, at);
}

static void compare(struct doppel_library *library, const struct model *model)
{
    for (uint64_t id = 1; id <= ITEMS; id++) {
        enum doppel_list_state state;
        if (!model->there[id])
            continue;
        compare_group(library, model, id);
        assert_int_equal(doppel_library_state_of(library, id, &state, NULL), DOPPEL_OK);
        assert_int_equal(state, state_of(model, id));
        for (uint64_t other = 1; other <= ITEMS; other++) {
            struct doppel_digest a = digest_of(id), b = digest_of(other);
            enum doppel_manual_label word;
            assert_int_equal(doppel_library_get_label(library, &a, &b, &word, NULL), DOPPEL_OK);
            assert_int_equal(word, model->word[id][other]);
        }
    }
}

/* ---- steps ---- */

static void do_link(struct doppel_library *library, struct model *model)
{
    uint64_t item = 1 + pick(ITEMS), leader = 1 + pick(ITEMS);
    enum doppel_status status = doppel_library_link(library, item, leader, NULL);
    if (model_link(model, item, leader))
        assert_int_equal(status, DOPPEL_OK);
    else
        assert_int_not_equal(status, DOPPEL_OK);
}

static void do_group(struct doppel_library *library, struct model *model)
{
    uint64_t item = 1 + pick(ITEMS);
    if (!model->there[item])
        return;
    uint64_t leader = leader_of(model, item);
    if (pick(3) == 0) {
        assert_int_equal(doppel_library_unlink(library, item, NULL), DOPPEL_OK);
        model_unlink(model, item);
    } else {
        assert_int_equal(doppel_library_set_canonical(library, leader, item, NULL), DOPPEL_OK);
        model->canonical[leader] = item == leader ? 0 : item;
    }
}

static void do_list(struct doppel_library *library, struct model *model)
{
    uint64_t item = 1 + pick(ITEMS);
    int list = (int)pick(LISTS), state = (int)pick(3);
    char *names[] = {(char *)list_names[list]};
    const struct doppel_metadata about = {.lists = names, .list_count = 1};
    if (pick(4) == 0) {
        assert_int_equal(
            doppel_library_set_list(library, list_names[list], (enum doppel_list_state)state, NULL),
            DOPPEL_OK);
        model->state[list] = state;
    } else if (pick(10) == 0) {
        assert_int_equal(doppel_library_remove_list(library, list_names[list], NULL),
                         model->state[list] < 0 ? DOPPEL_E_NOT_FOUND : DOPPEL_OK);
        model->state[list] = -1;
        for (uint64_t id = 1; id <= ITEMS; id++)
            model->on[id][list] = false;
    } else if (!model->there[item]) {
        assert_int_equal(doppel_library_set_metadata(library, item, &about, NULL),
                         DOPPEL_E_NOT_FOUND);
    } else if (pick(3) == 0) {
        assert_int_equal(doppel_library_remove_from_list(library, item, list_names[list], NULL),
                         model->on[item][list] ? DOPPEL_OK : DOPPEL_E_NOT_FOUND);
        model->on[item][list] = false;
    } else {
        assert_int_equal(doppel_library_set_metadata(library, item, &about, NULL), DOPPEL_OK);
        model->on[item][list] = true;
        model->state[list] = model->state[list] < 0 ? 0 : model->state[list];
    }
}

static void do_mark(struct doppel_library *library, struct model *model)
{
    uint64_t a = 1 + pick(ITEMS), b = 1 + pick(ITEMS);
    int word = (int)pick(3);
    struct doppel_digest one = digest_of(a), other = digest_of(b);
    enum doppel_status status = doppel_library_mark(library, &one, &other, NULL,
                                                    (enum doppel_manual_label)word, NULL, NULL);
    assert_int_equal(status, a == b ? DOPPEL_E_ARGUMENT : DOPPEL_OK);
    if (a != b)
        model->word[a][b] = model->word[b][a] = word;
}

static void do_remove(struct doppel_library *library, struct model *model)
{
    uint64_t item = 1 + pick(ITEMS);
    if (!model->there[item] || pick(8))
        return;
    assert_int_equal(doppel_library_remove(library, item, NULL), DOPPEL_OK);
    model_remove(model, item);
}

static void fill(struct doppel_library *library, struct model *model)
{
    *model = (struct model){.state = {-1, -1, -1}};
    for (uint64_t id = 1; id <= ITEMS; id++) {
        assert_int_equal(add_numbered(library, id, record_make(id), NULL), DOPPEL_OK);
        model->there[id] = true;
    }
    commit(library);
}

static void test_random_steps(void **state)
{
    static void (*const steps[])(struct doppel_library *, struct model *) = {
        do_link, do_link, do_group, do_group, do_list, do_list, do_mark, do_remove};
    struct doppel_library *library = open_library(*state);
    struct model now, committed;
    fill(library, &now);
    committed = now;
    for (int step = 0; step < STEPS; step++) {
        steps[pick(sizeof steps / sizeof *steps)](library, &now);
        if (pick(4) == 0)
            compare(library, &now);
        if (pick(10) == 0) {
            commit(library);
            committed = now;
        } else if (pick(40) == 0) { /* what was not committed is taken back */
            doppel_library_close(library);
            library = open_library(*state);
            now = committed;
            compare(library, &now);
        }
    }
    compare(library, &now);
    doppel_library_close(library);
}

/* ---- what is asked for often ---- */

static bool ignore_entry(void *context, const struct doppel_log_entry *entry,
                         const struct doppel_error *error)
{
    (void)entry;
    assert_int_equal(error->status, DOPPEL_OK);
    ++*(int *)context;
    return true;
}

static void query_all(struct doppel_library *library)
{
    const struct doppel_log_query queries[] = {{.item = 2},
                                               {.item = 2, .newest_first = true, .limit = 5},
                                               {.limit = 3, .newest_first = true},
                                               {.first = 3, .last = 5},
                                               {.since_ns = 1, .until_ns = INT64_MAX}};
    const uint8_t md5[16] = {1};
    const struct doppel_file_stamp stamp = {.inode = 1};
    struct doppel_digest digest = digest_of(2);
    struct doppel_candidate candidate;
    struct doppel_metadata about;
    struct doppel_error error;
    struct ids ids = {0};
    uint64_t id;
    unsigned kinds;
    char *name;
    int entries = 0;
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
        assert_int_equal(
            doppel_library_each_log(library, &queries[i], ignore_entry, &entries, NULL), DOPPEL_OK);
    assert_true(entries > 10);
    assert_int_equal(doppel_library_leader(library, 2, &id, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_canonical(library, 2, &id, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_each_follower(library, 1, 0, take_id, &ids, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_get_metadata(library, 2, &about, NULL), DOPPEL_OK);
    doppel_metadata_free(&about);
    assert_int_equal(doppel_library_candidate(library, 2, &candidate, &name, NULL), DOPPEL_OK);
    free(name);
    assert_int_equal(doppel_library_by_digest(library, &digest, &id, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_exact_kinds(library, &kinds, NULL), DOPPEL_OK);
    doppel_library_by_exact(library, DOPPEL_EXACT_MD5, md5, &id, NULL);
    doppel_library_failure(library, "/none", &stamp, "", &error);
    assert_int_equal(doppel_library_link(library, 4, 1, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_unlink(library, 4, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_remove(library, 1, NULL), DOPPEL_OK);
}

static void test_no_table_is_walked_through(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct model model;
    sqlite3_stmt *statement = NULL;
    int statements = 0;
    fill(library, &model);
    assert_int_equal(doppel_library_link(library, 2, 1, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_link(library, 3, 1, NULL), DOPPEL_OK);
    commit(library);
    query_all(library);
    assert_int_equal(doppel_store_statement(library->store, "SELECT 1", &statement, NULL),
                     DOPPEL_OK);
    sqlite3 *database = sqlite3_db_handle(statement);
    for (statement = NULL; (statement = sqlite3_next_stmt(database, statement)); statements++)
        if (!strstr(sqlite3_sql(statement), "FROM doppel_index ") && /* a row an index */
            (sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0) > 1 ||
             sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_AUTOINDEX, 0)))
            fail_msg("walks through a table: %s", sqlite3_sql(statement));
    assert_true(statements > 20);
    doppel_library_close(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_random_steps),
        IN_FOLDER(test_no_table_is_walked_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
