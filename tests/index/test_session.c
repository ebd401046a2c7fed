/*
 * Sessions: anything that may happen to an index, in random order: insert, load, remove, flush,
 * compact, close and open again. After every step it answers as the linear scan of model.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include "core/cpu.h"
#include "index/model.h"

enum { STEPS = 40, MAX_INSERT = 300, MAX_LOAD = 1500, MAX_QUERIES = 5, MAX_WORDS = 8 };

/* What the head held since it was flushed: to be repeated after the index was opened again. */
struct act {
    bool removal;
    uint64_t payload, code[MAX_WORDS];
};

struct session {
    struct model model;
    struct doppel_index *index;
    enum shape shape;
    uint64_t state;
    char folder[32]; /* "": in memory */
    ARRAY(char *) names;
    ARRAY(struct act) head;
};

static uint64_t dice(struct session *session, uint64_t sides)
{
    return random_word(&session->state) % sides;
}

/* ---- files ---- */

static void forget_names(struct session *session)
{
    for (size_t i = 0; i < session->names.count; i++)
        free(session->names.items[i]);
    session->names.count = 0;
}

static enum doppel_status publish(void *context, const char *const *names, size_t count,
                                  struct doppel_error *error)
{
    struct session *session = context;
    if (dice(session, 16) == 0)
        return doppel_fail(error, DOPPEL_E_BUSY, "not now");
    forget_names(session);
    for (size_t i = 0; i < count; i++)
        assert_true(array_push(&session->names, strdup(names[i])));
    return DOPPEL_OK;
}

static void open_index(struct session *session)
{
    struct doppel_error error = {0};
    struct doppel_index_files files = {.folder = session->folder,
                                       .names = (const char *const *)session->names.items,
                                       .count = session->names.count,
                                       .publish = publish,
                                       .context = session};
    enum doppel_status status =
        *session->folder
            ? doppel_index_open(&session->model.options, &files, &session->index, &error)
            : doppel_index_new(&session->model.options, &session->index, &error);
    if (status)
        fail_msg("%s", error.message);
}

/* ---- steps ---- */

static void insert(struct session *session, const uint64_t *codes, const uint64_t *payloads,
                   size_t count)
{
    assert_int_equal(doppel_index_insert(session->index, codes, payloads, count, NULL), DOPPEL_OK);
    for (size_t i = 0; i < count; i++) {
        struct act act = {.payload = payloads[i]};
        memcpy(act.code, codes + i * session->model.words, session->model.words * sizeof *codes);
        assert_true(array_push(&session->head, act));
    }
}

static void remove_payload(struct session *session, uint64_t payload)
{
    assert_int_equal(doppel_index_remove(session->index, &payload, 1, NULL), DOPPEL_OK);
    struct act act = {true, payload, {0}};
    assert_true(array_push(&session->head, act));
}

struct reader {
    const struct model *codes;
    size_t at;
};

static size_t read_codes(void *context, uint64_t *codes, uint64_t *payloads, size_t max)
{
    struct reader *reader = context;
    const struct model *from = reader->codes;
    size_t left = from->payloads.count - reader->at, count = left < max ? left : max;
    if (count > 7) /* short reads are fine */
        count -= count % 3;
    memcpy(codes, from->codes.items + reader->at * from->words,
           count * from->words * sizeof *codes);
    memcpy(payloads, from->payloads.items + reader->at, count * sizeof *payloads);
    reader->at += count;
    return count;
}

static void rewind_codes(void *context)
{
    ((struct reader *)context)->at = 0;
}

/* Flush, load and compact may fail when their set of segments is not taken; then nothing was done.
 */
static bool happened(enum doppel_status status)
{
    if (status)
        assert_int_equal(status, DOPPEL_E_BUSY);
    return !status;
}

static void flush(struct session *session)
{
    if (happened(doppel_index_flush(session->index, NULL)))
        session->head.count = 0;
}

/* The head is flushed first, which may succeed when the load does not. */
static void load(struct session *session, const struct model *codes)
{
    struct reader reader = {codes, 0};
    struct doppel_index_load load = {.count = codes->payloads.count,
                                     .read = read_codes,
                                     .rewind = rewind_codes,
                                     .context = &reader};
    flush(session);
    if (session->head.count)
        return;
    if (happened(doppel_index_bulk(session->index, &load, NULL)))
        model_insert(&session->model, codes->codes.items, codes->payloads.items,
                     codes->payloads.count);
}

/* Payloads of few, so that one has many codes, or of many. */
static struct model new_codes(struct session *session, size_t count)
{
    struct model codes = model_new(&session->model.options);
    uint64_t *words = calloc(count + 1, codes.words * sizeof *words);
    uint64_t *payloads = calloc(count + 1, sizeof *payloads),
             most = dice(session, 2) ? 50 : 1000000;
    assert_true(words && payloads);
    model_codes(&codes, session->shape, count, &session->state, words);
    if (dice(session, 2))
        model_queries(&session->model, session->shape, count, &session->state, words);
    for (size_t i = 0; i < count; i++)
        payloads[i] = dice(session, most) * (dice(session, 2) ? 1 : 0x300000001u);
    model_insert(&codes, words, payloads, count);
    free(words);
    free(payloads);
    return codes;
}

static void add(struct session *session)
{
    bool many = dice(session, 3) == 0;
    struct model codes = new_codes(session, dice(session, many ? MAX_LOAD : MAX_INSERT));
    if (many) {
        load(session, &codes);
    } else {
        insert(session, codes.codes.items, codes.payloads.items, codes.payloads.count);
        model_insert(&session->model, codes.codes.items, codes.payloads.items,
                     codes.payloads.count);
    }
    model_free(&codes);
}

