/* monitor: what it prints of files, standard input and FIFOs, and when. */
#include "command.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collection.h"
#include "audio.h"

enum { WAV_HEADER = 44, SECOND_BYTES = 2 * AUDIO_RATE };

/* The number after a key in the line of this event of this file; fails the test without one. */
static double number_in(const char *json, const char *event, const char *file, const char *key)
{
    char first[64], name[64], quoted[64];
    snprintf(first, sizeof first, "{\"event\":\"%s\"", event);
    snprintf(name, sizeof name, "/%s\"", file);
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    for (const char *line = json; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *end = strchrnul(line, '\n'), *named = strstr(line, name);
        const char *at = strstr(line, quoted);
        if (strncmp(line, first, strlen(first)) == 0 && named && named < end && at && at < end)
            return strtod(at + strlen(quoted), NULL);
    }
    fail_msg("no %s of %s with %s in %s", event, file, key, json);
    return 0;
}

static void expect_play(const char *json, const char *file, double start, double end, double from)
{
    double told = number_in(json, "start", file, "stream_start");
    assert_true(fabs(told - start) < 0.4);
    assert_true(fabs(number_in(json, "start", file, "item_start") - from - told + start) < 0.1);
    assert_true(fabs(number_in(json, "end", file, "stream_start") - told) < 0.001);
    assert_true(fabs(number_in(json, "end", file, "stream_end") - end) < 0.6);
    assert_true(number_in(json, "start", file, "false_positive_rate") < 1e-5);
}

/* A library of a.wav and b.wav, 20 s each, and stream.wav: noise, b from its tenth second on (5 to
 * 15), a (20 to 40), noise until 45. */
static void make_radio(void)
{
    struct recording a = audio_music(20, 1), b = audio_music(20, 2), part = audio_cut(&b, 10, 10);
    struct recording stream = audio_noise(45, 3);
    audio_gain(&stream, 0.05);
    audio_paste(&stream, 5, &part);
    audio_paste(&stream, 20, &a);
    keep_wav("a.wav", a);
    keep_wav("b.wav", b);
    keep_wav("stream.wav", stream);
    free(part.samples);
    free(doppel_prints(0, "add", "-L", "lib", "a.wav", "b.wav"));
}

static void expect_radio(const char *json)
{
    assert_int_equal(count_lines(json, "\"start\""), 2);
    assert_int_equal(count_lines(json, "\"end\""), 2);
    assert_int_equal(count_lines(json, ""), 4);
    expect_play(json, "b.wav", 5, 15, 10);
    expect_play(json, "a.wav", 20, 40, 0);
}

static void a_file_is_heard(void **state)
{
    (void)state;
    make_radio();
    char *json = doppel_prints(0, "monitor", "-L", "lib", "--json", "stream.wav");
    expect_radio(json);
    char *table = doppel_prints(0, "monitor", "-L", "lib", "stream.wav");
    assert_has(table, "in the item");
    assert_int_equal(count_lines(table, "/a.wav"), 2);
    char *csv = doppel_prints(0, "monitor", "-L", "lib", "--format", "csv", "stream.wav");
    assert_has(csv, "event,stream_start,stream_end,item_start,id,score,false_positive_rate,"
                    "artist,title,album,path");
    free(csv);
    free(table);
    free(json);
}

static void standard_input_is_heard(void **state)
{
    (void)state;
    size_t size;
    make_radio();
    char *wav = read_file("stream.wav", &size);
    struct setting piped = {.input = wav, .input_size = size};
    struct ran ran = doppel_with(&piped, "monitor", "-L", "lib", "--json", "-");
    assert_code(&ran, 0);
    expect_radio(ran.out);
    struct setting raw = {.input = wav + WAV_HEADER, .input_size = size - WAV_HEADER};
    struct ran same =
        doppel_with(&raw, "monitor", "-L", "lib", "--json", "--pcm", "s16le:11025:1", "-");
    assert_code(&same, 0);
    assert_string_equal(same.out, ran.out);
    ran_free(&same);
    ran_free(&ran);
    free(wav);
}

/* ---- a FIFO, written bit by bit ---- */

static struct running listen_to_fifo(int *out_fd)
{
    assert_int_equal(mkfifo("radio", 0600), 0);
    struct running running =
        command_start(NULL, (const char *const[]){"monitor", "-L", "lib", "--json", "--pcm",
                                                  "s16le:11025:1", "radio", NULL});
    *out_fd = open("radio", O_WRONLY | O_CLOEXEC);
    assert_true(*out_fd >= 0);
    return running;
}

static void play(int fd, const char *wav, double from, double to)
{
    size_t at = (size_t)(from * AUDIO_RATE) * 2, end = (size_t)(to * AUDIO_RATE) * 2;
    while (at < end) {
        ssize_t written = write(fd, wav + WAV_HEADER + at, end - at);
        assert_true(written > 0);
        at += (size_t)written;
    }
}

/* Wait until `part` is printed; at most 60 s. */
static void wait_for(const struct running *running, const char *part)
{
    char text[8192] = "";
    double began = now_seconds();
    while (!strstr(text, part)) {
        if (now_seconds() - began > 60)
            fail_msg("no %s in %s", part, text);
        pause_ms(50);
        ssize_t got = pread(running->out, text, sizeof text - 1, 0);
        text[got > 0 ? got : 0] = 0;
    }
}

/* What is added while it listens is heard, what is removed is not; each is told when it is known.
 */
