/* Sounds: what hash, compare, find, scan and the library say of sound files. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collection.h"
#include "sounds.h"
#include "writer.h"

/* The number after a key in JSON; fails the test when it is not there. */
static double number_of(const char *json, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(json, quoted);
    if (!at)
        fail_msg("no \"%s\" in %s", key, json);
    return strtod(at + strlen(quoted), NULL);
}

static void assert_number(const char *json, const char *key, double wanted, double tolerance)
{
    double number = number_of(json, key);
    if (!(number >= wanted - tolerance && number <= wanted + tolerance))
        fail_msg("%s is %g, wanted %g, in %s", key, number, wanted, json);
}

/* ---- hash ---- */

static void hash_tells_what_a_sound_is(void **state)
{
    (void)state;
    keep_wav("a.wav", sound_music(12, 1));
    char *json = doppel_prints(0, "hash", "--json", "a.wav");
    assert_has(json, "\"kind\":\"audio\",\"scheme\":\"peaks32\",\"version\":1,\"codes\":");
    assert_true(number_of(json, "codes") > 500);
    assert_number(json, "duration", 12, .001);
    assert_lacks(json, "width");
    assert_lacks(json, "damaged");
    assert_lacks(json, "sequence");
    char *again = doppel_prints(0, "hash", "--json", "a.wav"); /* from the cache */
    assert_string_equal(json, again);
    free(again);
    free(json);
}

static void hash_lists_keys_with_their_places(void **state)
{
    (void)state;
    keep_wav("a.wav", sound_music(12, 1));
    char *json = doppel_prints(0, "hash", "--json", "--codes", "a.wav");
    double codes = number_of(json, "codes");
    const char *at = strstr(json, "\"sequence\":[[");
    assert_non_null(at);
    unsigned count = 0;
    long last = 0;
    for (at += 12; (at = strstr(at, "[\"")); count++) {
        assert_int_equal(strspn(at + 2, "0123456789abcdef"), 8);
        long place = strtol(at + 12, NULL, 10);
        assert_true(place >= last && place <= 12000);
        last = place;
        at += 12;
    }
    assert_true(last > 10000);
    assert_int_equal(count, (unsigned)codes);
    free(json);
}

/* Raw samples are the same sound as with a header, from wherever they come. */
static void raw_sound_is_read(void **state)
{
    (void)state;
    size_t size;
    keep_wav("a.wav", sound_music(8, 2));
    char *wav = doppel_prints(0, "hash", "--json", "a.wav");
    char *bytes = read_file("a.wav", &size);
    write_file("a.raw", bytes + 44, size - 44);
    char *raw = doppel_prints(0, "hash", "--json", "--pcm", "s16le:11025:1", "a.raw");
    assert_string_equal(strstr(raw, "\"kind\""), strstr(wav, "\"kind\""));
    const struct setting piped = {.input = bytes + 44, .input_size = size - 44};
    struct ran ran = doppel_with(&piped, "hash", "--json", "--pcm", "s16le:11025:1", "-");
    assert_code(&ran, 0);
    assert_string_equal(strstr(ran.out, "\"kind\""), strstr(wav, "\"kind\""));
    ran_free(&ran);
    const struct setting with_header = {.input = bytes, .input_size = size};
    ran = doppel_with(&with_header, "hash", "--json", "-");
    assert_code(&ran, 0);
    assert_string_equal(strstr(ran.out, "\"kind\""), strstr(wav, "\"kind\""));
    ran_free(&ran);
    free(raw);
    raw = doppel_prints(0, "hash", "--json", "--pcm", "s16le:22050:1", "a.raw");
    assert_number(raw, "duration", 4, .001); /* the cache keeps the two apart */
    free(raw);
    free(bytes);
    free(wav);
}

static void what_breaks_off_is_used_and_said(void **state)
{
    (void)state;
    keep_wav("a.wav", sound_music(10, 3));
    copy_part("a.wav", "cut.wav", 44 + 2 * 5 * SOUND_RATE);
    copy_part("a.wav", "stub.wav", 44 + SOUND_RATE / 2);
    for (int i = 0; i < 2; i++) { /* then from the cache */
        struct ran ran = doppel("hash", "--json", "cut.wav");
        assert_code(&ran, 0);
        assert_has(ran.err, "doppel: cut.wav: the sound breaks off at ");
        assert_has(ran.err, " s; what comes before is used");
        assert_number(ran.out, "duration", 5, .2);
        assert_number(ran.out, "damaged", 5, 1);
        ran_free(&ran);
    }
    struct ran ran = doppel("hash", "--json", "stub.wav");
    assert_code(&ran, 3);
    assert_true(reported(ran.err, "stub.wav"));
    ran_free(&ran);
}

