/* Files read by calls: one by path, bytes and descriptor, and a folder of them in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <doppel/intake.h>

#define FOX                                                                                        \
    "the old fox lives in the deep wood behind the long hill where the brown bear sleeps all "     \
    "winter and dreams of honey and of the warm days of the next summer when the bees come back "

enum { PATHS = 4, THREADS = 4 };

struct fixture {
    char folder[64];
    char paths[PATHS][96]; /* an image, a broken PNG, an empty file, a text */
    struct doppel_run *run;
    uint64_t failures;
};

static void count_failure(void *context, const char *path, const struct doppel_error *reason)
{
    struct fixture *fixture = context;
    (void)path, (void)reason;
    fixture->failures++;
}

static void write_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void put_number(unsigned char *at, uint32_t number)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(number >> 8 * i);
}

/* A BMP of a slope with a bright disc. */
static void write_image(const char *path)
{
    enum { SIDE = 160, HEAD = 54, SIZE = HEAD + SIDE * SIDE * 3 };
    static unsigned char bytes[SIZE] = {'B', 'M', [10] = HEAD, [14] = 40, [26] = 1, [28] = 24};
    put_number(bytes + 2, SIZE);
    put_number(bytes + 18, SIDE);
    put_number(bytes + 22, SIDE);
    for (int i = 0; i < SIDE * SIDE * 3; i++) {
        int x = i / 3 % SIDE, y = i / 3 / SIDE, dx = x - 50, dy = y - 60;
        bytes[HEAD + i] = (unsigned char)(dx * dx + dy * dy < 900 ? 230 : x / 2 + y / 3);
    }
    write_bytes(path, bytes, SIZE);
}

static int make_folder(void **state)
{
    static const char *const names[PATHS] = {"a.bmp", "b.png", "c.txt", "d.txt"};
    static const char broken[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0";
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    strcpy(fixture->folder, "/tmp/doppel-intake-XXXXXX");
    assert_non_null(mkdtemp(fixture->folder));
    for (int i = 0; i < PATHS; i++)
        snprintf(fixture->paths[i], sizeof fixture->paths[i], "%s/%s", fixture->folder, names[i]);
    write_image(fixture->paths[0]);
    write_bytes(fixture->paths[1], broken, sizeof broken - 1);
    write_bytes(fixture->paths[2], "", 0);
    write_bytes(fixture->paths[3], FOX, strlen(FOX));
    struct doppel_run_options options = doppel_run_options_default();
    options.on_failed = count_failure;
    options.context = fixture;
    assert_int_equal(doppel_run_new(&options, &fixture->run, NULL), DOPPEL_OK);
    *state = fixture;
    return 0;
}

static int remove_folder(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < PATHS; i++)
        unlink(fixture->paths[i]);
    rmdir(fixture->folder);
    doppel_run_free(fixture->run);
    free(fixture);
    return 0;
}

static struct doppel_record read_input(struct doppel_run *run, struct doppel_input input)
{
    struct doppel_record record = {0};
    struct doppel_error error = {0};
    if (doppel_fingerprint(run, &input, NULL, &record, &error))
        fail_msg("%s", error.message);
    return record;
}

static void assert_same_record(const struct doppel_record *a, const struct doppel_record *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->scheme, b->scheme);
    assert_memory_equal(&a->digest, &b->digest, sizeof a->digest);
    assert_int_equal(a->fingerprint.count, b->fingerprint.count);
    assert_memory_equal(a->fingerprint.codes, b->fingerprint.codes,
                        a->fingerprint.count * sizeof *a->fingerprint.codes);
    assert_int_equal(a->attachment_size, b->attachment_size);
    assert_memory_equal(a->attachment, b->attachment, a->attachment_size);
}

static void a_file_is_the_same_however_it_is_given(void **state)
{
    struct fixture *fixture = *state;
    const struct doppel_digest digest = doppel_digest_bytes(FOX, strlen(FOX));
    int fd = open(fixture->paths[3], O_RDONLY | O_CLOEXEC);
    assert_true(fd > 0);
    struct doppel_record by_path =
        read_input(fixture->run, (struct doppel_input){.path = fixture->paths[3]});
    struct doppel_record by_bytes =
        read_input(fixture->run, (struct doppel_input){.bytes = FOX, .size = strlen(FOX)});
    struct doppel_record by_descriptor =
        read_input(fixture->run, (struct doppel_input){.descriptor = fd});
    assert_int_equal(by_path.kind, DOPPEL_KIND_TEXT);
    assert_memory_equal(&by_path.digest, &digest, sizeof digest);
    assert_same_record(&by_path, &by_bytes);
    assert_same_record(&by_path, &by_descriptor);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC); /* it is still the caller's */
    close(fd);
    doppel_record_free(&by_path);
    doppel_record_free(&by_bytes);
    doppel_record_free(&by_descriptor);
}

