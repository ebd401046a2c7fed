/* usage: compare-answers ADDRESS SCHEME ITEMS QUERIES SEED
 *
 * Pictures of a cluster and of a library in a folder, searched for by the same queries: the same
 * items, matches and order, bit for bit. Prints how many were compared; exits 1 where they differ.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doppel/shards.h>

#include "core/clock.h"
#include "match/images.h"

enum { BATCH = 256 };

struct both {
    struct doppel_run *run;
    struct doppel_shards *shards;
    struct doppel_library *library;
    struct doppel_search *search;
    const struct doppel_scheme *scheme;
    struct doppel_fingerprint *prints;
    size_t items;
    uint64_t state;
    uint64_t matches;
    double local_seconds, shards_seconds;
};

static void ended(enum doppel_status status, const struct doppel_error *error)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

static struct doppel_fingerprint make_print(struct both *both, size_t number, bool query)
{
    const unsigned views = number % 5 ? 0xff9 | (unsigned)(number % 3) << 1 : 1;
    if (!number || random_word(&both->state) % 4 == 0)
        return make_fingerprint(both->scheme->id, views, &both->state);
    const size_t like = random_word(&both->state) % (query ? both->items : number);
    struct doppel_fingerprint made = copy_fingerprint(&both->prints[like]);
    disturb(&made, 1 + (unsigned)(random_word(&both->state) % 24), &both->state);
    if (both->scheme->id == DOPPEL_SCHEME_PHASH64 && random_word(&both->state) % 3 == 0)
        turn(&made, (unsigned)(random_word(&both->state) % DOPPEL_IMAGE_ORIENTATIONS));
    return made;
}

static struct doppel_record record_of(struct both *both, const struct doppel_fingerprint *print,
                                      size_t number)
{
    struct doppel_record record = {.kind = DOPPEL_KIND_IMAGE,
                                   .scheme = both->scheme->id,
                                   .version = both->scheme->version,
                                   .quality = number % 13  ? 100
                                              : number % 2 ? 45
                                                           : 20,
                                   .width = 640,
                                   .height = 480,
                                   .fingerprint = *print};
    for (size_t i = 0; i < sizeof record.digest.bytes; i += 8) {
        const uint64_t word = random_word(&both->state);
        memcpy(record.digest.bytes + i, &word, sizeof word);
    }
    return record;
}

/* ---- adding ---- */

static void add_to_both(struct both *both)
{
    static struct doppel_shards_item items[BATCH];
    static struct doppel_shards_added added[BATCH];
    static char names[BATCH][24];
    struct doppel_error error;
    uint64_t id, last = 0;
    char path[] = "";
    both->prints = calloc(both->items, sizeof *both->prints);
    ended(doppel_library_begin(both->library, &last, &error), &error);
    for (size_t first = 0; first < both->items; first += BATCH) {
        const size_t count = both->items - first < BATCH ? both->items - first : BATCH;
        for (size_t i = 0; i < count; i++) {
            both->prints[first + i] = make_print(both, first + i, false);
            snprintf(names[i], sizeof names[i], "picture %zu", first + i);
            items[i] = (struct doppel_shards_item){
                .item = {.path = path,
                         .record = record_of(both, &both->prints[first + i], first + i)},
                .about = {.external_id = names[i]}};
            ended(doppel_library_add_without_file(both->library, &items[i].item.record, names[i], 0,
                                                  &id, &error),
                  &error);
            ended(doppel_library_set_metadata(both->library, id, &items[i].about, &error), &error);
        }
        ended(doppel_shards_add(both->shards, items, count, added, &error), &error);
        for (size_t i = 0; i < count; i++)
            if (added[i].added != DOPPEL_ADDED_NEW)
                fprintf(stderr, "%s is not new\n", names[i]), exit(1);
    }
    ended(doppel_library_commit(both->library, &error), &error);
}

/* ---- searching ---- */

static bool is_same_match(const struct doppel_match *a, const struct doppel_match *b)
{
    return a->distance == b->distance && a->bits == b->bits && a->relation == b->relation &&
           a->verified == b->verified && memcmp(&a->similarity, &b->similarity, 8) == 0 &&
           memcmp(&a->score, &b->score, 8) == 0 &&
           memcmp(&a->false_positive_rate, &b->false_positive_rate, 8) == 0 &&
           memcmp(&a->transform, &b->transform, sizeof a->transform) == 0;
}

