/* Artist, title and album of recordings: where they are shown, and that they are no content. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audio.h"

static const char TAGS[] = "\"artist\":\"Ana\",\"title\":\"Dos & \\\"tres\\\"\",\"album\":\"Uno\"";

static void keep_tagged(void)
{
    keep_tagged_wav("a.wav", audio_music(20, 1), "Ana", "Dos & \"tres\"", "Uno");
    keep_wav("b.wav", audio_music(20, 2));
    free(doppel_prints(0, "add", "-L", "lib", "a.wav", "b.wav"));
}

static void they_are_shown(void **state)
{
    (void)state;
    keep_tagged();
    struct recording a = audio_music(20, 1);
    keep_wav("clip.wav", audio_cut(&a, 5, 6));
    keep_wav("stream.wav", a);
    for (int i = 0; i < 2; i++) { /* then from the cache */
        char *hash = doppel_prints(0, "hash", "--json", "a.wav");
        assert_has(hash, TAGS);
        free(hash);
    }
    char *bare = doppel_prints(0, "hash", "--json", "b.wav");
    assert_lacks(bare, "artist");
    assert_lacks(bare, "title");
    free(bare);
    static const char *const verbs[][6] = {
        {"list", "-L", "lib", "--json"},
        {"show", "-L", "lib", "--json", "1"},
        {"find", "-L", "lib", "--json", "clip.wav"},
        {"monitor", "-L", "lib", "--json", "stream.wav"},
    };
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        char *json = command_output(0, verbs[i], __FILE__, __LINE__);
        assert_int_equal(count_lines(json, TAGS), count_lines(json, "/a.wav\""));
        assert_true(count_lines(json, TAGS) > 0);
        free(json);
    }
    char *table = doppel_prints(0, "find", "-L", "lib", "clip.wav");
    assert_has(table, "artist  title         path\n");
    assert_has(table, "Ana     Dos & \"tres\"  /");
    free(table);
}

/* What a terminal would take for a command, or a line for two, does not get there. */
static void they_are_one_line(void **state)
{
    (void)state;
    keep_tagged_wav("a.wav", audio_music(12, 1), "\x1b[2J\nred\xff", "\xe2\x80\xaeturned", "  ");
    char *json = doppel_prints(0, "hash", "--json", "a.wav");
    assert_has(json, "\"artist\":\"[2J red\xef\xbf\xbd\",\"title\":\"\\u202Eturned\"");
    assert_lacks(json, "album");
    free(json);
    char *table = doppel_prints(0, "hash", "a.wav");
    assert_has(table, "\\u202eturned");
    free(table);
}

/* Two copies with other tags are the same audio. */
static void they_are_no_content(void **state)
{
    (void)state;
    make_folder("music");
    keep_tagged_wav("music/a.wav", audio_music(20, 1), "Ana", "One", NULL);
    keep_tagged_wav("music/b.wav", audio_music(20, 1), "Bea", "Another one", NULL);
    keep_wav("music/c.wav", audio_music(20, 1));
    char *json = doppel_prints(0, "scan", "--json", "music");
    assert_int_equal(count_lines(json, ""), 1);
    assert_non_null(strstr(strstr(json, "\"same-content\"") + 1, "\"same-content\""));
    assert_has(json, "\"artist\":\"Ana\",\"title\":\"One\"");
    assert_has(json, "\"artist\":\"Bea\",\"title\":\"Another one\"");
    free(json);
    free(doppel_prints(0, "add", "-L", "lib", "music"));
    json = doppel_prints(0, "groups", "-L", "lib", "--json");
    assert_int_equal(count_lines(json, ""), 1);
    assert_non_null(strstr(strstr(json, "\"same-content\"") + 1, "\"same-content\""));
    assert_has(json, "\"artist\":\"Bea\",\"title\":\"Another one\"");
    free(json);
    free(doppel_prints(0, "report", "music", "-o", "page.html"));
    size_t size;
    char *page = read_file("page.html", &size);
    assert_has(page, "\"artist\":\"Bea\"");
    free(page);
}

static void they_are_exchanged(void **state)
{
    (void)state;
    size_t size;
    keep_tagged();
    free(doppel_prints(0, "export", "-L", "lib", "-o", "all.jsonl"));
    free(doppel_prints(0, "import", "-L", "other", "all.jsonl"));
    char *json = doppel_prints(0, "list", "-L", "other", "--json");
    assert_int_equal(count_lines(json, TAGS), 1);
    free(json);
    free(doppel_prints(0, "verify", "-L", "other"));
    /* Bytes 33 to 35 of the attachment, which are no UTF-8 then; another item goes on. */
    char *lines = read_file("all.jsonl", &size), *at = strstr(lines, "\"attachment\":\"");
    assert_non_null(at);
    memcpy(at + strlen("\"attachment\":\"") + 44, "////", 4);
    write_file("bad.jsonl", lines, size);
    free(lines);
    struct ran ran = doppel("import", "-L", "third", "bad.jsonl");
    assert_code(&ran, 3);
    assert_has(ran.err, "bad.jsonl");
    ran_free(&ran);
    json = doppel_prints(0, "list", "-L", "third", "--json");
    assert_int_equal(count_lines(json, ""), 1);
    assert_has(json, "/b.wav");
    free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(they_are_shown),
        IN_SANDBOX(they_are_one_line),
        IN_SANDBOX(they_are_no_content),
        IN_SANDBOX(they_are_exchanged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
