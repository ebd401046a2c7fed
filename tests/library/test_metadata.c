/* What people say of items: metadata, lists, and labels of pairs. */
#include "tests/library/fixture.h"

#include <stdio.h>

static struct doppel_library *library_with(const char *folder, uint64_t items)
{
    struct doppel_library *library = open_library(folder);
    for (uint64_t number = 1; number <= items; number++)
        assert_int_equal(add_numbered(library, number, record_make(number), NULL), DOPPEL_OK);
    return library;
}

static void assert_same_names(char *const *names, char *const *others, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(names[i], others[i]);
        assert_true(!i || strcmp(names[i - 1], names[i]) < 0);
    }
}

static void assert_memberships(struct doppel_library *library, uint64_t id,
                               const struct doppel_metadata *about)
{
    struct doppel_metadata other;
    assert_int_equal(doppel_library_get_memberships(library, id, &other, NULL), DOPPEL_OK);
    assert_true(!other.source && !other.date && !other.external_id && !other.meta);
    assert_int_equal(other.state, about->state);
    assert_int_equal(other.label_count, about->label_count);
    assert_int_equal(other.list_count, about->list_count);
    assert_same_names(other.labels, about->labels, about->label_count);
    assert_same_names(other.lists, about->lists, about->list_count);
    doppel_metadata_free(&other);
}

