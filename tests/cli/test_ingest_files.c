/* doppel ingest of files of all kinds: named, walked, and in streams. */
#include "command.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collection.h"
#include "coprocess.h"
#include "videos.h"
#include "audio.h"
#include "writer.h"

/* The answer about a path: the line up to its end; given (free). */
static char *line_of(const char *out, const char *path)
{
    char wanted[256];
    snprintf(wanted, sizeof wanted, "\"path\":\"%s\"", path);
    const char *at = strstr(out, wanted);
    assert_non_null(at);
    while (at > out && at[-1] != '\n')
        at--;
    return strndup(at, strcspn(at, "\n"));
}

static void assert_decided(const char *out, const char *path, const char *decision,
                           const char *reason, int of)
{
    char *line = line_of(out, path), part[128];
    snprintf(part, sizeof part, "\"decision\":\"%s\"", decision);
    assert_has(line, part);
    snprintf(part, sizeof part, "\"reason\":\"%s\"", reason ? reason : "");
    if (reason)
        assert_has(line, part);
    else
        assert_lacks(line, "\"reason\"");
    if (of)
        assert_number(line, "of", of, 0);
    else
        assert_lacks(line, "\"of\"");
    free(line);
}

static char *ingest(const char *path)
{
    return doppel_prints(0, "ingest", "-L", "library", path);
}

/* ---- each decision ---- */

static void images_are_decided(void **state)
{
    (void)state;
    make_folder("p");
    keep_image("p/a.jpg", draw_image(0, 3, DRAWN_WIDTH, DRAWN_HEIGHT), 90);
    keep_image("p/b.jpg", draw_image(0, 3, DRAWN_WIDTH, DRAWN_HEIGHT), 60);
    copy_file("p/a.jpg", "p/c.jpg");
    keep_image("p/d.jpg", draw_image(1, 3, DRAWN_WIDTH, DRAWN_HEIGHT), 90);
    write_file("p/e.jpg", "\xff\xd8\xff\xe0 broken", 12);
    struct ran ran = doppel("ingest", "-L", "library", "p");
    assert_code(&ran, 3);
    assert_true(reported(ran.err, "p/e.jpg"));
    assert_decided(ran.out, "p/a.jpg", "new", NULL, 0);
    assert_decided(ran.out, "p/b.jpg", "duplicate", "near", 1);
    assert_decided(ran.out, "p/c.jpg", "duplicate", "identical", 1);
    assert_decided(ran.out, "p/d.jpg", "new", NULL, 0);
    assert_has(ran.out, "\"decision\":\"unreadable\"");
    assert_int_equal(count_lines(ran.out, ""), 5);
    ran_free(&ran);
}

/* Other bytes at the end of a PNG make another file of the same pixels. */
static void write_again(const char *from, const char *to)
{
    size_t size;
    char *data = read_file(from, &size);
    data[size] = 'x';
    write_file(to, data, size + 1);
    free(data);
}

/* Two lossless files with the same pixels are the same, whatever the codes can tell; of the first
 * such item it matters who its leader is. */
