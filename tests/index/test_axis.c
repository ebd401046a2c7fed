/*
 * Items of postings through the public API, in random order: inserted, removed, flushed, merged,
 * closed and opened again. After every step all keys give what a plain list of items gives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include <doppel/index.h>

#include "core/array.h"
#include "index/codes.h"

enum { STEPS = 50, KEYS = 40, LENGTH_MAX = 600, PAYLOADS = 30 };

struct item {
    uint64_t payload;
    uint32_t length, count;
    struct doppel_index_posting postings[LENGTH_MAX];
};

/* A posting as it is found. */
struct found {
    uint32_t key, position;
    uint64_t payload;
};

struct act {
    bool removal;
    struct item *item; /* its payload alone, of a removal */
};

struct session {
    struct doppel_index_options options;
    struct doppel_index *index;
    uint64_t state;
    char folder[32];            /* "": in memory */
    ARRAY(struct item *) items; /* that are in */
    ARRAY(struct item *) all;   /* to be freed */
    ARRAY(struct act) head;     /* since the last flush */
};

typedef ARRAY(struct found) found_array;

static uint64_t dice(struct session *session, uint64_t sides)
{
    return random_word(&session->state) % sides;
}

/* ---- steps ---- */

/* Half of the keys are of a few; positions ascend, but the first and last change places. */
static struct item *make_item(struct session *session)
{
    struct item *item = calloc(1, sizeof *item);
    assert_true(item && array_push(&session->all, item));
    item->payload = dice(session, PAYLOADS) * 0x100000001u;
    item->length = 1 + (uint32_t)dice(session, dice(session, 2) ? LENGTH_MAX : 20);
    for (uint32_t position = 0; position < item->length; position++)
        if (dice(session, 3))
            item->postings[item->count++] = (struct doppel_index_posting){
                (uint32_t)dice(session, dice(session, 2) ? KEYS : 3), position};
    if (item->count) {
        struct doppel_index_posting first = item->postings[0];
        item->postings[0] = item->postings[item->count - 1];
        item->postings[item->count - 1] = first;
    }
    return item;
}

static void tell(struct session *session, const struct act *act)
{
    const struct item *item = act->item;
    struct doppel_index_item given = {item->payload, item->length, item->count, item->postings};
    assert_int_equal(act->removal ? doppel_index_remove(session->index, &item->payload, 1, NULL)
                                  : doppel_index_insert_item(session->index, &given, NULL),
                     DOPPEL_OK);
}

static void act(struct session *session, bool removal)
{
    struct act act = {removal, make_item(session)};
    size_t kept = 0;
    tell(session, &act);
    assert_true(array_push(&session->head, act));
    if (!removal) {
        assert_true(array_push(&session->items, act.item));
        return;
    }
    for (size_t i = 0; i < session->items.count; i++)
        if (session->items.items[i]->payload != act.item->payload)
            session->items.items[kept++] = session->items.items[i];
    session->items.count = kept;
}

static void open_index(struct session *session, const char *const *names, size_t count)
{
    struct doppel_index_files files = {.folder = session->folder, .names = names, .count = count};
    struct doppel_error error;
    if (*session->folder ? doppel_index_open(&session->options, &files, &session->index, &error)
                         : doppel_index_new(&session->options, &session->index, &error))
        fail_msg("%s", error.message);
}

static void reopen(struct session *session)
{
    const char *const *names;
    size_t count;
    if (!*session->folder)
        return;
    assert_int_equal(doppel_index_names(session->index, &names, &count, NULL), DOPPEL_OK);
    doppel_index_free(session->index);
    open_index(session, names, count);
    free((void *)names);
    for (size_t i = 0; i < session->head.count; i++)
        tell(session, &session->head.items[i]);
}

static void flush(struct session *session)
{
    assert_int_equal(doppel_index_flush(session->index, NULL), DOPPEL_OK);
    session->head.count = 0;
}

static void step(struct session *session)
{
    switch (dice(session, 10)) {
    default:
        for (uint64_t more = dice(session, 8); more; more--)
            act(session, false);
        break;
    case 4:
    case 5:
        act(session, true);
        break;
    case 6:
        flush(session);
        break;
    case 7:
        assert_int_equal(doppel_index_compact(session->index, false, NULL), DOPPEL_OK);
        break;
    case 8:
        assert_int_equal(doppel_index_compact(session->index, true, NULL), DOPPEL_OK);
        break;
    case 9:
        reopen(session);
        break;
    }
}