static void what_is_no_sound_is_named(void **state)
{
    (void)state;
    keep_text("text.mp3", write_words(1, 100));
    keep_drawing("picture.jpg", 0, 1);
    write_file("empty.wav", "", 0);
    write_file("noise.flac", "\x80\x81\x82\x00\x01\x02garbage\x00\x00", 15);
    struct sound one = sound_noise(1, 1);
    one.count = 1;
    keep_wav("one.wav", one);
    assert_int_equal(mkfifo("fifo.wav", 0600), 0);
    make_folder("folder.wav");
    static const char *const bad[] = {"text.mp3", "empty.wav", "noise.flac", "fifo.wav"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ran ran = doppel("hash", "--json", bad[i]);
        assert_code(&ran, 3);
        assert_true(reported(ran.err, bad[i]));
        assert_string_equal(ran.out, "");
        ran_free(&ran);
    }
    struct ran ran = doppel("hash", "--json", "--kind", "audio", "picture.jpg");
    assert_code(&ran, 3);
    assert_has(ran.err, "not a sound but a picture");
    ran_free(&ran);
    ran = doppel("hash", "--json", "one.wav"); /* no sound, or nothing to tell it by */
    assert_true(ran.code == 0 || ran.code == 3);
    assert_has(ran.err, "doppel: one.wav: ");
    ran_free(&ran);
    free(doppel_prints(0, "hash", "folder.wav"));
}

static void silence_has_nothing_to_be_told_by(void **state)
{
    (void)state;
    keep_wav("silence.wav", sound_silence(5));
    struct ran ran = doppel("hash", "--json", "silence.wav");
    assert_code(&ran, 0);
    assert_has(ran.err, "doppel: silence.wav: nothing to tell it by");
    assert_number(ran.out, "codes", 0, 0);
    assert_number(ran.out, "duration", 5, .001);
    ran_free(&ran);
}

/* A header may promise anything. */
static void headers_are_not_believed(void **state)
{
    (void)state;
    size_t size;
    keep_wav("a.wav", sound_music(3, 4));
    char *bytes = read_file("a.wav", &size);
    memset(bytes + 4, 0xfe, 4);
    memset(bytes + 40, 0xfe, 4);
    write_file("long.wav", bytes, size);
    char *json = doppel_prints(0, "hash", "--json", "long.wav");
    assert_number(json, "duration", 3, .1);
    free(json);
    bytes[22] = 64; /* channels */
    bytes[32] = (char)128;
    write_file("channels.wav", bytes, size);
    struct ran ran = doppel("hash", "--json", "channels.wav");
    assert_true(ran.code == 0 || ran.code == 3);
    assert_has(ran.err, "channels.wav: ");
    ran_free(&ran);
    free(bytes);
}

static void limits_of_sound_are_kept(void **state)
{
    (void)state;
    keep_wav("a.wav", sound_music(6, 5));
    for (int i = 0; i < 2; i++) { /* by the worker, then by what the cache knows */
        struct ran ran = doppel("hash", "--max-seconds", "5", "a.wav");
        assert_code(&ran, 3);
        assert_true(reported(ran.err, "a.wav"));
        ran_free(&ran);
        free(doppel_prints(0, "hash", "--max-seconds", "7", "a.wav"));
    }
}

static void folders_are_read_with_their_sounds(void **state)
{
    (void)state;
    make_folder("all");
    keep_wav("all/a.wav", sound_music(6, 6));
    keep_text("all/b.txt", write_words(1, 100));
    keep_drawing("all/c.jpg", 0, 1);
    write_file("all/d.bin", "\x80\x00\x01\x02", 4);
    struct ran ran = doppel("hash", "--json", "all");
    assert_code(&ran, 0);
    assert_int_equal(count_lines(ran.out, ""), 3);
    assert_int_equal(count_lines(ran.out, "\"kind\":\"audio\""), 1);
    assert_has(ran.err, "1 file that is no picture, text or sound passed over");
    ran_free(&ran);
    char *json = doppel_prints(0, "hash", "--json", "--kind", "audio", "all");
    assert_int_equal(count_lines(json, ""), 1);
    free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(hash_tells_what_a_sound_is),
        IN_SANDBOX(hash_lists_keys_with_their_places),
        IN_SANDBOX(raw_sound_is_read),
        IN_SANDBOX(what_breaks_off_is_used_and_said),
        IN_SANDBOX(what_is_no_sound_is_named),
        IN_SANDBOX(silence_has_nothing_to_be_told_by),
        IN_SANDBOX(headers_are_not_believed),
        IN_SANDBOX(limits_of_sound_are_kept),
        IN_SANDBOX(folders_are_read_with_their_sounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
