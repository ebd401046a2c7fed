/* An index that is kept: as part of transactions, opened again, read by others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tests/store/folder.h"
#include "tests/store/kept_test.h"

/* ---- writing and opening again ---- */

static void test_opened_again(void **state)
{
    const struct kept_options plain = {0};
    for (uint64_t done = 0; done < 60; done += 7) {
        struct kept kept = kept_must_open(*state, &plain);
        kept_assert_state(&kept, done);
        kept_must_transact(&kept, done, done + 7);
        kept_assert_state(&kept, done + 7);
        kept_close(&kept);
    }
    struct kept kept = kept_must_open(*state, &plain);
    assert_true(kept_segments(&kept) > 1);
    assert_int_equal(doppel_store_index_compact(kept.index, true, NULL), DOPPEL_OK);
    assert_int_equal(kept_segments(&kept), 1);
    assert_int_equal(kept_files_ending(*state, "", NULL), 1);
    kept_assert_state(&kept, 63);
    struct doppel_store_index_info info;
    doppel_store_index_info(kept.index, &info);
    assert_int_equal(info.next_payload, 630);
    assert_int_equal(info.log_codes, 0);
    kept_close(&kept);
    kept = kept_must_open(*state, &plain);
    kept_assert_state(&kept, 63);
    doppel_store_index_info(kept.index, &info);
    assert_int_equal(info.next_payload, 630);
    kept_close(&kept);
}

static void test_rolled_back(void **state)
{
    const struct kept_options plain = {0};
    struct kept kept = kept_must_open(*state, &plain);
    kept_must_transact(&kept, 0, 20);
    const uint64_t code = 1, payload = 200, removed = 3;
    assert_int_equal(doppel_store_begin(kept.store, NULL), DOPPEL_OK);
    assert_int_equal(doppel_store_index_insert(kept.index, &code, &payload, 1, NULL), DOPPEL_OK);
    assert_int_equal(doppel_store_index_remove(kept.index, &removed, 1, NULL), DOPPEL_OK);
    assert_int_equal(doppel_store_execute(kept.store, "INSERT INTO done VALUES(1)", NULL),
                     DOPPEL_OK);
    /* Seen at once, and not within a transaction made a segment of. */
    uint64_t count;
    struct doppel_error error;
    assert_non_null(kept_check(doppel_store_index_get(kept.index), &count, &error));
    assert_int_equal(doppel_store_index_flush(kept.index, &error), DOPPEL_E_ARGUMENT);
    doppel_store_rollback(kept.store);
    kept_assert_state(&kept, 20);
    kept_must_transact(&kept, 20, 40);
    kept_assert_state(&kept, 40);
    kept_close(&kept);
    kept = kept_must_open(*state, &plain);
    kept_assert_state(&kept, 40);
    kept_close(&kept);
}

static bool alive_below(void *context, uint64_t payload)
{
    return payload < *(uint64_t *)context;
}

struct source {
    uint64_t first, count, at;
};

static size_t read_source(void *context, uint64_t *codes, uint64_t *payloads, size_t max)
{
    struct source *source = context;
    size_t count = 0;
    for (; count < max && source->at < source->count; count++, source->at++) {
        payloads[count] = source->first + source->at;
        codes[count] = kept_code(payloads[count]);
    }
    return count;
}

static void rewind_source(void *context)
{
    ((struct source *)context)->at = 0;
}

static void test_bulk(void **state)
{
    const struct kept_options plain = {0};
    struct kept kept = kept_must_open(*state, &plain);
    struct source source = {0, 5000, 0};
    struct doppel_index_load load = {
        .count = 5000, .read = read_source, .rewind = rewind_source, .context = &source};
    assert_int_equal(doppel_store_index_bulk(kept.index, &load, NULL), DOPPEL_OK);
    const uint64_t payload = 5000, code = kept_code(payload);
    assert_int_equal(doppel_store_index_insert(kept.index, &code, &payload, 1, NULL), DOPPEL_OK);
    source = (struct source){5001, 999, 0};
    load.count = 999;
    assert_int_equal(doppel_store_index_bulk(kept.index, &load, NULL), DOPPEL_OK);
    uint64_t end = 6000;
    struct doppel_error error = {0};
    for (int i = 0; i < 2; i++) {
        const char *wrong =
            kept_compare(doppel_store_index_get(kept.index), 7000, alive_below, &end, &error);
        if (wrong)
            fail_msg("%s", wrong);
        struct doppel_store_index_info info;
        doppel_store_index_info(kept.index, &info);
        assert_int_equal(info.next_payload, 6000);
        kept_close(&kept);
        kept = kept_must_open(*state, &plain);
    }
    kept_close(&kept);
}