static void a_pipe_is_read_to_its_end(void **state)
{
    struct fixture *fixture = *state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], FOX, strlen(FOX)), strlen(FOX));
    close(ends[1]);
    struct doppel_record piped =
        read_input(fixture->run, (struct doppel_input){.descriptor = ends[0]});
    struct doppel_record by_path =
        read_input(fixture->run, (struct doppel_input){.path = fixture->paths[3]});
    assert_same_record(&piped, &by_path);
    close(ends[0]);
    doppel_record_free(&piped);
    doppel_record_free(&by_path);
}

static enum doppel_status status_of(struct doppel_run *run, struct doppel_input input)
{
    struct doppel_record record;
    struct doppel_error error = {0};
    enum doppel_status status = doppel_fingerprint(run, &input, NULL, &record, &error);
    if (status)
        assert_true(error.message[0]);
    else
        doppel_record_free(&record);
    return status;
}

static void what_cannot_be_read_has_a_reason(void **state)
{
    struct fixture *fixture = *state;
    struct doppel_run *run = fixture->run;
    struct doppel_input folder = {.path = fixture->folder}, empty = {.path = fixture->paths[2]};
    struct doppel_input broken = {.path = fixture->paths[1]}, gone = {.path = "/no/such/file"};
    struct doppel_input noise = {.bytes = "\0\1\2\3\4\0\0\0", .size = 8};
    struct doppel_input nothing = {.descriptor = -1}, no_bytes = {.size = 8};
    assert_int_equal(status_of(run, folder), DOPPEL_E_ARGUMENT);
    assert_int_equal(status_of(run, nothing), DOPPEL_E_ARGUMENT);
    assert_int_equal(status_of(run, no_bytes), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_intake_open(run, NULL, NULL, &(struct doppel_intake *){NULL}, NULL),
                     DOPPEL_E_ARGUMENT);
    assert_int_equal(status_of(run, empty), DOPPEL_E_EMPTY);
    assert_int_equal(status_of(run, broken), DOPPEL_E_CORRUPT);
    assert_int_equal(status_of(run, gone), DOPPEL_E_NOT_FOUND);
    assert_int_not_equal(status_of(run, noise), DOPPEL_OK);
    assert_int_equal(fixture->failures, 0); /* the caller has been told by the status */
    doppel_run_cancel(run);
    assert_int_equal(status_of(run, empty), DOPPEL_E_CANCELLED);
}

static void files_come_in_order(void **state)
{
    struct fixture *fixture = *state;
    const char *const folder[] = {fixture->folder};
    const struct doppel_walk_options walk = {.paths = {folder, 1}};
    static const struct {
        int path;
        enum doppel_status status;
    } wanted[] = {{0, DOPPEL_OK}, {1, DOPPEL_E_CORRUPT}, {3, DOPPEL_OK}}; /* not the empty one */
    struct doppel_intake *intake;
    struct doppel_file file;
    assert_int_equal(doppel_intake_open(fixture->run, &walk, NULL, &intake, NULL), DOPPEL_OK);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        assert_int_equal(doppel_intake_next(intake, &file, NULL), DOPPEL_OK);
        assert_string_equal(file.path, fixture->paths[wanted[i].path]);
        assert_int_equal(file.record.error.status, wanted[i].status);
        doppel_file_free(&file);
    }
    assert_int_equal(doppel_intake_next(intake, &file, NULL), DOPPEL_E_NOT_FOUND);
    doppel_intake_free(intake);
    doppel_intake_free(NULL);
}

static void *read_many(void *context)
{
    struct fixture *fixture = context;
    static const int readable[] = {0, 3};
    for (int i = 0; i < 4; i++) {
        const struct doppel_input input = {.path = fixture->paths[readable[i % 2]]};
        struct doppel_record record;
        if (doppel_fingerprint(fixture->run, &input, NULL, &record, NULL))
            return fixture;
        doppel_record_free(&record);
    }
    return NULL;
}

