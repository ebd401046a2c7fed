/* Recordings, videos and pictures that come, change and go in any order: the indexes follow. */
#include "library/derived/derived.h"
#include "tests/library/tracks.h"

#include <stdio.h>

enum { PATHS = 12, STEPS = 160 };

/* Ids of what is at the paths; 0: nothing. */
struct history {
    struct doppel_library *library;
    uint64_t ids[PATHS], committed_ids[PATHS];
    uint64_t random, next_seed;
};

static uint64_t draw(struct history *history, uint64_t below)
{
    history->random =
        history->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (history->random >> 33) % below;
}

static void add_or_remove(struct history *history, const char *folder)
{
    size_t place = draw(history, PATHS);
    char name[16];
    snprintf(name, sizeof name, "file%zu", place);
    const char *path = folder_path(folder, name);
    if (history->ids[place] && draw(history, 3) == 0) {
        assert_int_equal(doppel_library_remove(history->library, history->ids[place], NULL),
                         DOPPEL_OK);
        history->ids[place] = 0;
    } else if (draw(history, 5) == 0) {
        struct doppel_record image = record_make(history->next_seed);
        const struct doppel_file_stamp stamp = {.inode = history->next_seed++};
        enum doppel_added added;
        assert_int_equal(doppel_library_add(history->library, path, &stamp, &image, &added,
                                            &history->ids[place], NULL),
                         DOPPEL_OK);
        doppel_record_free(&image);
    } else {
        bool there = history->ids[place] != 0;
        uint32_t seconds = (uint32_t)(1 + draw(history, 90));
        history->ids[place] =
            add_track(history->library, draw(history, 2) ? &recordings : &clips, path,
                      history->next_seed, seconds, there ? DOPPEL_ADDED_UPDATED : DOPPEL_ADDED_NEW);
        history->next_seed++;
    }
}

static void close_and_open(struct history *history, const char *folder)
{
    doppel_library_close(history->library); /* what was not committed is taken back */
    memcpy(history->ids, history->committed_ids, sizeof history->ids);
    assert_indexes_fit(directory_of(folder));
    history->library = open_library(folder);
}

static void assert_items_are(struct history *history)
{
    for (size_t i = 0; i < PATHS; i++) {
        struct doppel_item item;
        if (!history->ids[i])
            continue;
        assert_int_equal(doppel_library_get(history->library, history->ids[i], true, &item, NULL),
                         DOPPEL_OK);
        doppel_item_free(&item);
    }
}

static int count_opened(const struct doppel_library *library)
{
    int count = 0;
    for (int i = 0; i < DERIVATIONS; i++)
        count += library->derived[i].index != NULL;
    return count;
}

static void test_any_history(void **state)
{
    struct history history = {.library = open_library(*state), .random = 5, .next_seed = 1};
    for (int step = 0; step < STEPS; step++) {
        uint64_t what = draw(&history, 12);
        if (what == 0) {
            close_and_open(&history, *state);
        } else if (what < 3) {
            assert_int_equal(doppel_library_commit(history.library, NULL), DOPPEL_OK);
            memcpy(history.committed_ids, history.ids, sizeof history.ids);
        } else {
            uint64_t before[PATHS];
            int opened = count_opened(history.library);
            memcpy(before, history.ids, sizeof before);
            add_or_remove(&history, *state);
            if (count_opened(history.library) > opened) /* it was committed before */
                memcpy(history.committed_ids, before, sizeof before);
        }
        assert_items_are(&history);
    }
    doppel_library_close(history.library);
    assert_indexes_fit(directory_of(*state));
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_FOLDER(test_any_history)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
