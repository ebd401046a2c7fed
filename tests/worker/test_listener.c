/* The parent's side of a stream: whatever its worker says, and whenever it ends. */
#include "helper.h"

#include <signal.h>
#include <time.h>

#include "core/bytes.h"
#include "worker/listening.h"

static struct doppel_listener *listen_with(const char *program, int fd)
{
    struct doppel_listen_options options = doppel_listen_options_default();
    struct doppel_listener *listener = NULL;
    struct doppel_error error = {0};
    options.program = program;
    if (doppel_listener_new(fd, &options, &listener, &error))
        fail_msg("%s", error.message);
    return listener;
}

static struct doppel_listener *listen_to_words(const char *words)
{
    int fd = file_of(words, strlen(words));
    lseek(fd, 0, SEEK_SET);
    return listen_with(FAKE_LISTENER, fd);
}

/* The next status, within 30 s; what was heard is thrown away. */
static enum doppel_status next_status(struct doppel_listener *listener, struct doppel_error *error)
{
    struct doppel_heard heard = {0};
    enum doppel_status status = doppel_listener_next(listener, 30000, &heard, error);
    free(heard.attachment);
    return status;
}

static void test_hears(void **state)
{
    (void)state;
    int fds = count_fds();
    struct doppel_listener *listener = listen_to_words("heard 0 gap 0 heard 0 end 0");
    struct doppel_heard heard;
    struct doppel_error error;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(doppel_listener_next(listener, 30000, &heard, NULL), DOPPEL_OK);
        assert_int_equal(heard.gap, i == 1);
        assert_true(heard.from == i && heard.until == i + 1);
        if (heard.gap)
            assert_null(heard.attachment);
        else
            assert_memory_equal(heard.attachment, "a track", heard.attachment_size);
        free(heard.attachment);
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(next_status(listener, &error), DOPPEL_E_NOT_FOUND);
    assert_string_equal(error.message, "the stream is at its end");
    doppel_listener_free(listener);
    assert_true(has_no_children());
    assert_int_equal(count_fds(), fds);
}

/* What was told before is heard before what ended it, which is told again as often as asked. */
static void test_ends(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        enum doppel_status status;
        const char *sentence;
    } ends[] = {
        {"heard 0 error 0", DOPPEL_E_CORRUPT, "a ?[31mred sentence ?"},
        {"heard 0 crash 0", DOPPEL_E_CRASH, "the decoder crashed (signal 11)"},
        {"heard 0 exit 0", DOPPEL_E_CRASH, "the decoder ended its process (exit code 7)"},
        {"heard 0", DOPPEL_E_CRASH, "the decoder ended its process (exit code 0)"},
        {"heard 0 twice 0", DOPPEL_E_CRASH, "the decoder went astray: its answer makes no sense"},
        {"heard 0 beside 0", DOPPEL_E_CRASH, "the decoder went astray: its answer makes no sense"},
        {"heard 0 heard 0 back 0 heard 0", DOPPEL_E_CRASH,
         "the decoder went astray: its answer makes no sense"},
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        int fds = count_fds();
        struct doppel_listener *listener = listen_to_words(ends[i].words);
        struct doppel_error error;
        assert_int_equal(next_status(listener, &error), DOPPEL_OK);
        while (next_status(listener, &error) == DOPPEL_OK)
            continue;
        for (int again = 0; again < 2; again++) {
            assert_int_equal(error.status, ends[i].status);
            assert_int_equal(next_status(listener, &error), ends[i].status);
            assert_string_equal(error.message, ends[i].sentence);
        }
        doppel_listener_free(listener);
        assert_true(has_no_children());
        assert_int_equal(count_fds(), fds);
    }
}

static void test_start_failures(void **state)
{
    (void)state;
    struct doppel_listen_options options = doppel_listen_options_default();
    struct doppel_listener *listener = NULL;
    struct doppel_error error = {0};
    int fds = count_fds();
    options.program = "/nowhere/doppel-worker";
    assert_int_equal(doppel_listener_new(file_of("", 0), &options, &listener, &error),
                     DOPPEL_E_NOT_FOUND);
    options.max_memory = 1 << 20;
    assert_int_equal(doppel_listener_new(file_of("", 0), &options, &listener, &error),
                     DOPPEL_E_ARGUMENT);
    assert_null(listener);
    options = doppel_listen_options_default();
    options.program = program_with("FAKE_START=1", FAKE_LISTENER);
    assert_int_equal(doppel_listener_new(file_of("", 0), &options, &listener, NULL), DOPPEL_OK);
    assert_int_equal(next_status(listener, &error), DOPPEL_E_IO);
    unlink(options.program);
    assert_non_null(strstr(error.message, "before it was ready"));
    doppel_listener_free(listener);
    assert_int_equal(count_fds(), fds);
}

static void ignore(int signal)
{
    (void)signal;
}