static void pixels_are_compared_before_codes(void **state)
{
    (void)state;
    make_folder("p");
    keep_image("p/a.jpg", draw_image(0, 3, DRAWN_WIDTH, DRAWN_HEIGHT), 90);
    keep_image("p/b.png", draw_image(0, 3, DRAWN_WIDTH, DRAWN_HEIGHT), 0);
    write_again("p/b.png", "p/c.png");
    struct image flat = draw_image(0, 3, 64, 64);
    memset(flat.pixels, 200, 64 * 64 * 3);
    keep_image("p/d.png", flat, 0);
    write_again("p/d.png", "p/e.png");
    char *out = doppel_prints(0, "ingest", "-L", "library", "p");
    assert_decided(out, "p/a.jpg", "new", NULL, 0);
    assert_decided(out, "p/b.png", "duplicate", "near", 1);
    assert_decided(out, "p/c.png", "duplicate", "same-content", 1);
    char *line = line_of(out, "p/b.png");
    assert_lacks(line, "same_as");
    free(line);
    line = line_of(out, "p/c.png"); /* which p/a.jpg, whom it follows, is only like */
    assert_number(line, "same_as", 2, 0);
    free(line);
    line = doppel_prints(0, "log", "-L", "library", "3");
    assert_has(line, "a duplicate of item 1, same-content with item 2");
    free(line);
    line = line_of(out, "p/d.png");
    assert_has(line, "\"too_short\"");
    assert_decided(out, "p/e.png", "duplicate", "same-content", 4);
    free(line);
    free(out);
    for (unsigned cached = 0; cached < 2; cached++) {
        out = doppel_prints(0, "scan", "--json", "--keep=resolution,name", "p");
        char *text = groups_as_text(out, "");
        assert_has(text, "p/d.png kept, p/e.png same-content\n");
        assert_int_equal(count_lines(text, "p/c.png"), 1);
        assert_int_equal(count_lines(text, ""), 2);
        free(text);
        free(out);
    }
    out = doppel_prints(0, "groups", "-L", "library", "--json");
    assert_int_equal(count_lines(out, "same-content"), 2);
    free(out);
    out = doppel_prints(0, "compare", "--json", "p/d.png", "p/e.png");
    assert_has(out, "\"verified\":\"exact\"");
    free(out);
    assert_int_equal(rename("p/e.png", "elsewhere.png"), 0);
    write_again("elsewhere.png", "query.png");
    out = doppel_prints(0, "find", "-L", "library", "--json", "query.png");
    assert_int_equal(count_lines(out, "\"verified\":\"exact\""), 2);
    free(out);
}

/* One answer for each input, also for one that is named twice, or has two names. */
static void each_input_is_answered(void **state)
{
    (void)state;
    keep_image("a.jpg", draw_image(0, 3, DRAWN_WIDTH, DRAWN_HEIGHT), 90);
    assert_int_equal(link("a.jpg", "hard.jpg"), 0);
    assert_int_equal(symlink("a.jpg", "soft.jpg"), 0);
    struct ran ran = doppel("ingest", "-L", "library", "a.jpg", "hard.jpg", "soft.jpg", "a.jpg");
    assert_code(&ran, 0);
    assert_int_equal(count_lines(ran.out, ""), 4);
    assert_int_equal(count_lines(ran.out, "\"new\""), 1);
    assert_int_equal(count_lines(ran.out, "\"duplicate\""), 3);
    ran_free(&ran);
    char *table = doppel_prints(0, "check", "-L", "library", "--format", "table", "hard.jpg");
    assert_has(table, "hard.jpg"); /* a row says of which file it is */
    free(table);
}

/* A changed file takes the place of what it was, and follows what it is a duplicate of. */
static void a_changed_file_may_be_a_double(void **state)
{
    (void)state;
    keep_image("a.jpg", draw_image(0, 3, DRAWN_WIDTH, DRAWN_HEIGHT), 90);
    keep_image("b.jpg", draw_image(1, 3, DRAWN_WIDTH, DRAWN_HEIGHT), 90);
    free(doppel_prints(0, "ingest", "-L", "library", "a.jpg", "b.jpg"));
    copy_file("a.jpg", "b.jpg");
    char *out = doppel_prints(0, "check", "-L", "library", "b.jpg");
    assert_decided(out, "b.jpg", "revision", "same-path", 1);
    assert_number(out, "replaces", 2, 0);
    assert_has(out, "\"verified\":\"exact\"");
    free(out);
    out = doppel_prints(0, "ingest", "-L", "library", "b.jpg", "--source", "web");
    assert_decided(out, "b.jpg", "revision", "same-path", 1);
    assert_number(out, "replaces", 2, 0);
    free(out);
    out = doppel_prints(0, "log", "-L", "library", "b.jpg");
    assert_has(out, "was decided to be a revision of item 1, same-path");
    assert_has(out, ", from web; it took the place of item 2");
    free(out);
    out = doppel_prints(0, "show", "-L", "library", "--json", "b.jpg");
    assert_number(out, "leader", 1, 0);
    free(out);
    /* Near, and another edit of itself. */
    keep_image("b.jpg", draw_image(0, 3, DRAWN_WIDTH / 2, DRAWN_HEIGHT / 2), 80);
    out = doppel_prints(0, "ingest", "-L", "library", "b.jpg");
    assert_decided(out, "b.jpg", "revision", "same-path", 1);
    assert_has(out, "\"verified\":\"codes\"");
    free(out);
    keep_image("a.jpg", draw_image(0, 3, DRAWN_WIDTH, DRAWN_HEIGHT), 70);
    out = doppel_prints(0, "ingest", "-L", "library", "a.jpg");
    assert_has(out, "\"revision\"");
    assert_number(out, "replaces", 1, 0);
    free(out);
}