/* A source that dries up in its first or its second pass. */
static size_t read_dry(void *context, uint64_t *codes, uint64_t *payloads, size_t max)
{
    struct source *source = context;
    bool dry = source->first <= 1 && source->at >= source->count / 2;
    return dry ? 0 : read_source(context, codes, payloads, max);
}

static void rewind_dry(void *context)
{
    struct source *source = context;
    source->at = 0;
    source->first--; /* passes until it dries up */
}

static void test_bulk_cut_short(void **state)
{
    const struct kept_options plain = {0};
    struct kept kept = kept_must_open(*state, &plain);
    kept_must_transact(&kept, 0, 10);
    for (uint64_t passes = 2; passes < 4; passes++) {
        struct source source = {passes, 5000, 0};
        struct doppel_index_load load = {
            .count = 5000, .read = read_dry, .rewind = rewind_dry, .context = &source};
        assert_int_not_equal(doppel_store_index_bulk(kept.index, &load, NULL), DOPPEL_OK);
        kept_assert_state(&kept, 10);
    }
    kept_must_transact(&kept, 10, 20);
    kept_close(&kept);
    kept = kept_must_open(*state, &plain);
    kept_assert_state(&kept, 20);
    kept_close(&kept);
}

/* ---- several readers, one writer ---- */

static void test_readers(void **state)
{
    const struct kept_options plain = {0}, reading = {.read_only = true};
    struct kept writer = kept_must_open(*state, &plain);
    kept_must_transact(&writer, 0, 3);
    struct kept reader = kept_must_open(*state, &reading);
    bool changed;
    kept_assert_state(&reader, 3);
    assert_int_equal(doppel_store_index_refresh(reader.index, &changed, NULL), DOPPEL_OK);
    assert_false(changed);
    for (uint64_t done = 3; done < 60; done += 3) {
        kept_must_transact(&writer, done, done + 3);
        kept_assert_state(&reader, done); /* as it was, though segments may be gone */
        if (done % 9 == 0)
            assert_int_equal(doppel_store_index_compact(writer.index, true, NULL), DOPPEL_OK);
        assert_int_equal(doppel_store_index_refresh(reader.index, &changed, NULL), DOPPEL_OK);
        assert_true(changed);
        kept_assert_state(&reader, done + 3);
    }
    const uint64_t one = 1;
    struct doppel_error error;
    assert_int_equal(doppel_store_index_insert(reader.index, &one, &one, 1, &error),
                     DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_store_index_compact(reader.index, true, &error), DOPPEL_E_ARGUMENT);
    kept_close(&reader);
    kept_close(&writer);
}

static void test_second_writer_is_told(void **state)
{
    const struct kept_options plain = {0}, hasty = {.hasty = true};
    struct kept writer = kept_must_open(*state, &plain), second;
    struct doppel_error error = {0};
    assert_int_equal(kept_open(*state, &hasty, &second, &error), DOPPEL_E_BUSY);
    assert_non_null(strstr(error.message, "another process is writing to this index"));
    kept_close(&writer);
    second = kept_must_open(*state, &hasty);
    kept_close(&second);
}

/* ---- several of them, of every table, in one database ---- */

static struct doppel_store_index *open_named(struct doppel_store *store, const char *folder,
                                             const char *name,
                                             const struct doppel_index_options *make)
{
    struct doppel_error error = {0};
    struct doppel_store_index *index = NULL;
    const struct doppel_store_index_options options = {
        .name = name, .folder = folder_path(folder, name), .make = make};
    if (doppel_store_index_open(store, &options, &index, &error))
        fail_msg("%s", error.message);
    return index;
}