static void compare_answers(struct both *both, size_t query,
                            const struct doppel_search_results *local,
                            const struct doppel_shards_answers *answers)
{
    const struct doppel_search_results *found = &answers->results[query];
    bool same = local->count == found->count;
    for (size_t i = 0; same && i < local->count; i++) {
        const struct doppel_shards_item *item =
            doppel_shards_answers_item(answers, found->items[i].id);
        struct doppel_metadata about;
        struct doppel_error error;
        ended(doppel_library_get_metadata(both->library, local->items[i].id, &about, &error),
              &error);
        same = item && strcmp(about.external_id, item->about.external_id) == 0 &&
               is_same_match(&local->items[i].comparison.match, &found->items[i].comparison.match);
        doppel_metadata_free(&about);
    }
    both->matches += local->count;
    if (same)
        return;
    fprintf(stderr, "query %zu: %zu answers of the folder, %zu of the cluster, or others\n", query,
            local->count, found->count);
    exit(1);
}

static void search_both(struct both *both, size_t first, size_t count)
{
    static struct doppel_record records[BATCH];
    static const struct doppel_record *queries[BATCH];
    static struct doppel_fingerprint prints[BATCH];
    struct doppel_compare_options options = doppel_compare_options_default();
    struct doppel_shards_answers answers = {0};
    struct doppel_search_results local = {0};
    struct doppel_error error;
    options.schemes[DOPPEL_KIND_IMAGE] = *both->scheme;
    for (size_t i = 0; i < count; i++) {
        prints[i] = make_print(both, first + i + 1, true);
        records[i] = record_of(both, &prints[i], first + i);
        queries[i] = &records[i];
    }
    double start = monotonic_seconds();
    ended(doppel_shards_find(both->shards, queries, count, &options, &answers, &error), &error);
    both->shards_seconds += monotonic_seconds() - start;
    if (answers.missing_count)
        fprintf(stderr, "%zu shards are missing\n", answers.missing_count), exit(1);
    for (size_t i = 0; i < count; i++) {
        start = monotonic_seconds();
        ended(doppel_search_record(both->search, queries[i], "a query", &local, &error), &error);
        both->local_seconds += monotonic_seconds() - start;
        compare_answers(both, i, &local, &answers);
        doppel_fingerprint_free(&prints[i]);
    }
    doppel_search_results_free(&local);
    doppel_shards_answers_free(&answers);
}

/* ---- all of it ---- */

int main(int argc, char **argv)
{
    struct both both = {.state = 1};
    struct doppel_error error;
    if (argc != 6)
        return 2;
    char folder[] = "/tmp/doppel-compare-XXXXXX";
    const struct doppel_shards_options cluster = {.address = argv[1], .refuse_partial = true};
    const struct doppel_library_options local = {.create = true};
    const size_t queries = strtoul(argv[4], NULL, 10);
    both.scheme = doppel_scheme_by_name(argv[2]);
    both.items = strtoul(argv[3], NULL, 10);
    both.state = 2 * strtoul(argv[5], NULL, 10) + 1;
    if (!mkdtemp(folder) || !both.scheme)
        return 2;
    ended(doppel_run_new(NULL, &both.run, &error), &error);
    ended(doppel_shards_open(both.run, &cluster, &both.shards, &error), &error);
    ended(doppel_library_open(folder, &local, &both.library, &error), &error);
    add_to_both(&both);
    struct doppel_search_options options = doppel_search_options_default();
    options.compare.schemes[DOPPEL_KIND_IMAGE] = *both.scheme;
    options.compare.check_pixels = false;
    options.compare.images_compared = 8192; /* as a cluster counts */
    ended(doppel_search_new(both.run, both.library, &options, &both.search, &error), &error);
    for (size_t at = 0; at < queries; at += BATCH)
        search_both(&both, at, queries - at < BATCH ? queries - at : BATCH);
    printf("%zu queries of %s among %zu items: %" PRIu64 " matches, all the same; "
           "%.1f s in the folder, %.1f s in the cluster\n",
           queries, both.scheme->name, both.items, both.matches, both.local_seconds,
           both.shards_seconds);
    doppel_search_free(both.search);
    doppel_library_close(both.library);
    doppel_shards_close(both.shards);
    doppel_run_free(both.run);
    for (size_t i = 0; i < both.items; i++)
        doppel_fingerprint_free(&both.prints[i]);
    free(both.prints);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) != 0;
}
