/* usage: meet-node ADDRESS [MS]
 *
 * MS: how long a change is tried; .3 s by default.
 * A client that does all that there is, whatever the nodes answer, and prints what came of it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doppel/shards.h>

#include "match/images.h"

enum { ITEMS = 3 };

static void print_end(const char *what, enum doppel_status status, const struct doppel_error *error)
{
    printf("%s: %s: %s\n", what, doppel_status_name(status), status ? error->message : "");
}

static bool visit(void *context, const struct doppel_shards_item *item)
{
    *(uint64_t *)context += item->item.id;
    return true;
}

static void change_items(struct doppel_shards *shards, const struct doppel_shards_item *items)
{
    struct doppel_shards_decision decisions[ITEMS] = {0};
    struct doppel_shards_added added[ITEMS];
    struct doppel_shards_decide_options options = {doppel_compare_options_default(), false};
    struct doppel_error error;
    options.compare.schemes[DOPPEL_KIND_IMAGE] = *doppel_scheme_by_id(items[0].item.record.scheme);
    print_end("add", doppel_shards_add(shards, items, ITEMS, added, &error), &error);
    print_end("decide", doppel_shards_decide(shards, items, ITEMS, &options, decisions, &error),
              &error);
    for (size_t i = 0; i < ITEMS; i++)
        doppel_shards_decision_free(&decisions[i]);
    print_end("remove", doppel_shards_remove(shards, 1029, &error), &error);
}

static void read_items(struct doppel_shards *shards, const struct doppel_shards_item *items)
{
    struct doppel_compare_options options = doppel_compare_options_default();
    const struct doppel_record *queries[ITEMS];
    struct doppel_shards_answers answers = {0};
    struct doppel_shards_item item = {0};
    struct doppel_shards_stats stats;
    struct doppel_error error;
    uint64_t sum = 0;
    for (size_t i = 0; i < ITEMS; i++)
        queries[i] = &items[i].item.record;
    options.schemes[DOPPEL_KIND_IMAGE] = *doppel_scheme_by_id(items[0].item.record.scheme);
    print_end("find", doppel_shards_find(shards, queries, ITEMS, &options, &answers, &error),
              &error);
    doppel_shards_answers_free(&answers);
    print_end("get", doppel_shards_get(shards, 1029, &item, &error), &error);
    doppel_shards_item_free(&item);
    print_end("each", doppel_shards_each(shards, visit, &sum, &error), &error);
    print_end("stats", doppel_shards_get_stats(shards, &stats, &error), &error);
}

int main(int argc, char **argv)
{
    struct doppel_shards_options options = {.address = argc > 1 ? argv[1] : "",
                                            .durable = true,
                                            .search_ms = 150,
                                            .write_ms = argc > 2 ? (uint32_t)atoi(argv[2]) : 300};
    struct doppel_run *run;
    struct doppel_shards *shards;
    struct doppel_error error;
    if (doppel_run_new(NULL, &run, &error))
        return 1;
    for (int i = 0; i < 2; i++) {
        const enum doppel_scheme_id scheme = i ? DOPPEL_SCHEME_PDQ : DOPPEL_SCHEME_PHASH64;
        struct doppel_shards_item items[ITEMS];
        uint64_t state = 1;
        char path[] = "";
        const enum doppel_status status = doppel_shards_open(run, &options, &shards, &error);
        print_end("open", status, &error);
        if (status)
            continue;
        for (size_t j = 0; j < ITEMS; j++)
            items[j] = (struct doppel_shards_item){
                .item = {.path = path,
                         .record = {.kind = DOPPEL_KIND_IMAGE,
                                    .scheme = scheme,
                                    .version = doppel_scheme_by_id(scheme)->version,
                                    .quality = 100,
                                    .fingerprint = make_fingerprint(scheme, 1, &state)}}};
        read_items(shards, items);
        change_items(shards, items);
        for (size_t j = 0; j < ITEMS; j++)
            doppel_fingerprint_free(&items[j].item.record.fingerprint);
        doppel_shards_close(shards);
    }
    doppel_run_free(run);
    return 0;
}
