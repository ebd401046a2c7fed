/* Packed items come out as they went in, and take no more than they may. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group/item_store.h"

enum { MANY = 3000, PATH_SPACE = 600 };

struct kept {
    struct grouping_item item;
    char path[PATH_SPACE];
};

/* Paths of all shapes: no folder, the root, folders that return, folders that begin alike. */
static void random_path(char out[PATH_SPACE])
{
    static const char *const folders[] = {"",      "/",  "a/",    "a/b/",
                                          "a/bc/", "./", "//x//", "\xff/\n/"};
    size_t used = (size_t)sprintf(out, "%s", folders[rand() % 8]);
    if (rand() % 20 == 0)
        used += (size_t)sprintf(out + used, "%0*d/", 1 + rand() % 250, 7);
    sprintf(out + used, "%0*d", 1 + rand() % 250, rand());
}

static struct kept random_item(bool with_id)
{
    struct kept kept = {.item = {.size = (int64_t)rand() << 20,
                                 .mtime_ns = -((int64_t)rand() << 31),
                                 .width = (uint32_t)rand(),
                                 .height = (uint32_t)rand(),
                                 .source = (uint32_t)rand() % 5,
                                 .reading = (uint8_t)(rand() % 8),
                                 .reference = rand() % 2,
                                 .chosen = rand() % 2,
                                 .benign = rand() % 2,
                                 .no_file = rand() % 2,
                                 .cut = rand() % 2}};
    if (with_id)
        kept.item.id = 1 + (uint64_t)rand();
    for (size_t i = 0; i < sizeof kept.item.digest.bytes; i++)
        kept.item.digest.bytes[i] = (uint8_t)rand();
    random_path(kept.path);
    return kept;
}

static void expect_item(const struct item_store *store, uint32_t number, const struct kept *kept)
{
    struct grouping_item item = item_store_get(store, number);
    char *path = item_store_path(store, number);
    assert_string_equal(path, kept->path);
    free(path);
    assert_int_equal(item.size, kept->item.size);
    assert_int_equal(item.mtime_ns, kept->item.mtime_ns);
    assert_int_equal(item.id, kept->item.id);
    assert_int_equal(item.width, kept->item.width);
    assert_int_equal(item.height, kept->item.height);
    assert_int_equal(item.source, kept->item.source);
    assert_int_equal(item.reading, kept->item.reading);
    assert_int_equal(item.reference, kept->item.reference);
    assert_int_equal(item.chosen, kept->item.chosen);
    assert_int_equal(item.benign, kept->item.benign);
    assert_int_equal(item.no_file, kept->item.no_file);
    assert_int_equal(item.cut, kept->item.cut);
    assert_memory_equal(&item.digest, &kept->item.digest, sizeof item.digest);
}

static void comes_out_as_it_went_in(void **state)
{
    (void)state;
    static struct kept kept[MANY];
    for (int with_id = 0; with_id < 2; with_id++) {
        struct item_store store = {0};
        for (uint32_t i = 0; i < MANY; i++) {
            kept[i] = random_item(with_id);
            kept[i].item.path = kept[i].path;
            assert_int_equal(item_store_add(&store, &kept[i].item, NULL), DOPPEL_OK);
        }
        assert_int_equal(item_store_count(&store), MANY);
        for (uint32_t i = 0; i < MANY; i++)
            expect_item(&store, i, &kept[i]);
        item_store_forget_digests(&store);
        for (uint32_t i = 0; i < MANY; i++) {
            memset(&kept[i].item.digest, 0, sizeof kept[i].item.digest);
            expect_item(&store, i, &kept[i]);
        }
        item_store_free(&store);
    }
}

/* Beside its 32 bytes an item costs its name, where its folder is, and its digest. */
static void is_small(void **state)
{
    (void)state;
    struct item_store store = {0};
    for (unsigned i = 0; i < MANY; i++) {
        char path[64];
        sprintf(path, "/home/someone/Pictures/holiday/IMG_%05u.jpg", i);
        struct grouping_item item = {.path = path, .size = 1};
        assert_int_equal(item_store_add(&store, &item, NULL), DOPPEL_OK);
    }
    size_t bytes = store.names.count;
    bytes += store.digests.count * sizeof *store.digests.items;
    assert_true(bytes <= MANY * (16 + 4 + sizeof "IMG_00000.jpg") + 100);
    assert_int_equal(store.ids.count, 0);
    item_store_free(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_out_as_it_went_in),
        cmocka_unit_test(is_small),
    };
    srand(11);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