static void insert_numbers(struct doppel_store_index *index, size_t words, uint64_t first)
{
    uint64_t codes[5 * 32], payloads[5];
    uint64_t seed = first;
    for (size_t i = 0; i < 5 * words; i++)
        codes[i] = kept_random(&seed);
    for (size_t i = 0; i < 5; i++)
        payloads[i] = first + i;
    if (words == 1) /* a 32-bit code is the low half */
        for (size_t i = 0; i < 5; i++)
            codes[i] &= UINT32_MAX;
    assert_int_equal(doppel_store_index_insert(index, codes, payloads, 5, NULL), DOPPEL_OK);
}

/* Each of the codes that insert_numbers put in is found, and nothing else at its place. */
static void assert_numbers(struct doppel_store_index *index, size_t words, uint64_t first,
                           bool there)
{
    uint64_t codes[5 * 32], seed = first;
    for (size_t i = 0; i < 5 * words; i++)
        codes[i] = kept_random(&seed) & (words == 1 ? UINT32_MAX : UINT64_MAX);
    struct doppel_index_hit *hits = NULL;
    size_t count;
    const struct doppel_index_request same = {.queries = codes, .count = 5};
    assert_int_equal(
        doppel_index_search_array(doppel_store_index_get(index), &same, &hits, &count, NULL),
        DOPPEL_OK);
    assert_int_equal(count, there ? 5 : 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(hits[i].payload, first + i);
    free(hits);
}

enum { TABLES = 3 };

static void open_tables(struct doppel_store *store, const char *folder,
                        struct doppel_store_index *out[TABLES])
{
    struct doppel_index_options narrow = doppel_index_options_default();
    struct doppel_index_options wide = narrow, bands = narrow;
    narrow.bits = 32;
    wide.bits = 256;
    bands.table = DOPPEL_INDEX_BANDS;
    out[0] = open_named(store, folder, "narrow", &narrow);
    out[1] = open_named(store, folder, "wide", &wide);
    out[2] = open_named(store, folder, "bands", &bands);
}

static const size_t words_of[TABLES] = {1, 4, 32};

static struct doppel_store *open_store(const char *folder)
{
    const struct doppel_store_options options = {.application_id = 1,
                                                 .schema_version = 1,
                                                 .schema = DOPPEL_STORE_INDEX_SCHEMA,
                                                 .create = true,
                                                 .busy_timeout_ms = 1000};
    struct doppel_store *store;
    assert_int_equal(doppel_store_open(folder_path(folder, "a.db"), &options, &store, NULL),
                     DOPPEL_OK);
    return store;
}

static void test_tables_of_all_kinds(void **state)
{
    struct doppel_store_index *indexes[TABLES];
    for (uint64_t round = 0; round < 4; round++) {
        struct doppel_store *store = open_store(*state);
        open_tables(store, *state, indexes);
        for (size_t i = 0; i < TABLES; i++)
            for (uint64_t past = 0; past < round; past++) {
                assert_numbers(indexes[i], words_of[i], 1000 * (past + 1), true);
                assert_numbers(indexes[i], words_of[i], 1000 * (past + 1) + 500, false);
            }
        /* One transaction for all of them that stays, one that is taken back. */
        assert_int_equal(doppel_store_begin(store, NULL), DOPPEL_OK);
        for (size_t i = 0; i < TABLES; i++)
            insert_numbers(indexes[i], words_of[i], 1000 * (round + 1));
        assert_int_equal(doppel_store_commit(store, NULL), DOPPEL_OK);
        assert_int_equal(doppel_store_begin(store, NULL), DOPPEL_OK);
        for (size_t i = 0; i < TABLES; i++)
            insert_numbers(indexes[i], words_of[i], 1000 * (round + 1) + 500);
        doppel_store_rollback(store);
        for (size_t i = 0; i < TABLES && round % 2; i++)
            assert_int_equal(doppel_store_index_flush(indexes[i], NULL), DOPPEL_OK);
        for (size_t i = 0; i < TABLES; i++)
            doppel_store_index_close(indexes[i]);
        doppel_store_close(store);
    }
}

static enum doppel_status insert_item(struct doppel_store_index *index, uint64_t payload)
{
    const struct doppel_index_posting postings[] = {{7, 1}, {9, 4}, {(uint32_t)payload, 2}};
    const struct doppel_index_item item = {
        .payload = payload, .length = 10, .count = 3, .postings = postings};
    return doppel_store_index_insert_item(index, &item, NULL);
}

static uint64_t postings_of(struct doppel_store_index *index, uint32_t key)
{
    struct doppel_index_axis *axis;
    uint64_t length;
    assert_int_equal(doppel_index_axis_take(doppel_store_index_get(index), &axis, NULL), DOPPEL_OK);
    assert_int_equal(doppel_index_lengths(axis, &key, 1, &length, NULL), DOPPEL_OK);
    doppel_index_axis_free(axis);
    return length;
}

static void test_items(void **state)
{
    struct doppel_index_options make = doppel_index_options_default();
    make.table = DOPPEL_INDEX_POSTINGS;
    for (uint64_t round = 0; round < 4; round++) {
        struct doppel_store *store = open_store(*state);
        struct doppel_store_index *index = open_named(store, *state, "postings", &make);
        assert_int_equal(insert_item(index, 1000 + round), DOPPEL_OK);
        assert_int_equal(postings_of(index, 7), round + 1);
        assert_int_equal(postings_of(index, (uint32_t)(1000 + round)), 1);
        assert_int_equal(doppel_store_begin(store, NULL), DOPPEL_OK);
        assert_int_equal(insert_item(index, 2000 + round), DOPPEL_OK);
        assert_int_equal(postings_of(index, 7), round + 2);
        doppel_store_rollback(store);
        assert_int_equal(postings_of(index, 7), round + 1);
        if (round % 2)
            assert_int_equal(doppel_store_index_flush(index, NULL), DOPPEL_OK);
        doppel_store_index_close(index);
        doppel_store_close(store);
    }
}

struct owner {
    uint64_t gone; /* this item is not there any more */
    size_t asked;
};

static enum doppel_status give_postings(void *context, uint64_t payload,
                                        struct doppel_index_item *out,
                                        struct doppel_index_posting **out_postings,
                                        struct doppel_error *error)
{
    struct owner *owner = context;
    owner->asked++;
    if (payload == owner->gone)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "it is gone");
    struct doppel_index_posting *postings = malloc(3 * sizeof *postings);
    assert_non_null(postings);
    postings[0] = (struct doppel_index_posting){7, 1};
    postings[1] = (struct doppel_index_posting){9, 4};
    postings[2] = (struct doppel_index_posting){(uint32_t)payload, 2};
    out->length = 10;
    out->count = 3;
    *out_postings = postings;
    return DOPPEL_OK;
}