static void take_away(struct session *session)
{
    for (uint64_t count = dice(session, 30); count; count--) {
        uint64_t payload = dice(session, 100);
        if (session->model.payloads.count && dice(session, 8))
            payload = session->model.payloads.items[dice(session, session->model.payloads.count)];
        remove_payload(session, payload);
        model_remove(&session->model, payload);
    }
}

static void reopen(struct session *session)
{
    if (!*session->folder)
        return;
    doppel_index_free(session->index);
    open_index(session);
    for (size_t i = 0; i < session->head.count; i++) {
        const struct act *act = &session->head.items[i];
        assert_int_equal(
            act->removal ? doppel_index_remove(session->index, &act->payload, 1, NULL)
                         : doppel_index_insert(session->index, act->code, &act->payload, 1, NULL),
            DOPPEL_OK);
    }
}

static void clean_up(struct session *session)
{
    flush(session);
    bool merged = happened(doppel_index_compact(session->index, true, NULL));
    if (merged && !session->head.count)
        assert_int_equal(doppel_index_count(session->index), session->model.payloads.count);
    assert_int_equal(doppel_index_verify(session->index, NULL), DOPPEL_OK);
}

static void step(struct session *session)
{
    switch (dice(session, 12)) {
    default:
        add(session);
        break;
    case 5:
    case 6:
        take_away(session);
        break;
    case 7:
        flush(session);
        break;
    case 8:
        (void)happened(doppel_index_compact(session->index, false, NULL));
        break;
    case 9:
        clean_up(session);
        break;
    case 10:
    case 11:
        reopen(session);
        break;
    }
}

/* ---- questions ---- */

static bool is_wanted(void *context, uint64_t payload)
{
    return payload % *(uint64_t *)context != 0;
}

static void ask(struct session *session)
{
    uint64_t queries[MAX_QUERIES * MAX_WORDS], modulus = 1 + dice(session, 3);
    uint32_t most = session->model.options.table == DOPPEL_INDEX_BANDS
                        ? session->model.options.lanes
                        : session->model.options.bits;
    struct doppel_index_request request = {
        .queries = queries,
        .count = dice(session, MAX_QUERIES + 1),
        .radius = (uint32_t)dice(session, dice(session, 2) ? most + 2 : most / 4),
        .nearest = dice(session, 3) ? 0 : 1 + dice(session, 40),
        .cap = dice(session, 4) ? 0 : 1 + dice(session, 20),
        .filter = modulus > 1 ? is_wanted : NULL,
        .filter_context = &modulus,
        .threads = (uint32_t)dice(session, 3),
    };
    if (session->model.options.table == DOPPEL_INDEX_BANDS && dice(session, 3) == 0) {
        request.rows = 1 + (uint32_t)dice(session, most); /* other bands than it has */
        request.bands = 1 + (uint32_t)dice(session, most / request.rows);
        request.every = dice(session, 4) == 0;
    }
    model_queries(&session->model, session->shape, request.count, &session->state, queries);
    check_request(session->index, &session->model, &request);
}

static void run(struct doppel_index_options options, enum shape shape, uint64_t seed, bool files)
{
    struct session session = {
        .model = model_new(&options), .shape = shape, .state = seed, .folder = ""};
    if (files) {
        strcpy(session.folder, "/tmp/test-session-XXXXXX");
        assert_non_null(mkdtemp(session.folder));
    }
    open_index(&session);
    for (int i = 0; i < STEPS; i++) {
        step(&session);
        ask(&session);
    }
    doppel_index_free(session.index);
    for (size_t i = 0; i < session.names.count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", session.folder, session.names.items[i]);
        assert_int_equal(unlink(path), 0);
    }
    if (files) /* nothing else is in it */
        assert_int_equal(rmdir(session.folder), 0);
    forget_names(&session);
    array_free(&session.names);
    array_free(&session.head);
    model_free(&session.model);
}

static void run_hamming(bool files)
{
    static const uint32_t widths[] = {32, 64, 128, 256};
    struct doppel_index_options options = doppel_index_options_default();
    for (uint64_t seed = 0; seed < 16; seed++) {
        options.bits = widths[seed % 4];
        options.design_radius = seed % 3 ? options.bits / 8 : 3;
        options.compact = seed % 5 == 1;
        options.head_codes = seed % 2 ? 500 : 65536;
        cpu_mask(seed % 7 == 6 ? 0 : UINT32_MAX);
        run(options, (enum shape)(seed / 4), seed, files);
    }
    cpu_mask(UINT32_MAX);
}

static void test_hamming_in_memory(void **state)
{
    (void)state;
    run_hamming(false);
}

static void test_hamming_in_files(void **state)
{
    (void)state;
    run_hamming(true);
}

static void run_bands(bool files)
{
    struct doppel_index_options options = doppel_index_options_default();
    options.table = DOPPEL_INDEX_BANDS;
    options.lanes = 32;
    for (uint64_t seed = 0; seed < 8; seed++) {
        options.rows = 2 + (uint32_t)seed % 5;
        options.bands = options.lanes / options.rows;
        options.head_codes = seed % 2 ? 500 : 65536;
        run(options, (enum shape)(seed % SHAPES), 100 + seed, files);
    }
}

static void test_bands_in_memory(void **state)
{
    (void)state;
    run_bands(false);
}

static void test_bands_in_files(void **state)
{
    (void)state;
    run_bands(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hamming_in_memory),
        cmocka_unit_test(test_hamming_in_files),
        cmocka_unit_test(test_bands_in_memory),
        cmocka_unit_test(test_bands_in_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