/* How many processes this one has started that are there still, by all its threads. */
static int count_children(void)
{
    char line[4096];
    int count = 0;
    FILE *listing = popen("cat /proc/$PPID/task/*/children | wc -w", "r");
    assert_non_null(listing);
    assert_non_null(fgets(line, sizeof line, listing));
    count = atoi(line);
    pclose(listing);
    return count - 1; /* the shell */
}

/* One after the other, each in a thread of its own: one worker and one open cache serve all; a
 * cache that was removed meanwhile is made anew. */
static void calls_leave_their_workers_to_the_next(void **state)
{
    struct fixture *fixture = *state;
    static const char *const endings[] = {"", "-wal", "-shm"};
    char cache[96], path[128];
    snprintf(cache, sizeof cache, "%s/cache.db", fixture->folder);
    doppel_run_free(fixture->run);
    struct doppel_run_options options = doppel_run_options_default();
    options.cache = cache;
    assert_int_equal(doppel_run_new(&options, &fixture->run, NULL), DOPPEL_OK);
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        void *failed;
        assert_int_equal(pthread_create(&thread, NULL, read_many, fixture), 0);
        pthread_join(thread, &failed);
        assert_null(failed);
        assert_int_equal(count_children(), 1);
        assert_int_equal(access(cache, F_OK), 0);
        for (size_t j = 0; j < sizeof endings / sizeof *endings; j++) {
            snprintf(path, sizeof path, "%s%s", cache, endings[j]);
            unlink(path);
        }
    }
    doppel_run_free(fixture->run);
    fixture->run = NULL;
    assert_int_equal(count_children(), 0);
}

static void threads_share_a_run(void **state)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_many, *state), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
}

/* What the cache has of a file is whole, and nothing that can be read. */
static void spoil_record(const char *path, struct doppel_record *record)
{
    struct doppel_cache *cache;
    assert_int_equal(doppel_cache_open(path, &cache, NULL, NULL), DOPPEL_OK);
    record->attachment_size--;
    assert_int_equal(doppel_cache_put_record(cache, record, NULL), DOPPEL_OK);
    record->attachment_size++;
    doppel_cache_close(cache);
}

static void remove_cache(const char *path)
{
    static const char *const endings[] = {"", "-wal", "-shm"};
    char name[160];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        unlink(name);
    }
}

static void what_a_cache_cannot_mean_is_read_again(void **state)
{
    const struct fixture *fixture = *state;
    char cache[128];
    snprintf(cache, sizeof cache, "%s/cache.db", fixture->folder);
    for (int i = 0; i < PATHS; i += 3) { /* the image, the text */
        const struct doppel_input input = {.path = fixture->paths[i]};
        struct doppel_run *run;
        struct doppel_run_options options = doppel_run_options_default();
        struct doppel_record records[3];
        options.cache = cache;
        for (int k = 0; k < 3; k++) {
            assert_int_equal(doppel_run_new(&options, &run, NULL), DOPPEL_OK);
            records[k] = read_input(run, input);
            doppel_run_free(run);
            assert_same_record(&records[0], &records[k]);
            if (k == 0)
                spoil_record(cache, &records[0]);
        }
        for (int k = 0; k < 3; k++)
            doppel_record_free(&records[k]);
    }
    remove_cache(cache);
}

/* Limits that are not given are the usual ones, also of what the cache knows. */
static void a_cache_serves_a_run_without_options(void **state)
{
    const struct fixture *fixture = *state;
    char cache[128];
    struct doppel_run *run;
    snprintf(cache, sizeof cache, "%s/cache.db", fixture->folder);
    assert_int_equal(doppel_run_new(&(struct doppel_run_options){.cache = cache}, &run, NULL),
                     DOPPEL_OK);
    const struct doppel_input input = {.path = fixture->paths[0]};
    struct doppel_record first = read_input(run, input), again = read_input(run, input);
    assert_same_record(&first, &again);
    doppel_record_free(&first);
    doppel_record_free(&again);
    doppel_run_free(run);
    remove_cache(cache);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_file_is_the_same_however_it_is_given),
        IN_FOLDER(a_pipe_is_read_to_its_end),
        IN_FOLDER(what_cannot_be_read_has_a_reason),
        IN_FOLDER(files_come_in_order),
        IN_FOLDER(threads_share_a_run),
        IN_FOLDER(calls_leave_their_workers_to_the_next),
        IN_FOLDER(a_cache_serves_a_run_without_options),
        IN_FOLDER(what_a_cache_cannot_mean_is_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