/* Moved, changed, and known files: the second run. */
static void paths_are_followed(void **state)
{
    (void)state;
    make_folder("p");
    keep_drawing("p/a.png", 1, 1);
    keep_drawing("p/b.png", 2, 1);
    keep_drawing("p/c.png", 3, 1);
    free(ingest("p"));
    assert_int_equal(rename("p/a.png", "p/z.png"), 0);
    keep_drawing("p/b.png", 4, 1);
    char *out = ingest("p");
    assert_decided(out, "p/b.png", "revision", "same-path", 0);
    assert_has(out, "\"replaces\":2");
    assert_decided(out, "p/c.png", "duplicate", "known", 3);
    assert_decided(out, "p/z.png", "duplicate", "moved", 1);
    char *list = doppel_prints(0, "list", "-L", "library", "--json");
    assert_int_equal(count_lines(list, ""), 3);
    char *log = doppel_prints(0, "log", "-L", "library", "--json");
    assert_int_equal(count_lines(log, "\"action\":\"decided\""), 5);
    assert_int_equal(count_lines(log, "\"action\":\"added\""), 0);
    free(log);
    free(list);
    free(out);
}

static void texts_of_files_and_records_meet(void **state)
{
    (void)state;
    char *words = write_words(1, 200), *other = replace_words(write_words(1, 200), 50);
    for (char *at = words; *at; at++)
        *at = *at == '\n' ? ' ' : *at;
    char *input;
    assert_true(asprintf(&input, "{\"id\":\"r\",\"text\":\"%s\"}\na.txt\nb.txt\n", words) > 0);
    keep_text("a.txt", in_capitals(words));
    keep_text("b.txt", other);
    const struct setting setting = {.input = input};
    struct ran ran = doppel_with(&setting, "ingest", "-L", "library", "-");
    assert_code(&ran, 0);
    char *line = line_of(ran.out, "a.txt");
    assert_has(line, "\"decision\":\"duplicate\",\"of\":\"r\",\"of_item\":1");
    assert_has(line, "\"reason\":\"same-content\"");
    free(line);
    line = line_of(ran.out, "b.txt");
    assert_has(line, "\"of\":\"r\",\"of_item\":1");
    assert_has(line, "\"reason\":\"near\"");
    free(line);
    ran_free(&ran);
    free(input);
}

static void audio_are_decided(void **state)
{
    (void)state;
    struct recording music = audio_music(30, 1);
    make_folder("s");
    keep_wav("s/b.wav", audio_cut(&music, 8, 12));
    keep_wav("s/c.wav", audio_silence(10));
    keep_wav("s/a.wav", music);
    copy_file("s/a.wav", "s/d.wav");
    char *out = ingest("s");
    assert_decided(out, "s/a.wav", "new", NULL, 0);
    assert_decided(out, "s/b.wav", "part", "part", 1);
    assert_decided(out, "s/c.wav", "too_short",
                   "has nothing to tell it by: it is silent, or too short, or without change", 0);
    assert_decided(out, "s/d.wav", "duplicate", "identical", 1);
    free(out);
    /* The other way round: the whole comes after its part. */
    out = doppel_prints(0, "ingest", "-L", "turned", "s/b.wav", "s/a.wav");
    assert_decided(out, "s/a.wav", "revision", "contains", 1);
    free(out);
}

