/* usage: race-writers ADDRESS WRITERS PICTURES SEED [DEAD]
 *
 * Writers, a process each, decide at once about near copies of the same pictures, in batches of
 * their own: of the copies of each picture exactly one is new. With DEAD, a writer is killed on its
 * way: what it left pending is nobody's duplicate. Prints what came of it; exits 1 where that is
 * wrong.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doppel/shards.h>

#include "core/clock.h"
#include "match/images.h"

enum { BATCH_MOST = 64, WRITERS_MOST = 8 };

struct race {
    const char *address;
    size_t pictures, writers;
    uint64_t seed;
    uint32_t *new_of; /* by picture; shared by the processes */
    uint32_t *told;   /* decisions by picture */
};

static void ended(enum doppel_status status, const struct doppel_error *error)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

/* The picture as this writer has it: some bits are others. */
static struct doppel_fingerprint copy_of_picture(const struct race *race, size_t picture,
                                                 size_t writer)
{
    uint64_t state = 2 * (race->seed * 1000003 + picture) + 1;
    struct doppel_fingerprint made = make_fingerprint(DOPPEL_SCHEME_PDQ, 1, &state);
    state += 2 * writer;
    made.codes[0].word[writer % 4] ^= UINT64_C(1) << (random_word(&state) % 64);
    return made;
}

static void decide_batch(const struct race *race, struct doppel_shards *shards, size_t writer,
                         const size_t *pictures, size_t count)
{
    static char names[BATCH_MOST][48];
    static struct doppel_shards_item items[BATCH_MOST];
    static struct doppel_shards_decision decisions[BATCH_MOST];
    struct doppel_shards_decide_options options = {doppel_compare_options_default(), false};
    struct doppel_error error;
    char path[] = "";
    options.compare.schemes[DOPPEL_KIND_IMAGE] = *doppel_scheme_by_name("pdq");
    for (size_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "picture %zu of %zu", pictures[i], writer);
        items[i] = (struct doppel_shards_item){
            .item = {.path = path,
                     .record = {.kind = DOPPEL_KIND_IMAGE,
                                .scheme = DOPPEL_SCHEME_PDQ,
                                .version = options.compare.schemes[DOPPEL_KIND_IMAGE].version,
                                .quality = 100,
                                .fingerprint = copy_of_picture(race, pictures[i], writer)}},
            .about = {.external_id = names[i]}};
    }
    ended(doppel_shards_decide(shards, items, count, &options, decisions, &error), &error);
    for (size_t i = 0; i < count; i++) {
        const bool is_new = decisions[i].decision == DOPPEL_DECISION_NEW;
        if (!is_new && decisions[i].decision != DOPPEL_DECISION_DUPLICATE)
            fprintf(stderr, "neither new nor a duplicate\n"), exit(1);
        __atomic_add_fetch(&race->new_of[pictures[i]], is_new, __ATOMIC_RELAXED);
        __atomic_add_fetch(&race->told[pictures[i]], 1, __ATOMIC_RELAXED);
        doppel_shards_decision_free(&decisions[i]);
        doppel_fingerprint_free(&items[i].item.record.fingerprint);
    }
}

static void write_all(const struct race *race, size_t writer)
{
    const struct doppel_shards_options options = {.address = race->address};
    struct doppel_run *run;
    struct doppel_shards *shards;
    struct doppel_error error;
    uint64_t state = 2 * (race->seed + 77 * writer) + 1;
    size_t pictures[BATCH_MOST];
    ended(doppel_run_new(NULL, &run, &error), &error);
    ended(doppel_shards_open(run, &options, &shards, &error), &error);
    for (size_t at = 0; at < race->pictures;) {
        const size_t left = race->pictures - at, size = 1 + random_word(&state) % BATCH_MOST;
        const size_t count = left < size ? left : size;
        for (size_t i = 0; i < count; i++) /* some backwards, so that they meet crosswise */
            pictures[i] = writer % 2 ? at + count - 1 - i : at + i;
        decide_batch(race, shards, writer, pictures, count);
        at += count;
    }
    doppel_shards_close(shards);
    doppel_run_free(run);
}

static int count_wrong(const struct race *race, size_t least_told)
{
    int wrong = 0;
    for (size_t i = 0; i < race->pictures; i++)
        if (race->new_of[i] != 1 || race->told[i] < least_told) {
            fprintf(stderr, "picture %zu: %u times new of %u\n", i, race->new_of[i], race->told[i]);
            wrong++;
        }
    return wrong;
}

int main(int argc, char **argv)
{
    struct race race;
    pid_t writers[WRITERS_MOST] = {0};
    int failed = 0;
    if (argc < 5)
        return 2;
    race = (struct race){argv[1],
                         strtoul(argv[3], NULL, 10),
                         strtoul(argv[2], NULL, 10),
                         strtoul(argv[4], NULL, 10),
                         NULL,
                         NULL};
    const bool dead = argc > 5;
    race.new_of =
        mmap(NULL, 8 * race.pictures, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    race.told = race.new_of + race.pictures;
    if (race.writers > WRITERS_MOST || race.new_of == MAP_FAILED)
        return 2;
    const double start = monotonic_seconds();
    for (size_t i = 0; i < race.writers; i++)
        if (!(writers[i] = fork())) {
            write_all(&race, i);
            _exit(0);
        }
    if (dead) {
        usleep(60000);
        kill(writers[0], SIGKILL);
    }
    for (size_t i = 0; i < race.writers; i++) {
        int status;
        waitpid(writers[i], &status, 0);
        failed += status != 0 && !(dead && i == 0);
    }
    if (dead) { /* those that it kept and could not tell of are duplicates of its own now */
        if (!fork()) {
            write_all(&race, 0);
            _exit(0);
        }
        int status;
        wait(&status);
        failed += status != 0;
        for (size_t i = 0; i < race.pictures; i++)
            failed += race.new_of[i] > 1;
    } else {
        failed += count_wrong(&race, race.writers);
    }
    printf("%zu writers, %zu pictures, %.1f s: %d failures\n", race.writers, race.pictures,
           monotonic_seconds() - start, failed);
    return failed != 0;
}
