/* Writers of pictures are killed at any moment, while two processes ask all the time: what was told
 * to be there is found, and what was told to be gone is not. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <doppel/library.h>
#include <doppel/match.h>

#include "library/derived/codes.h"
#include "tests/library/fixture.h"

enum { KILLS = 500, PICTURES = 4096, BATCH = 24, HEAD = 300, READERS = 2, MOST_MS = 30 };
enum { UNKNOWN, THERE, GONE };

/* What was told, by all processes. */
struct told {
    _Atomic int state[PICTURES];
    _Atomic uint64_t id[PICTURES];
    _Atomic uint64_t answers, commits;
    _Atomic bool done;
};

static struct told *told;
static const char *directory;

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t draw(uint64_t *random)
{
    return mix(*random += UINT64_C(0x9e3779b97f4a7c15));
}

static struct doppel_fingerprint code_of(uint64_t number, struct doppel_code *code,
                                         uint32_t *position)
{
    *position = 0;
    for (uint64_t word = 0; word < 4; word++)
        code->word[word] = mix(number * 4 + word + 1);
    return (struct doppel_fingerprint){.scheme = DOPPEL_SCHEME_PDQ,
                                       .version = doppel_scheme_by_id(DOPPEL_SCHEME_PDQ)->version,
                                       .code_bits = 256,
                                       .count = 1,
                                       .codes = code,
                                       .positions = position};
}

/* ---- processes: they tell of failures by their exit ---- */

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s\n", what);
    _exit(1);
}

static uint64_t add_picture(struct doppel_library *library, uint64_t number)
{
    struct doppel_code code;
    uint32_t position;
    char name[32];
    enum doppel_added added;
    struct doppel_error error = {0};
    uint64_t id = 0;
    const struct doppel_fingerprint fingerprint = code_of(number, &code, &position);
    snprintf(name, sizeof name, "%d", (int)number);
    const struct doppel_metadata about = {.external_id = name};
    const struct doppel_item item = {.record = {.kind = DOPPEL_KIND_IMAGE,
                                                .scheme = fingerprint.scheme,
                                                .version = fingerprint.version,
                                                .quality = 100,
                                                .fingerprint = fingerprint}};
    must(!doppel_library_import(library, &item, &about, &added, &id, &error), error.message);
    return id;
}

/* Nothing is told of a picture while it changes. */
static void change_some(struct doppel_library *library, uint64_t *random)
{
    uint64_t numbers[BATCH], ids[BATCH];
    bool adds[BATCH];
    struct doppel_error error = {0};
    for (size_t i = 0; i < BATCH; i++) {
        numbers[i] = draw(random) % PICTURES;
        for (size_t j = 0; j < i; j++)
            if (numbers[j] == numbers[i])
                return;
    }
    for (size_t i = 0; i < BATCH; i++) {
        adds[i] = told->state[numbers[i]] != THERE || draw(random) % 4;
        told->state[numbers[i]] = UNKNOWN;
    }
    for (size_t i = 0; i < BATCH; i++) {
        ids[i] = add_picture(library, numbers[i]);
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

static bool take_id(void *context, const struct doppel_found *found)
{
    uint64_t *id = context;
    must(!*id, "a picture is found twice");
    *id = found->id;
    return true;
}

static void ask_one(struct doppel_library *library, uint64_t number)
{
    struct doppel_code code;
    uint32_t position;
    uint64_t found = 0;
    struct doppel_error error = {0};
    const struct doppel_match_options options = doppel_match_options_default();
    const struct doppel_fingerprint fingerprint = code_of(number, &code, &position);
    const struct doppel_match_item query = {&fingerprint, 100};
    const int before = told->state[number];
    const uint64_t id = told->id[number];
    must(!doppel_library_find_images(library, &query, &options, take_id, &found, &error),
         error.message);
    if (before == UNKNOWN || told->state[number] != before || told->id[number] != id)
        return; /* it was being changed */
    must(before != THERE || found == id, "what was told to be there is not found");
    must(before != GONE || !found, "what was told to be gone is found");
    told->answers++;
}

static void ask_on(uint64_t random)
{
    const struct doppel_library_options reading = {.read_only = true};
    struct doppel_library *library;
    struct doppel_error error = {0};
    must(!doppel_library_open(directory, &reading, &library, &error), error.message);
    while (!told->done)
        ask_one(library, draw(&random) % PICTURES);
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

/* ---- the test ---- */

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

/* An index of which a segment is made, and merged, again and again. */
static void make_with_small_head(void)
{
    struct doppel_library *library;
    struct code_names names;
    const struct doppel_library_options making = {.create = true};
    const struct doppel_index_load nothing = {.read = no_codes, .rewind = no_rewind};
    assert_int_equal(doppel_library_open(directory, &making, &library, NULL), DOPPEL_OK);
    assert_true(code_names_make(directory, CODES_PDQ, &names));
    names.make.head_codes = HEAD;
    assert_int_equal(doppel_store_index_build(library->store, &names.options, &nothing, NULL),
                     DOPPEL_OK);
    code_names_free(&names);
    doppel_library_close(library);
}

static bool no_problem(void *context, const struct doppel_problem *problem)
{
    (void)context;
    fail_msg("%s", problem->detail);
    return false;
}

static void test_killed(void **state)
{
    pid_t readers[READERS];
    uint64_t random = 1;
    int status;
    directory = directory_of(*state);
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(told, MAP_FAILED);
    make_with_small_head();
    for (int i = 0; i < READERS; i++)
        readers[i] = start(ask_on, (uint64_t)i + 1000);
    for (int i = 0; i < KILLS; i++) {
        pid_t writer = start(write_on, (uint64_t)i);
        let_live(writer, i % 2, &random);
        assert_int_equal(kill(writer, SIGKILL), 0);
        assert_int_equal(waitpid(writer, &status, 0), writer);
        if (WIFEXITED(status))
            fail_msg("the writer ended by itself, with %d", WEXITSTATUS(status));
    }
    told->done = true;
    for (int i = 0; i < READERS; i++) {
        assert_int_equal(waitpid(readers[i], &status, 0), readers[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    struct doppel_library *library = open_library(*state);
    assert_int_equal(doppel_library_verify(library, false, no_problem, NULL, NULL), DOPPEL_OK);
    doppel_library_close(library);
    assert_true(told->answers > KILLS && told->commits >= KILLS / 2);
    printf("%d kills, %llu commits, %llu answers\n", KILLS, (unsigned long long)told->commits,
           (unsigned long long)told->answers);
    munmap(told, sizeof *told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_FOLDER(test_killed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