static void a_fifo_is_heard(void **state)
{
    (void)state;
    size_t size;
    int fd;
    make_radio();
    keep_wav("late.wav", audio_music(15, 9));
    char *wav = read_file("stream.wav", &size), *late = read_file("late.wav", &size);
    struct running running = listen_to_fifo(&fd);
    play(fd, wav, 0, 15);
    wait_for(&running, "b.wav");
    free(doppel_prints(0, "add", "-L", "lib", "late.wav"));
    free(doppel_prints(0, "remove", "-L", "lib", "a.wav"));
    pause_ms(4000);
    play(fd, late, 0, 15);
    wait_for(&running, "late.wav");
    play(fd, wav, 20, 45);
    close(fd);
    struct ran ran = command_end(&running);
    assert_code(&ran, 0);
    expect_play(ran.out, "b.wav", 5, 15, 10);
    expect_play(ran.out, "late.wav", 15, 30, 0);
    assert_lacks(ran.out, "/a.wav");
    ran_free(&ran);
    free(late);
    free(wav);
}

/* What is heard ends, and that it was interrupted is said. */
static void an_interrupt_ends_it(void **state)
{
    (void)state;
    size_t size;
    int fd;
    make_radio();
    char *wav = read_file("stream.wav", &size);
    struct running running = listen_to_fifo(&fd);
    play(fd, wav, 0, 12);
    wait_for(&running, "b.wav");
    kill(running.pid, SIGINT);
    struct ran ran = command_end(&running);
    assert_code(&ran, 130);
    assert_has(ran.err, "doppel: interrupted");
    assert_has(ran.out, "\n{\"event\":\"end\"");
    assert_int_equal(count_lines(ran.out, ""), 2);
    ran_free(&ran);
    close(fd);
    free(wav);
}

/* ---- what goes wrong ---- */

static void what_is_no_audio_is_said(void **state)
{
    (void)state;
    make_radio();
    static const struct {
        const char *input, *operand, *sentence;
    } wrong[] = {
        {"words and words and words and words", "-", "doppel: standard input: "},
        {"words and words and words and words", "-", "--pcm s16le:44100:2"},
        {"", "-", "is empty"},
        {NULL, "nothing.wav", "doppel: nothing.wav: "},
        {NULL, "http://radio.example/live", "only files, FIFOs and standard input"},
        {NULL, "lib", "lib: Is a directory"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct setting setting = {.input = wrong[i].input};
        struct ran ran = doppel_with(&setting, "monitor", "-L", "lib", "--json", wrong[i].operand);
        assert_code(&ran, 3);
        assert_has(ran.err, wrong[i].sentence);
        assert_string_equal(ran.out, "");
        ran_free(&ran);
    }
}

static void a_library_is_wanted(void **state)
{
    (void)state;
    keep_wav("stream.wav", audio_music(12, 1));
    struct ran ran = doppel("monitor", "-L", "lib", "stream.wav");
    assert_code(&ran, 2);
    ran_free(&ran);
    make_folder("pics");
    keep_drawing("pics/a.png", 1, 1);
    free(doppel_prints(0, "add", "-L", "lib", "pics"));
    struct ran bare = doppel("monitor", "-L", "lib", "stream.wav");
    assert_code(&bare, 0);
    assert_has(bare.err, "no recordings yet");
    assert_string_equal(bare.out, "");
    ran_free(&bare);
}

/* Audio that breaks off is heard as far as it goes. */
static void a_stream_may_break_off(void **state)
{
    (void)state;
    make_radio();
    copy_part("stream.wav", "part.wav", WAV_HEADER + 30 * SECOND_BYTES + 1);
    char *json = doppel_prints(0, "monitor", "-L", "lib", "--json", "part.wav");
    expect_play(json, "a.wav", 20, 30, 0);
    free(json);
}

/* A decoder that dies is started again where the stream stands, if it had told something. */
static void a_decoder_is_started_again(void **state)
{
    (void)state;
    make_radio();
    struct setting setting = {.input = "gap 0 gap 0 crash 0 gap 0 gap 0 end 0",
                              .environment = {"DOPPEL_WORKER=" FAKE_LISTENER}};
    struct ran ran = doppel_with(&setting, "monitor", "-L", "lib", "--json", "-");
    assert_code(&ran, 0);
    assert_has(ran.err, "standard input: the decoder crashed (signal 11); listening goes on");
    assert_string_equal(ran.out, "{\"event\":\"gap\",\"stream_start\":0.0,\"stream_end\":1.0}\n"
                                 "{\"event\":\"gap\",\"stream_start\":1.0,\"stream_end\":2.0}\n"
                                 "{\"event\":\"gap\",\"stream_start\":2.0,\"stream_end\":2.0}\n"
                                 "{\"event\":\"gap\",\"stream_start\":2.0,\"stream_end\":3.0}\n"
                                 "{\"event\":\"gap\",\"stream_start\":3.0,\"stream_end\":4.0}\n");
    ran_free(&ran);
    setting.input = "gap 0 gap 0 crash 0 crash 0";
    ran = doppel_with(&setting, "monitor", "-L", "lib", "--json", "-");
    assert_code(&ran, 3);
    assert_has(ran.err, "doppel: standard input: the decoder crashed (signal 11)\n");
    ran_free(&ran);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(a_file_is_heard),          IN_SANDBOX(standard_input_is_heard),
        IN_SANDBOX(a_fifo_is_heard),          IN_SANDBOX(an_interrupt_ends_it),
        IN_SANDBOX(what_is_no_audio_is_said), IN_SANDBOX(a_library_is_wanted),
        IN_SANDBOX(a_stream_may_break_off),   IN_SANDBOX(a_decoder_is_started_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