static void videos_are_decided(void **state)
{
    (void)state;
    make_whole_and_clip();
    char *out = doppel_prints(0, "ingest", "-L", "library", "whole.mp4", "clip.mp4");
    assert_decided(out, "whole.mp4", "new", NULL, 0);
    assert_decided(out, "clip.mp4", "part", "part", 1);
    assert_has(out, "\"segments\":[{");
    char *log = doppel_prints(0, "log", "-L", "library", "2", "--json");
    assert_has(log, "\"segments\"");
    free(log);
    free(out);
}

/* ---- who is to be kept ---- */

static void the_better_source_is_canonical(void **state)
{
    (void)state;
    keep_image("a.jpg", draw_image(0, 3, DRAWN_WIDTH, DRAWN_HEIGHT), 90);
    keep_image("b.jpg", draw_image(0, 3, DRAWN_WIDTH, DRAWN_HEIGHT), 60);
    keep_image("c.jpg", draw_image(0, 3, DRAWN_WIDTH, DRAWN_HEIGHT), 70);
    free(doppel_prints(0, "ingest", "-L", "library", "a.jpg", "--source", "blog"));
    free(doppel_prints(0, "source", "set", "-L", "library", "press", "100"));
    const struct setting setting = {.input = "{\"path\":\"b.jpg\",\"source\":\"press\"}\n"
                                             "{\"path\":\"c.jpg\",\"source\":\"blog\"}\n"};
    struct ran ran = doppel_with(&setting, "ingest", "-L", "library", "-");
    assert_code(&ran, 0);
    char *line = line_of(ran.out, "b.jpg");
    assert_has(line, "\"of\":1");
    assert_has(line, "\"replaces\":1");
    free(line);
    line = line_of(ran.out, "c.jpg");
    assert_has(line, "\"of\":1"); /* the leader stays who it is */
    assert_lacks(line, "replaces");
    free(line);
    char *log = doppel_prints(0, "log", "-L", "library", "--json");
    assert_int_equal(count_lines(log, "\"action\":\"canonical\""), 1);
    free(log);
    ran_free(&ran);
}

/* ---- what people say ---- */

static void words_and_lists_come_first(void **state)
{
    (void)state;
    keep_image("a.jpg", draw_image(0, 3, DRAWN_WIDTH, DRAWN_HEIGHT), 90);
    keep_image("b.jpg", draw_image(0, 3, DRAWN_WIDTH, DRAWN_HEIGHT), 60);
    keep_drawing("c.png", 2, 1);
    free(doppel_prints(0, "ingest", "-L", "library", "a.jpg"));
    free(doppel_prints(0, "mark", "-L", "library", "a.jpg", "b.jpg", "--distinct"));
    free(doppel_prints(0, "mark", "-L", "library", "a.jpg", "c.png", "--same"));
    char *out = doppel_prints(1, "check", "-L", "library", "b.jpg");
    assert_decided(out, "b.jpg", "new", NULL, 0);
    free(out);
    out = doppel_prints(0, "check", "-L", "library", "c.png");
    assert_decided(out, "c.png", "duplicate", "marked", 1);
    free(out);
}

static void benign_items_suppress(void **state)
{
    (void)state;
    keep_image("a.jpg", draw_image(0, 3, DRAWN_WIDTH, DRAWN_HEIGHT), 90);
    keep_image("b.jpg", draw_image(0, 3, DRAWN_WIDTH, DRAWN_HEIGHT), 60);
    free(doppel_prints(0, "ingest", "-L", "library", "a.jpg", "--list", "stock"));
    free(doppel_prints(0, "lists", "set", "-L", "library", "stock", "--state", "benign"));
    char *out = doppel_prints(1, "check", "-L", "library", "b.jpg");
    assert_decided(out, "b.jpg", "new", "benign", 1);
    free(out);
    free(ingest("b.jpg"));
    copy_file("b.jpg", "c.jpg");
    out = ingest("c.jpg");
    assert_decided(out, "c.jpg", "new", "benign", 2);
    free(out);
    out = doppel_prints(0, "log", "3", "-L", "library");
    assert_has(out, "decided to be new, though it matches item 2 (benign)");
    free(out);
    free(doppel_prints(0, "remove", "-q", "-L", "library", "2", "3"));
    free(doppel_prints(0, "lists", "set", "-L", "library", "stock", "--state", "disabled"));
    out = doppel_prints(1, "check", "-L", "library", "b.jpg");
    assert_decided(out, "b.jpg", "new", NULL, 0);
    free(out);
}