static void assert_about(struct doppel_library *library, uint64_t id, const char *expected)
{
    struct doppel_metadata about;
    char text[500];
    assert_int_equal(doppel_library_get_metadata(library, id, &about, NULL), DOPPEL_OK);
    assert_memberships(library, id, &about);
    int at = snprintf(text, sizeof text, "%s|%s|%s|%s|", about.source ? about.source : "",
                      about.date ? about.date : "", about.external_id ? about.external_id : "",
                      about.meta ? about.meta : "");
    for (size_t i = 0; i < about.label_count; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s ", about.labels[i]);
    at += snprintf(text + at, sizeof text - (size_t)at, "|");
    for (size_t i = 0; i < about.list_count; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s ", about.lists[i]);
    snprintf(text + at, sizeof text - (size_t)at, "|%s", doppel_list_state_name(about.state));
    doppel_metadata_free(&about);
    assert_string_equal(text, expected);
}

static void test_telling(void **state)
{
    struct doppel_library *library = library_with(*state, 2);
    char *labels[] = {(char *)"b", (char *)"a"}, *lists[] = {(char *)"stock"};
    struct doppel_metadata about = {.source = (char *)"cam\xff", .meta = (char *)"{\"x\":1}"};
    assert_about(library, 1, "||||||active");
    assert_int_equal(doppel_library_set_metadata(library, 1, &about, NULL), DOPPEL_OK);
    about = (struct doppel_metadata){.external_id = (char *)"e-1",
                                     .labels = labels,
                                     .label_count = 2,
                                     .lists = lists,
                                     .list_count = 1};
    assert_int_equal(doppel_library_set_metadata(library, 1, &about, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_metadata(library, 1, &about, NULL), DOPPEL_OK);
    assert_about(library, 1, "cam\xff||e-1|{\"x\":1}|a b |stock |active");
    assert_int_equal(doppel_library_unlabel(library, 1, "a", NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_unlabel(library, 1, "a", NULL), DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_library_remove_from_list(library, 2, "stock", NULL),
                     DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_library_remove_from_list(library, 1, "stock", NULL), DOPPEL_OK);
    assert_about(library, 1, "cam\xff||e-1|{\"x\":1}|b ||active");
    commit(library);
    static const char *const bad[] = {"[1]", "{", "", "1", "{\"a\":\"\xff\"}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        about = (struct doppel_metadata){.meta = (char *)bad[i]};
        assert_int_equal(doppel_library_set_metadata(library, 1, &about, NULL), DOPPEL_E_ARGUMENT);
    }
    about = (struct doppel_metadata){.source = (char *)"x"};
    assert_int_equal(doppel_library_set_metadata(library, 99, &about, NULL), DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_library_remove(library, 1, NULL), DOPPEL_OK);
    struct doppel_metadata none;
    assert_int_equal(doppel_library_get_metadata(library, 1, &none, NULL), DOPPEL_E_NOT_FOUND);
    assert_memberships(library, 1, &(struct doppel_metadata){.state = DOPPEL_LIST_ACTIVE});
    doppel_library_close(library);
}

static bool append_list(void *context, const struct doppel_list *list)
{
    char *text = context;
    size_t at = strlen(text);
    snprintf(text + at, 500 - at, "%s:%s:%d ", list->name, doppel_list_state_name(list->state),
             (int)list->items);
    return true;
}

static void put_on(struct doppel_library *library, uint64_t id, const char *list)
{
    char *lists[] = {(char *)list};
    const struct doppel_metadata about = {.lists = lists, .list_count = 1};
    assert_int_equal(doppel_library_set_metadata(library, id, &about, NULL), DOPPEL_OK);
}

static int state_of(struct doppel_library *library, uint64_t id)
{
    enum doppel_list_state state;
    assert_int_equal(doppel_library_state_of(library, id, &state, NULL), DOPPEL_OK);
    return (int)state;
}

static void test_lists(void **state)
{
    struct doppel_library *library = library_with(*state, 3);
    char text[500] = "";
    assert_false(doppel_library_has_states(library));
    assert_int_equal(doppel_library_set_list(library, "old", DOPPEL_LIST_DISABLED, NULL),
                     DOPPEL_OK);
    assert_true(doppel_library_has_states(library));
    put_on(library, 1, "old");
    put_on(library, 2, "old");
    put_on(library, 2, "new");
    assert_int_equal(state_of(library, 1), DOPPEL_LIST_DISABLED);
    assert_int_equal(state_of(library, 2), DOPPEL_LIST_ACTIVE);
    assert_int_equal(state_of(library, 3), DOPPEL_LIST_ACTIVE);
    assert_int_equal(doppel_library_set_list(library, "new", DOPPEL_LIST_BENIGN, NULL), DOPPEL_OK);
    assert_int_equal(state_of(library, 2), DOPPEL_LIST_BENIGN);
    assert_int_equal(doppel_library_remove_from_list(library, 2, "new", NULL), DOPPEL_OK);
    assert_int_equal(state_of(library, 2), DOPPEL_LIST_DISABLED);
    assert_int_equal(doppel_library_each_list(library, append_list, text, NULL), DOPPEL_OK);
    assert_string_equal(text, "new:benign:0 old:disabled:2 ");
    assert_int_equal(doppel_library_remove_list(library, "old", NULL), DOPPEL_OK);
    assert_int_equal(state_of(library, 2), DOPPEL_LIST_ACTIVE);
    commit(library);
    assert_int_equal(doppel_library_remove_list(library, "old", NULL), DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_library_set_list(library, "a\tb", DOPPEL_LIST_BENIGN, NULL),
                     DOPPEL_E_ARGUMENT);
    doppel_library_close(library);
}

static void test_what_is_said_stays_when_a_file_changes(void **state)
{
    const char *path = folder_path(*state, "file");
    folder_write(path, "one");
    struct doppel_library *library = open_library(*state);
    assert_int_equal(add_file(library, path, 1, DOPPEL_ADDED_NEW), 1);
    struct doppel_metadata about = {.external_id = (char *)"e"};
    put_on(library, 1, "l");
    assert_int_equal(doppel_library_set_metadata(library, 1, &about, NULL), DOPPEL_OK);
    assert_int_equal(add_file(library, path, 2, DOPPEL_ADDED_UPDATED), 2);
    assert_about(library, 2, "||e|||l |active");
    doppel_library_close(library);
}

/* ---- words ---- */

static bool count_mark(void *context, const struct doppel_mark *mark)
{
    assert_true(memcmp(mark->a.bytes, mark->b.bytes, sizeof mark->a.bytes) < 0);
    ++*(int *)context;
    return true;
}

static void test_words(void **state)
{
    struct doppel_library *library = open_library(*state);
    const struct doppel_digest a = {{1}}, b = {{2}}, c = {{3}};
    enum doppel_manual_label word;
    int count = 0;
    assert_int_equal(doppel_library_mark(library, &b, &a, NULL, DOPPEL_LABEL_DISTINCT, "x", NULL),
                     DOPPEL_OK);
    assert_int_equal(doppel_library_mark(library, &b, &c, NULL, DOPPEL_LABEL_SAME, NULL, NULL),
                     DOPPEL_OK);
    assert_int_equal(doppel_library_get_label(library, &a, &b, &word, NULL), DOPPEL_OK);
    assert_int_equal(word, DOPPEL_LABEL_DISTINCT);
    assert_int_equal(doppel_library_mark(library, &a, &b, NULL, DOPPEL_LABEL_SAME, NULL, NULL),
                     DOPPEL_OK);
    assert_int_equal(doppel_library_get_label(library, &b, &a, &word, NULL), DOPPEL_OK);
    assert_int_equal(word, DOPPEL_LABEL_SAME);
    assert_int_equal(doppel_library_each_mark(library, &a, count_mark, &count, NULL), DOPPEL_OK);
    assert_int_equal(count, 1);
    assert_int_equal(doppel_library_each_mark(library, NULL, count_mark, &count, NULL), DOPPEL_OK);
    assert_int_equal(count, 3);
    assert_int_equal(doppel_library_mark(library, &a, &b, NULL, DOPPEL_LABEL_NONE, NULL, NULL),
                     DOPPEL_OK);
    assert_int_equal(doppel_library_get_label(library, &b, &a, &word, NULL), DOPPEL_OK);
    assert_int_equal(word, DOPPEL_LABEL_NONE);
    assert_int_equal(doppel_library_mark(library, &a, &a, NULL, DOPPEL_LABEL_SAME, NULL, NULL),
                     DOPPEL_E_ARGUMENT);
    doppel_library_close(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_telling),
        IN_FOLDER(test_lists),
        IN_FOLDER(test_what_is_said_stays_when_a_file_changes),
        IN_FOLDER(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