/* The log names items alone; an open asks their owner for the postings. */
static void test_items_with_a_source(void **state)
{
    struct doppel_index_options make = doppel_index_options_default();
    struct owner owner = {0};
    const char *folder = folder_path(*state, "postings");
    const struct doppel_store_index_options index_options = {.name = "postings",
                                                             .folder = folder,
                                                             .make = &make,
                                                             .source = give_postings,
                                                             .source_context = &owner};
    struct doppel_store_index *index;
    make.table = DOPPEL_INDEX_POSTINGS;
    for (uint64_t round = 0; round < 4; round++) {
        struct doppel_store *store = open_store(*state);
        owner = (struct owner){.gone = round == 1 ? 1000 : 0};
        assert_int_equal(doppel_store_index_open(store, &index_options, &index, NULL), DOPPEL_OK);
        /* After round 1 the first two, of which one was gone, are in a segment. */
        assert_int_equal(owner.asked, round % 2);
        assert_int_equal(postings_of(index, 7), round ? round - 1 : 0);
        assert_int_equal(insert_item(index, 1000 + round), DOPPEL_OK);
        if (round == 1)
            assert_int_equal(doppel_store_index_flush(index, NULL), DOPPEL_OK);
        doppel_store_index_close(index);
        doppel_store_close(store);
    }
    /* Two items wait in the log, which says nothing to who cannot ask. */
    struct doppel_store *store = open_store(*state);
    struct doppel_store_index_options ignorant = index_options;
    ignorant.source = NULL;
    assert_int_equal(doppel_store_index_open(store, &ignorant, &index, NULL), DOPPEL_E_CORRUPT);
    doppel_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_opened_again),
        IN_FOLDER(test_rolled_back),
        IN_FOLDER(test_bulk),
        IN_FOLDER(test_bulk_cut_short),
        IN_FOLDER(test_readers),
        IN_FOLDER(test_second_writer_is_told),
        IN_FOLDER(test_tables_of_all_kinds),
        IN_FOLDER(test_items),
        IN_FOLDER(test_items_with_a_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