/* ---- what it costs ---- */

/* Each start of a worker leaves a line. */
static void a_verbatim_copy_is_not_decoded(void **state)
{
    (void)state;
    const struct setting setting = {.environment = {"DOPPEL_WORKER=./worker"}};
    char script[1024], here[512];
    snprintf(script, sizeof script, "#!/bin/sh\necho >> %s/starts\nexec %s \"$@\"\n",
             getcwd(here, sizeof here), DOPPEL_WORKER_PROGRAM);
    write_file("worker", script, strlen(script));
    assert_int_equal(chmod("worker", 0700), 0);
    keep_drawing("a.png", 1, 1);
    keep_wav("a.wav", audio_music(12, 1));
    struct ran ran =
        doppel_with(&setting, "ingest", "-L", "library", "--no-cache", "a.png", "a.wav");
    assert_code(&ran, 0);
    ran_free(&ran);
    assert_int_equal(unlink("starts"), 0);
    copy_file("a.png", "b.png");
    copy_file("a.wav", "b.wav");
    ran = doppel_with(&setting, "ingest", "-L", "library", "--no-cache", "b.png", "b.wav");
    assert_code(&ran, 0);
    assert_int_equal(count_lines(ran.out, "identical"), 2);
    assert_int_equal(access("starts", F_OK), -1);
    ran_free(&ran);
}

/* ---- streams ---- */

static const char *const lines[] = {"a.png",
                                    "{\"id\":\"t\",\"text\":\"one two three four five six seven "
                                    "eight nine ten eleven twelve\"}",
                                    "absent.png",
                                    "{\"id\":\"p\",\"path\":\"a.txt\"}",
                                    "{\"id\":",
                                    "folder",
                                    "copy.png",
                                    "a.wav"};
static const char *const answers[] = {"\"line\":1,\"decision\":\"new\"",
                                      "\"line\":2,\"decision\":\"new\"",
                                      "\"line\":3,\"decision\":\"unreadable\"",
                                      "\"line\":4,\"decision\":\"duplicate\",\"of\":\"t\"",
                                      "\"line\":5,\"decision\":\"unreadable\"",
                                      "\"line\":6,\"decision\":\"unreadable\"",
                                      "\"line\":7,\"decision\":\"duplicate\",\"of\":1",
                                      "\"line\":8,\"decision\":\"new\""};
enum { LINES = sizeof lines / sizeof *lines };

static void make_stream_files(void)
{
    static const char text[] = "One two three, four five six; seven eight nine ten eleven twelve!";
    keep_drawing("a.png", 1, 1);
    copy_file("a.png", "copy.png");
    keep_wav("a.wav", audio_music(8, 1));
    write_file("a.txt", text, strlen(text));
    make_folder("folder");
}

/* Each line is answered before the next is written; all at once give the same answers. */
static void streams_are_answered_in_order(void **state)
{
    (void)state;
    char answer[4096], all[4096] = "";
    make_stream_files();
    struct coprocess coprocess = coprocess_start(NULL);
    for (int i = 0; i < LINES; i++) {
        assert_int_equal(write(coprocess.to, lines[i], strlen(lines[i])), strlen(lines[i]));
        assert_int_equal(write(coprocess.to, "\n", 1), 1);
        coprocess_read(&coprocess, answer, sizeof answer);
        assert_has(answer, answers[i]);
        strcat(strcat(all, lines[i]), "\n");
    }
    assert_int_equal(coprocess_end(&coprocess), 3);
    const struct setting setting = {.input = all};
    struct ran ran = doppel_with(&setting, "ingest", "-L", "second", "-");
    assert_code(&ran, 3);
    const char *at = ran.out;
    for (int i = 0; i < LINES; i++) {
        const char *found = strstr(at, answers[i]);
        assert_non_null(found);
        at = found;
    }
    assert_int_equal(count_lines(ran.out, ""), LINES);
    ran_free(&ran);
}

