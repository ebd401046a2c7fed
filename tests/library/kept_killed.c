/* Writers of a kind of items are killed at any moment, while two processes ask all the time: what
 * was acknowledged is found, and what was taken out is not. */
#include "tests/library/kept_killed.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/library/fixture.h"

enum { NUMBERS = 1024, BATCH = 24, HEAD = 300, READERS = 2, MOST_MS = 30 };
enum { UNKNOWN, THERE, GONE };

/* What was acknowledged, by all processes. */
struct told {
    _Atomic int state[NUMBERS];
    _Atomic uint64_t id[NUMBERS];
    _Atomic uint64_t answers, commits;
    _Atomic bool done;
};

static struct told *told;
static const char *directory;
static const struct kept_kind *kind;

static uint64_t draw(uint64_t *random)
{
    uint64_t z = *random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* ---- processes: they tell of failures by their exit ---- */

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s: %s\n", kind->name, what);
    _exit(1);
}

/* False: some number would come twice. */
static bool draw_numbers(uint64_t *random, uint64_t *out_numbers)
{
    for (size_t i = 0; i < BATCH; i++) {
        out_numbers[i] = draw(random) % NUMBERS;
        for (size_t j = 0; j < i; j++)
            if (out_numbers[j] == out_numbers[i])
                return false;
    }
    return true;
}

/* Nothing is acknowledged of an item while it changes. */
static void change_some(struct doppel_library *library, uint64_t *random)
{
    uint64_t numbers[BATCH], ids[BATCH];
    bool adds[BATCH];
    struct doppel_error error = {0};
    if (!draw_numbers(random, numbers))
        return;
    for (size_t i = 0; i < BATCH; i++) {
        adds[i] = told->state[numbers[i]] != THERE || draw(random) % 4;
        told->state[numbers[i]] = UNKNOWN;
    }
    for (size_t i = 0; i < BATCH; i++) {
        must(!kind->put(kind, library, numbers[i], &ids[i], &error), error.message);
        if (!adds[i])
            must(!doppel_library_remove(library, ids[i], &error), error.message);
    }
    must(!doppel_library_commit(library, &error), error.message);
    for (size_t i = 0; i < BATCH; i++) {
        told->id[numbers[i]] = ids[i];
        told->state[numbers[i]] = adds[i] ? THERE : GONE;
    }
    told->commits++;
}

static void write_on(uint64_t random)
{
    struct doppel_library *library;
    struct doppel_error error = {0};
    must(!doppel_library_open(directory, NULL, &library, &error), error.message);
    for (;;)
        change_some(library, &random);
}

static void ask_one(struct doppel_library *library, uint64_t number)
{
    uint64_t found = 0;
    size_t count = 0;
    struct doppel_error error = {0};
    const int before = told->state[number];
    const uint64_t id = told->id[number];
    must(!kind->find(kind, library, number, &count, &found, &error), error.message);
    if (before == UNKNOWN || told->state[number] != before || told->id[number] != id)
        return; /* it was being changed */
    must(before != THERE || (count == 1 && found == id),
         "what was acknowledged is not found, or not once");
    must(before != GONE || !count, "what was taken out is found");
    told->answers++;
}

static void ask_on(uint64_t random)
{
    const struct doppel_library_options reading = {.read_only = true};
    struct doppel_library *library;
    struct doppel_error error = {0};
    must(!doppel_library_open(directory, &reading, &library, &error), error.message);
    while (!told->done)
        ask_one(library, draw(&random) % NUMBERS);
    doppel_library_close(library);
    _exit(0);
}

static pid_t start(void (*work)(uint64_t random), uint64_t random)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child)
        work(random);
    return child;
}

/* ---- killing ---- */

static void sleep_up_to(uint64_t *random, long milliseconds)
{
    const uint64_t nanoseconds = draw(random) % ((uint64_t)milliseconds * 1000000 + 1);
    nanosleep(&(struct timespec){.tv_nsec = (long)nanoseconds}, NULL);
}

static bool has_ended(pid_t child)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == child;
}

/* At any moment of its life; every other one a while after its first commit, however long a slow
 * machine takes for that. */
static void let_live(pid_t writer, bool until_commit, uint64_t *random)
{
    const uint64_t commits = told->commits;
    while (until_commit && told->commits == commits && !has_ended(writer))
        sleep_up_to(random, 1);
    sleep_up_to(random, MOST_MS);
}

static size_t no_codes(void *context, uint64_t *codes, uint64_t *payloads, size_t max)
{
    (void)context, (void)codes, (void)payloads, (void)max;
    return 0;
}

static void no_rewind(void *context)
{
    (void)context;
}

static bool no_item(void *context, struct doppel_index_item *out)
{
    (void)context, (void)out;
    return false;
}

/* An index of which a segment is made, and merged, again and again. */
static void make_with_small_head(struct doppel_library *library, enum code_table table)
{
    struct code_names names;
    const struct doppel_index_load codes = {.read = no_codes, .rewind = no_rewind};
    const struct doppel_index_load items = {.read_item = no_item};
    assert_true(code_names_make(directory, table, &names));
    names.make.head_codes = HEAD;
    assert_int_equal(doppel_store_index_build(library->store, &names.options,
                                              is_passage_table(table) ? &items : &codes, NULL),
                     DOPPEL_OK);
    code_names_free(&names);
}

static void make_library(void)
{
    struct doppel_library *library;
    const struct doppel_library_options making = {.create = true};
    assert_int_equal(doppel_library_open(directory, &making, &library, NULL), DOPPEL_OK);
    for (size_t i = 0; i < kind->table_count; i++)
        make_with_small_head(library, kind->tables[i]);
    kept_prepare(kind, library);
    doppel_library_close(library);
}

static void kill_writers(int kills)
{
    uint64_t random = 1;
    int status;
    for (int i = 0; i < kills; i++) {
        pid_t writer = start(write_on, (uint64_t)i);
        let_live(writer, i % 2, &random);
        assert_int_equal(kill(writer, SIGKILL), 0);
        assert_int_equal(waitpid(writer, &status, 0), writer);
        if (WIFEXITED(status))
            fail_msg("the writer ended by itself, with %d", WEXITSTATUS(status));
    }
}

static bool no_problem(void *context, const struct doppel_problem *problem)
{
    (void)context;
    fail_msg("%s", problem->detail);
    return false;
}

void kept_kill_writers(const struct kept_kind *of, const char *folder, int kills)
{
    pid_t readers[READERS];
    int status;
    kind = of;
    directory = directory_of(folder);
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(told, MAP_FAILED);
    make_library();
    for (int i = 0; i < READERS; i++)
        readers[i] = start(ask_on, (uint64_t)i + 1000);
    kill_writers(kills);
    told->done = true;
    for (int i = 0; i < READERS; i++) {
        assert_int_equal(waitpid(readers[i], &status, 0), readers[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    struct doppel_library *library = open_library(folder);
    assert_int_equal(doppel_library_verify(library, false, no_problem, NULL, NULL), DOPPEL_OK);
    doppel_library_close(library);
    printf("%s: %d kills, %llu commits, %llu answers\n", kind->name, kills,
           (unsigned long long)told->commits, (unsigned long long)told->answers);
    assert_true(told->answers > (uint64_t)kills && told->commits >= (uint64_t)kills / 2);
    munmap(told, sizeof *told);
}