/* ---- answers ---- */

static int in_order(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->payload != y->payload)
        return x->payload < y->payload ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

struct lookup {
    const struct doppel_index_axis *axis;
    found_array found;
    uint64_t seen[KEYS]; /* removed ones too */
};

static bool take_run(void *context, uint32_t key, uint64_t base, const uint32_t *positions,
                     size_t count)
{
    struct lookup *lookup = context;
    lookup->seen[key] += count;
    for (size_t i = 0; i < count; i++) {
        assert_true(i == 0 || positions[i - 1] < positions[i]);
        uint64_t at = base + positions[i];
        struct doppel_index_place place = doppel_index_item_at(lookup->axis, at);
        assert_true(at >= place.start && at - place.start < place.length);
        struct found found = {key, (uint32_t)(at - place.start), place.payload};
        if (!place.removed)
            assert_true(array_push(&lookup->found, found));
    }
    return true;
}

static found_array wanted(const struct session *session)
{
    found_array out = {0};
    for (size_t i = 0; i < session->items.count; i++) {
        const struct item *item = session->items.items[i];
        for (uint32_t p = 0; p < item->count; p++) {
            struct found found = {item->postings[p].key, item->postings[p].position, item->payload};
            assert_true(array_push(&out, found));
        }
    }
    return out;
}

static void check(struct session *session)
{
    uint32_t keys[KEYS];
    uint64_t lengths[KEYS];
    struct doppel_index_axis *axis;
    found_array list = wanted(session);
    for (uint32_t i = 0; i < KEYS; i++)
        keys[i] = i;
    assert_int_equal(doppel_index_axis_take(session->index, &axis, NULL), DOPPEL_OK);
    struct lookup lookup = {.axis = axis};
    assert_int_equal(doppel_index_lengths(axis, keys, KEYS, lengths, NULL), DOPPEL_OK);
    assert_int_equal(doppel_index_lookup(axis, keys, KEYS, take_run, &lookup, NULL), DOPPEL_OK);
    doppel_index_axis_free(axis);
    for (size_t i = 0; i < KEYS; i++)
        assert_int_equal(lengths[i], lookup.seen[i]);
    assert_int_equal(lookup.found.count, list.count);
    if (list.count) {
        qsort(list.items, list.count, sizeof *list.items, in_order);
        qsort(lookup.found.items, list.count, sizeof *list.items, in_order);
    }
    for (size_t i = 0; i < list.count; i++)
        assert_int_equal(in_order(&list.items[i], &lookup.found.items[i]), 0);
    array_free(&list);
    array_free(&lookup.found);
}

static void remove_files(const struct session *session)
{
    const char *const *names;
    size_t count;
    assert_int_equal(doppel_index_names(session->index, &names, &count, NULL), DOPPEL_OK);
    doppel_index_free(session->index);
    for (size_t i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", session->folder, names[i]);
        assert_int_equal(unlink(path), 0);
    }
    free((void *)names);
    assert_int_equal(rmdir(session->folder), 0);
}

static void run(uint64_t seed, bool files)
{
    struct session session = {.options = doppel_index_options_default(), .state = seed};
    session.options.table = DOPPEL_INDEX_POSTINGS;
    session.options.key_bits = 6 + (uint32_t)seed % 3 * 10;
    session.options.head_codes = seed % 2 ? 2000 : 65536;
    if (files) {
        strcpy(session.folder, "/tmp/test-axis-XXXXXX");
        assert_non_null(mkdtemp(session.folder));
    }
    open_index(&session, NULL, 0);
    for (int i = 0; i < STEPS; i++) {
        step(&session);
        check(&session);
    }
    if (files)
        remove_files(&session);
    else
        doppel_index_free(session.index);
    for (size_t i = 0; i < session.all.count; i++)
        free(session.all.items[i]);
    array_free(&session.all);
    array_free(&session.items);
    array_free(&session.head);
}

static void test_in_memory(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 6; seed++)
        run(seed, false);
}

static void test_in_files(void **state)
{
    (void)state;
    for (uint64_t seed = 10; seed < 16; seed++)
        run(seed, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_memory),
        cmocka_unit_test(test_in_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