/* Ctrl-C while it waits: what was answered is kept. */
static void an_interrupt_keeps_what_was_answered(void **state)
{
    (void)state;
    char answer[4096];
    make_stream_files();
    struct coprocess coprocess = coprocess_start(NULL);
    assert_int_equal(write(coprocess.to, "a.png\n", 6), 6);
    coprocess_read(&coprocess, answer, sizeof answer);
    kill(coprocess.pid, SIGINT);
    assert_int_equal(coprocess_end(&coprocess), 130);
    char *list = doppel_prints(0, "list", "-L", "library", "--json");
    assert_int_equal(count_lines(list, ""), 1);
    free(list);
}

/* ---- two at once ---- */

enum { TEXTS = 280, IMAGES = 12, AUDIO_FILES = 6 };

static void make_many(void)
{
    char path[64];
    make_folder("many");
    for (unsigned i = 0; i < TEXTS; i++) {
        snprintf(path, sizeof path, "many/t%03u.txt", i);
        keep_text(path, write_words(1000 + i, 60));
    }
    for (unsigned i = 0; i < IMAGES; i++) {
        snprintf(path, sizeof path, "many/p%03u.jpg", i);
        keep_drawing(path, i, 10); /* each another subject */
    }
    for (unsigned i = 0; i < AUDIO_FILES; i++) {
        snprintf(path, sizeof path, "many/s%03u.wav", i);
        keep_wav(path, audio_music(6, 100 + i));
    }
}

/* Two processes at once on copies of the same files: each content is new once. */
static void two_processes_agree(void **state)
{
    (void)state;
    make_many();
    struct ran copied = doppel_with(&(struct setting){.program = "/bin/cp"}, "-r", "many", "again");
    assert_code(&copied, 0);
    ran_free(&copied);
    struct running running[2];
    static const char *const folders[] = {"many", "again"};
    for (int i = 0; i < 2; i++)
        running[i] =
            command_start(NULL, (const char *const[]){"ingest", "-L", "library", folders[i], NULL});
    unsigned told[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        struct ran ran = command_end(&running[i]);
        assert_code(&ran, 0);
        assert_int_equal(count_lines(ran.out, ""), TEXTS + IMAGES + AUDIO_FILES);
        told[0] += count_lines(ran.out, "\"decision\":\"new\"");
        told[1] += count_lines(ran.out, "\"reason\":\"identical\"");
        ran_free(&ran);
    }
    assert_int_equal(told[0], TEXTS + IMAGES + AUDIO_FILES);
    assert_int_equal(told[1], TEXTS + IMAGES + AUDIO_FILES);
    char *list = doppel_prints(0, "list", "-L", "library", "--json");
    assert_int_equal(count_lines(list, ""), 2 * (TEXTS + IMAGES + AUDIO_FILES));
    free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(images_are_decided),
        IN_SANDBOX(pixels_are_compared_before_codes),
        IN_SANDBOX(each_input_is_answered),
        IN_SANDBOX(a_changed_file_may_be_a_double),
        IN_SANDBOX(paths_are_followed),
        IN_SANDBOX(texts_of_files_and_records_meet),
        IN_SANDBOX(audio_are_decided),
        IN_SANDBOX(videos_are_decided),
        IN_SANDBOX(the_better_source_is_canonical),
        IN_SANDBOX(words_and_lists_come_first),
        IN_SANDBOX(benign_items_suppress),
        IN_SANDBOX(a_verbatim_copy_is_not_decoded),
        IN_SANDBOX(streams_are_answered_in_order),
        IN_SANDBOX(an_interrupt_keeps_what_was_answered),
        IN_SANDBOX(two_processes_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