static void test_waits(void **state)
{
    (void)state;
    struct doppel_listener *listener = listen_to_words("heard 0 mute 0");
    struct doppel_heard heard;
    assert_int_equal(next_status(listener, NULL), DOPPEL_OK);
    assert_int_equal(doppel_listener_next(listener, 0, &heard, NULL), DOPPEL_E_TIMEOUT);
    assert_int_equal(doppel_listener_next(listener, 50, &heard, NULL), DOPPEL_E_TIMEOUT);
    struct sigaction action = {.sa_handler = ignore};
    sigaction(SIGALRM, &action, NULL);
    alarm(1);
    assert_int_equal(doppel_listener_next(listener, -1, &heard, NULL), DOPPEL_E_CANCELLED);
    doppel_listener_free(listener);
    assert_true(has_no_children());
}

/* A worker that nobody listens to waits, and takes no more memory. */
static void test_backpressure(void **state)
{
    (void)state;
    enum { WORDS = 100000 };
    char *words = malloc(WORDS * 8 + 1);
    for (int i = 0; i < WORDS; i++)
        memcpy(words + (size_t)i * 8, "heard 0 ", 9);
    struct doppel_listener *listener = listen_to_words(words);
    assert_int_equal(next_status(listener, NULL), DOPPEL_OK);
    int child = first_child();
    usleep(300000);
    long before = status_of(child, "VmRSS:");
    usleep(200000);
    assert_true(status_of(child, "VmRSS:") <= before);
    for (int i = 1; i < WORDS; i++)
        assert_int_equal(next_status(listener, NULL), DOPPEL_OK);
    doppel_listener_free(listener);
    free(words);
}

/* Bent frames are refused, or are sane. */
static void test_bent(void **state)
{
    (void)state;
    for (int seed = 0; seed < 300; seed++) {
        char words[64];
        snprintf(words, sizeof words, "%s %d end 0", seed % 3 ? "bend" : "garbage", seed);
        struct doppel_listener *listener = listen_to_words(words);
        struct doppel_heard heard;
        struct doppel_error error = {0};
        enum doppel_status status = doppel_listener_next(listener, 30000, &heard, &error);
        if (!status) {
            assert_true(heard.from <= heard.until && heard.from >= 0);
            assert_int_equal(heard.gap, heard.attachment == NULL);
            free(heard.attachment);
        } else {
            assert_true(strlen(error.message) > 0);
        }
        doppel_listener_free(listener);
    }
}

/* Where each field lies, as docs/worker.md has it, and values that it must not have. */
static void test_fields(void **state)
{
    (void)state;
    static const uint8_t track[] = {1, 2, 3};
    struct stretch stretch = {.from = 70000, .until = 80000, .track = track, .track_size = 3}, out;
    static const struct {
        size_t at, bytes;
        uint64_t value;
    } wrong[] = {{0, 4, 0},      {4, 2, 8},      {6, 2, 1},
                 {6, 2, 2},      {8, 8, 80001},  {8, 8, UINT64_MAX},
                 {16, 8, 69999}, {16, 8, 74999}, {16, 8, 1ull << 59}};
    uint8_t frame[64];
    size_t size = stretch_write(&stretch, frame, sizeof frame);
    assert_int_equal(size, 27);
    assert_true(stretch_read(frame, size, 75000, &out));
    assert_true(out.from == 70000 && out.until == 80000 && out.track_size == 3 && !out.gap);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint8_t bent[64], value[8];
        memcpy(bent, frame, size);
        put_u64(value, wrong[i].value);
        memcpy(bent + wrong[i].at, value, wrong[i].bytes);
        assert_false(stretch_read(bent, size, 75000, &out));
    }
    for (size_t less = 0; less < 25; less++)
        assert_false(stretch_read(frame, less, 0, &out));
    assert_int_equal(stretch_write(&stretch, frame, size - 1), 0);
    assert_int_equal(stretch_write(&stretch, frame, 5), 0);
}

static void test_orders(void **state)
{
    (void)state;
    struct listen_order order = {1ull << 30, 2, 44100, 6, DOPPEL_SANDBOX_NONE}, out;
    uint8_t frame[PROTOCOL_HELLO_BYTES];
    struct worker_limits limits;
    listen_write(&order, frame);
    assert_true(listen_read(frame, sizeof frame, &out));
    assert_true(out.max_memory == 1ull << 30 && out.pcm == 2 && out.pcm_rate == 44100 &&
                out.pcm_channels == 6 && out.sandbox == DOPPEL_SANDBOX_NONE);
    assert_false(hello_read(frame, sizeof frame, &limits));
    assert_false(listen_read(frame, sizeof frame - 1, &out));
    frame[6]++;
    assert_false(listen_read(frame, sizeof frame, &out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hears),  cmocka_unit_test(test_ends),
        cmocka_unit_test(test_waits),  cmocka_unit_test(test_start_failures),
        cmocka_unit_test(test_bent),   cmocka_unit_test(test_backpressure),
        cmocka_unit_test(test_fields), cmocka_unit_test(test_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
