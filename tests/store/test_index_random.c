/* An index that is kept, under random changes, commits, rollbacks, flushes, merges and openings,
 * against a table of what should be there; and a reader that looks in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/store/folder.h"
#include "tests/store/kept.h"

enum { PAYLOADS = 3000, STEPS = 500, RUNS = 4, MOST = 40 };

struct model {
    bool alive[PAYLOADS], committed[PAYLOADS];
    uint64_t next, committed_next; /* payloads below have been inserted */
    bool transaction;
};

struct play {
    const char *folder;
    struct kept kept;
    struct kept reader;
    struct model model;
    uint64_t random;
    bool merge;
};

static uint64_t draw(struct play *play, uint64_t below)
{
    return kept_random(&play->random) % below;
}

static void must(enum doppel_status status, const struct doppel_error *error)
{
    if (status)
        fail_msg("%s", error->message);
}

static bool is_alive(void *context, uint64_t payload)
{
    return ((const bool *)context)[payload];
}

static void assert_holds(struct kept *kept, bool *alive)
{
    struct doppel_error error = {0};
    const char *wrong =
        kept_compare(doppel_store_index_get(kept->index), PAYLOADS, is_alive, alive, &error);
    if (wrong)
        fail_msg("%s", wrong);
}

static void settle(struct model *model)
{
    if (model->transaction)
        return;
    memcpy(model->committed, model->alive, sizeof model->alive);
    model->committed_next = model->next;
}

static void insert(struct play *play)
{
    uint64_t codes[MOST], payloads[MOST], count = draw(play, MOST);
    struct doppel_error error;
    struct model *model = &play->model;
    if (model->next + count > PAYLOADS)
        return;
    for (uint64_t i = 0; i < count; i++, model->next++) {
        payloads[i] = model->next;
        codes[i] = kept_code(model->next);
        model->alive[model->next] = true;
    }
    must(doppel_store_index_insert(play->kept.index, codes, payloads, count, &error), &error);
}

static void remove_some(struct play *play)
{
    uint64_t payloads[MOST], count = draw(play, MOST / 4);
    struct doppel_error error;
    struct model *model = &play->model;
    for (uint64_t i = 0; i < count; i++) {
        payloads[i] = draw(play, PAYLOADS); /* some of them unknown, or removed before */
        model->alive[payloads[i]] = false;
        if (payloads[i] >= model->next)
            payloads[i] = UINT64_MAX - i;
    }
    must(doppel_store_index_remove(play->kept.index, payloads, count, &error), &error);
}

static void begin_or_end(struct play *play)
{
    struct doppel_error error;
    struct model *model = &play->model;
    if (!model->transaction) {
        must(doppel_store_begin(play->kept.store, &error), &error);
        model->transaction = true;
    } else if (draw(play, 3)) {
        must(doppel_store_commit(play->kept.store, &error), &error);
        model->transaction = false;
    } else {
        doppel_store_rollback(play->kept.store);
        memcpy(model->alive, model->committed, sizeof model->alive);
        model->next = model->committed_next;
        model->transaction = false;
    }
}

static void tend(struct play *play)
{
    struct doppel_error error;
    if (play->model.transaction)
        return;
    switch (draw(play, 3)) {
    case 0:
        must(doppel_store_index_flush(play->kept.index, &error), &error);
        break;
    case 1:
        must(doppel_store_index_compact(play->kept.index, false, &error), &error);
        break;
    default:
        must(doppel_store_index_compact(play->kept.index, true, &error), &error);
    }
}

static void open_writer(struct play *play)
{
    struct doppel_error error;
    const struct kept_options options = {.merge = play->merge};
    must(kept_open(play->folder, &options, &play->kept, &error), &error);
}

/* What is not committed goes. */
static void reopen(struct play *play)
{
    struct model *model = &play->model;
    kept_close(&play->kept);
    memcpy(model->alive, model->committed, sizeof model->alive);
    model->next = model->committed_next;
    model->transaction = false;
    open_writer(play);
}

static void look(struct play *play)
{
    struct doppel_error error;
    must(doppel_store_index_refresh(play->reader.index, NULL, &error), &error);
    assert_holds(&play->reader, play->model.committed);
    assert_holds(&play->kept, play->model.alive);
}

static void step(struct play *play)
{
    uint64_t drawn = draw(play, 100);
    if (drawn < 40)
        insert(play);
    else if (drawn < 65)
        remove_some(play);
    else if (drawn < 85)
        begin_or_end(play);
    else if (drawn < 90)
        tend(play);
    else if (drawn < 92)
        reopen(play);
    else
        look(play);
    settle(&play->model);
}

static void test_random_changes(void **state)
{
    (void)state;
    const struct kept_options reading = {.read_only = true};
    for (uint64_t run = 0; run < RUNS; run++) {
        char *folder = folder_make();
        struct doppel_error error;
        struct play *play = calloc(1, sizeof *play);
        *play = (struct play){.folder = folder, .random = run, .merge = run % 2};
        open_writer(play);
        must(kept_open(folder, &reading, &play->reader, &error), &error);
        for (int i = 0; i < STEPS; i++)
            step(play);
        look(play);
        kept_close(&play->reader);
        kept_close(&play->kept);
        free(play);
        folder_remove(folder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_changes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
