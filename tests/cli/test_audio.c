/* Recordings: what hash, compare, find, scan and the library say of audio files. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collection.h"
#include "audio.h"
#include "writer.h"

/* ---- hash ---- */

static void hash_tells_what_a_audio_is(void **state)
{
    (void)state;
    keep_wav("a.wav", audio_music(12, 1));
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
    keep_wav("a.wav", audio_music(12, 1));
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

/* Raw samples are the same audio as with a header, from wherever they come. */
static void raw_audio_is_read(void **state)
{
    (void)state;
    size_t size;
    keep_wav("a.wav", audio_music(8, 2));
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
    keep_wav("a.wav", audio_music(10, 3));
    copy_part("a.wav", "cut.wav", 44 + 2 * 5 * AUDIO_RATE + 1);
    copy_part("a.wav", "stub.wav", 44 + AUDIO_RATE / 2 + 1 - AUDIO_RATE / 2 % 2);
    for (int i = 0; i < 2; i++) { /* then from the cache */
        struct ran ran = doppel("hash", "--json", "cut.wav");
        assert_code(&ran, 0);
        assert_has(ran.err, "doppel: cut.wav: the audio breaks off at ");
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

static void what_is_no_audio_is_named(void **state)
{
    (void)state;
    keep_text("text.mp3", write_words(1, 100));
    keep_drawing("picture.jpg", 0, 1);
    write_file("empty.wav", "", 0);
    write_file("noise.flac", "\x80\x81\x82\x00\x01\x02garbage\x00\x00", 15);
    struct recording one = audio_noise(1, 1);
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
    assert_has(ran.err, "not a recording but a picture");
    ran_free(&ran);
    ran = doppel("hash", "--json", "one.wav"); /* no audio, or nothing to tell it by */
    assert_true(ran.code == 0 || ran.code == 3);
    assert_has(ran.err, "doppel: one.wav: ");
    ran_free(&ran);
    free(doppel_prints(0, "hash", "folder.wav"));
}

static void silence_has_nothing_to_be_told_by(void **state)
{
    (void)state;
    keep_wav("silence.wav", audio_silence(5));
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
    keep_wav("a.wav", audio_music(3, 4));
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

static void limits_of_audio_are_kept(void **state)
{
    (void)state;
    keep_wav("a.wav", audio_music(6, 5));
    for (int i = 0; i < 2; i++) { /* by the worker, then by what the cache knows */
        struct ran ran = doppel("hash", "--max-seconds", "5", "a.wav");
        assert_code(&ran, 3);
        assert_true(reported(ran.err, "a.wav"));
        ran_free(&ran);
        free(doppel_prints(0, "hash", "--max-seconds", "7", "a.wav"));
    }
}

static void folders_are_read_with_their_audio(void **state)
{
    (void)state;
    make_folder("all");
    keep_wav("all/a.wav", audio_music(6, 6));
    keep_text("all/b.txt", write_words(1, 100));
    keep_drawing("all/c.jpg", 0, 1);
    write_file("all/d.bin", "\x80\x00\x01\x02", 4);
    struct ran ran = doppel("hash", "--json", "all");
    assert_code(&ran, 0);
    assert_int_equal(count_lines(ran.out, ""), 3);
    assert_int_equal(count_lines(ran.out, "\"kind\":\"audio\""), 1);
    assert_has(ran.err, "1 file that is no picture, text, recording or video passed over");
    ran_free(&ran);
    char *json = doppel_prints(0, "hash", "--json", "--kind", "audio", "all");
    assert_int_equal(count_lines(json, ""), 1);
    free(json);
}

/* ---- compare ---- */

static void compare_says_where(void **state)
{
    (void)state;
    struct recording whole = audio_music(40, 7), part = audio_cut(&whole, 12, 10);
    audio_add_noise(&part, 20, 1);
    keep_wav("part.wav", part);
    keep_wav("whole.wav", whole);
    keep_wav("other.wav", audio_music(40, 8));
    char *json = doppel_prints(0, "compare", "--json", "part.wav", "whole.wav");
    assert_has(json, "\"match\":true,\"limit\":{\"max_false_positive_rate\":0.001},");
    assert_has(json, "\"kind\":\"audio\",\"scheme\":\"peaks32\",\"relation\":\"contained\"");
    assert_has(json, "\"verified\":\"alignment\"");
    assert_has(json, "\"transform\":{\"speed\":1.0,\"pitch\":1.0}");
    assert_lacks(json, "\"bits\"");
    assert_number(json, "a_start", 0, .5);
    assert_number(json, "a_end", 10, .3);
    assert_number(json, "b_start", 12, .5);
    assert_number(json, "b_end", 22, .3);
    assert_number(json, "query_coverage", 1, .1);
    assert_number(json, "item_coverage", .25, .05);
    assert_true(number_of(json, "false_positive_rate") <= 1e-3);
    free(json);
    json = doppel_prints(0, "compare", "--json", "whole.wav", "part.wav");
    assert_has(json, "\"relation\":\"contains\"");
    free(json);
    json = doppel_prints(1, "compare", "--json", "part.wav", "other.wav");
    assert_has(json, "\"match\":false");
    assert_lacks(json, "relation");
    assert_lacks(json, "segments");
    free(json);
}

static void compare_prints_places_in_a_table(void **state)
{
    (void)state;
    struct recording whole = audio_music(40, 7);
    keep_wav("part.wav", audio_cut(&whole, 12, 10));
    keep_wav("whole.wav", whole);
    char *table = doppel_prints(0, "compare", "part.wav", "whole.wav");
    assert_has(table, "item start");
    assert_has(table, "0:1");
    assert_lacks(table, "pitch");
    assert_int_equal(count_lines(table, ""), 2);
    free(table);
}

static void compare_knows_speed(void **state)
{
    (void)state;
    struct recording recording = audio_music(20, 9);
    keep_wav("faster.wav", audio_speed(&recording, 1.03));
    keep_wav("usual.wav", recording);
    char *json = doppel_prints(0, "compare", "--json", "faster.wav", "usual.wav");
    assert_has(json, "\"transform\":{\"speed\":1.03,\"pitch\":1.03}");
    free(json);
    json = doppel_prints(1, "compare", "--json", "--same-speed", "faster.wav", "usual.wav");
    free(json);
}

static void same_bytes_are_exact(void **state)
{
    (void)state;
    keep_wav("a.wav", audio_music(8, 10));
    copy_file("a.wav", "b.wav");
    char *json = doppel_prints(0, "compare", "--json", "a.wav", "b.wav");
    assert_has(json, "\"relation\":\"same\",\"similarity\":1.0,\"false_positive_rate\":0.0,"
                     "\"verified\":\"exact\"");
    assert_number(json, "a_end", 8, .001);
    free(json);
}

static void silence_matches_nothing(void **state)
{
    (void)state;
    keep_wav("a.wav", audio_silence(8));
    keep_wav("b.wav", audio_silence(9));
    keep_wav("tone.wav", audio_tone(8, 440));
    keep_wav("tone2.wav", audio_tone(9, 440));
    struct ran ran = doppel("compare", "--json", "a.wav", "b.wav");
    assert_code(&ran, 1);
    assert_has(ran.out, "\"reason\":\"a has nothing to tell it by: ");
    ran_free(&ran);
    free(doppel_prints(1, "compare", "tone.wav", "tone2.wav"));
    make_folder("sounds");
    copy_file("a.wav", "sounds/a.wav");
    copy_file("b.wav", "sounds/b.wav");
    copy_file("tone.wav", "sounds/tone.wav");
    copy_file("tone2.wav", "sounds/tone2.wav");
    char *json = doppel_prints(0, "scan", "--json", "sounds");
    assert_string_equal(json, "");
    free(json);
}

static void compare_draws_two_audio(void **state)
{
    (void)state;
    struct recording whole = audio_music(30, 11);
    keep_wav("a <&> part.wav", audio_cut(&whole, 12, 8));
    keep_wav("whole.wav", whole);
    keep_wav("other.wav", audio_music(5, 12));
    free(doppel_prints(0, "compare", "--chart", "c.svg", "a <&> part.wav", "whole.wav"));
    size_t size;
    char *svg = read_file("c.svg", &size);
    assert_has(svg, "<svg xmlns=");
    assert_has(svg, "a &lt;&amp;&gt; part.wav</text>");
    assert_has(svg, "class=\"link\"");
    assert_has(svg, "</svg>\n");
    assert_lacks(svg, "nan");
    free(svg);
    free(doppel_prints(1, "compare", "--chart", "d.svg", "other.wav", "whole.wav"));
    svg = read_file("d.svg", &size);
    assert_has(svg, "nothing is shared");
    free(svg);
    keep_text("a.txt", write_words(1, 100));
    struct ran ran = doppel("compare", "--chart", "e.svg", "a.txt", "a.txt");
    assert_code(&ran, 2);
    assert_has(ran.err, "'--chart' draws two recordings");
    ran_free(&ran);
}

/* ---- the library ---- */

/* Five tracks of a minute each. */
static void make_tracks(void)
{
    make_folder("tracks");
    for (uint64_t seed = 20; seed < 25; seed++) {
        char path[64];
        snprintf(path, sizeof path, "tracks/%u.wav", (unsigned)seed);
        keep_wav(path, audio_music(60, seed));
    }
}

static void find_names_a_noisy_clip(void **state)
{
    (void)state;
    make_tracks();
    char *json = doppel_prints(0, "add", "--json", "tracks");
    assert_int_equal(count_lines(json, "\"added\":\"new\""), 5);
    free(json);
    json = doppel_prints(0, "add", "--json", "tracks");
    assert_int_equal(count_lines(json, "\"added\":\"unchanged\""), 5);
    free(json);
    struct recording track = audio_music(60, 22), clip = audio_cut(&track, 30, 5);
    audio_add_noise(&clip, 6, 1);
    keep_wav("clip.wav", clip);
    free(track.samples);
    json = doppel_prints(0, "find", "--json", "clip.wav");
    assert_int_equal(count_lines(json, ""), 1);
    assert_has(json, "/tracks/22.wav\"");
    assert_has(json, "\"relation\":\"contained\"");
    assert_has(json, "\"verified\":\"alignment\"");
    assert_number(json, "b_start", 30, .3);
    assert_true(number_of(json, "score") >= 3);
    free(json);
    json = doppel_prints(0, "find", "clip.wav");
    assert_has(json, "0:30.");
    assert_has(json, "item start");
    free(json);
    keep_wav("unknown.wav", audio_speech(5, 99));
    json = doppel_prints(1, "find", "--json", "unknown.wav");
    assert_string_equal(json, "{\"query\":\"unknown.wav\",\"match\":false}\n");
    free(json);
}

static void find_lists_what_is_in_a_recording(void **state)
{
    (void)state;
    make_tracks();
    free(doppel_prints(0, "add", "tracks"));
    struct recording show = audio_speech(90, 1);
    struct recording first = audio_music(20, 21), second = audio_music(25, 23);
    audio_paste(&show, 10, &second);
    audio_paste(&show, 50, &first);
    keep_wav("show.wav", show);
    free(first.samples);
    free(second.samples);
    char *json = doppel_prints(0, "find", "--json", "show.wav");
    assert_int_equal(count_lines(json, ""), 2);
    assert_int_equal(count_lines(json, "/tracks/21.wav\""), 1);
    assert_int_equal(count_lines(json, "/tracks/23.wav\""), 1);
    assert_int_equal(count_lines(json, "\"relation\":\"overlaps\""), 2);
    free(json);
    char *table = doppel_prints(0, "find", "show.wav"); /* in the order in which they are played */
    const char *at = strstr(table, "tracks/23.wav");
    assert_non_null(at);
    assert_non_null(strstr(at, "tracks/21.wav"));
    free(table);
}

static void find_tells_near_misses(void **state)
{
    (void)state;
    make_tracks();
    free(doppel_prints(0, "add", "tracks"));
    struct recording track = audio_music(60, 22), clip = audio_cut(&track, 30, 5);
    audio_add_noise(&clip, 0, 1);
    keep_wav("clip.wav", clip);
    free(track.samples);
    char *json = doppel_prints(1, "find", "--json", "--max-fp-rate", "1e-200", "--near-misses", "2",
                               "clip.wav");
    assert_has(json, "\"match\":false,\"near_miss\":true,"
                     "\"limit\":{\"max_false_positive_rate\":1e-200}");
    assert_has(json, "\"lacks\":\"a rate of false positives of 1e-200 or less; its is ");
    assert_has(json, "/tracks/22.wav\"");
    free(json);
    json =
        doppel_prints(1, "find", "-0", "--max-fp-rate", "1e-200", "--near-misses", "2", "clip.wav");
    assert_string_equal(json, "");
    free(json);
    json = doppel_prints(1, "find", "--json", "--max-fp-rate", "1e-200", "clip.wav");
    assert_string_equal(json, "{\"query\":\"clip.wav\",\"match\":false}\n");
    free(json);
}

static void find_tells_repeats_without_a_library(void **state)
{
    (void)state;
    struct recording song = audio_music(60, 30), jingle = audio_music(8, 31);
    audio_paste(&song, 5, &jingle);
    audio_paste(&song, 40, &jingle);
    free(jingle.samples);
    keep_wav("song.wav", song);
    keep_wav("plain.wav", audio_speech(10, 3));
    char *json = doppel_prints(0, "find", "--repeats", "--json", "song.wav");
    assert_has(json, "{\"path\":\"song.wav\",\"a_start\":");
    assert_number(json, "a_start", 5, .5);
    assert_number(json, "b_start", 40, .5);
    assert_number(json, "b_end", 48, .5);
    assert_number(json, "speed", 1, .005);
    free(json);
    json = doppel_prints(0, "find", "--repeats", "song.wav");
    assert_has(json, "second start");
    free(json);
    json = doppel_prints(1, "find", "--repeats", "--json", "plain.wav");
    assert_string_equal(json, "");
    free(json);
}

static void the_library_says_how_long_audio_are(void **state)
{
    (void)state;
    keep_wav("a.wav", audio_music(65, 1));
    free(doppel_prints(0, "add", "a.wav"));
    char *json = doppel_prints(0, "list", "--json", "--kind", "audio");
    assert_has(json, "\"kind\":\"audio\",\"scheme\":\"peaks32\"");
    assert_number(json, "duration", 65, .001);
    free(json);
    json = doppel_prints(0, "list");
    assert_has(json, "1:05.0");
    free(json);
    json = doppel_prints(0, "show", "--json", "1");
    assert_true(number_of(json, "codes") > 3000);
    assert_number(json, "duration", 65, .001);
    assert_has(json, "\"sequence\":[[\"");
    free(json);
    free(doppel_prints(0, "find", "a.wav"));
    free(doppel_prints(0, "remove", "a.wav"));
    free(doppel_prints(1, "find", "a.wav"));
}

/* ---- scan and groups ---- */

/* What is to be found: an encoding that keeps all samples, one that does not, a part that comes
 * first, and a duplicate. */
static void make_collection_of_audio(bool *out_encoded)
{
    struct recording one = audio_music(50, 40), two = audio_music(45, 41);
    make_folder("sounds");
    *out_encoded = write_encoded("sounds/one.flac", &one) && write_encoded("sounds/one.aac", &one);
    keep_wav("sounds/a-part.wav", audio_cut(&two, 10, 15));
    keep_wav("sounds/two.wav", two);
    copy_file("sounds/two.wav", "sounds/two-again.wav");
    keep_wav("sounds/one.wav", one);
    keep_wav("sounds/three.wav", audio_music(40, 42));
    keep_wav("sounds/four.wav", audio_speech(40, 43));
}

static const char AUDIO_GROUPS[] =
    "sounds/a-part.wav part, sounds/two-again.wav identical, sounds/two.wav kept\n";

static void scan_finds_encodings_and_parts(void **state)
{
    (void)state;
    bool encoded;
    char wanted[512];
    make_collection_of_audio(&encoded);
    snprintf(wanted, sizeof wanted, "%s%s", AUDIO_GROUPS,
             encoded ? "sounds/one.aac near, sounds/one.flac same-content, sounds/one.wav kept\n"
                     : "");
    char *json = doppel_prints(0, "scan", "--json", "sounds");
    char *groups = groups_as_text(json, "");
    assert_int_equal(count_lines(json, "\"kind\":\"audio\""), encoded ? 2 : 1);
    assert_has(json, "\"duration\":45.0");
    assert_has(json, "\"reason\":\"part\"");
    assert_string_equal(groups, wanted);
    assert_number(strstr(json, "a-part.wav"), "b_start", 10, .5);
    free(groups);
    free(json);
}

static void groups_of_the_library_have_audio(void **state)
{
    (void)state;
    bool encoded;
    make_collection_of_audio(&encoded);
    free(doppel_prints(0, "add", "sounds"));
    char *json = doppel_prints(0, "groups", "--json");
    assert_int_equal(count_lines(json, "\"kind\":\"audio\""), encoded ? 2 : 1);
    assert_has(json, "\"reason\":\"part\"");
    assert_has(json, "\"reason\":\"identical\"");
    free(json);
}

static void references_of_audio_are_kept(void **state)
{
    (void)state;
    struct recording two = audio_music(45, 41);
    make_folder("old");
    make_folder("new");
    keep_wav("old/cut.wav", audio_cut(&two, 0, 44));
    keep_wav("new/whole.wav", two);
    char *json = doppel_prints(0, "scan", "--json", "--reference", "old", "new");
    assert_has(json, "\"keep\":\"old/cut.wav\"");
    free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(hash_tells_what_a_audio_is),
        IN_SANDBOX(hash_lists_keys_with_their_places),
        IN_SANDBOX(raw_audio_is_read),
        IN_SANDBOX(what_breaks_off_is_used_and_said),
        IN_SANDBOX(what_is_no_audio_is_named),
        IN_SANDBOX(silence_has_nothing_to_be_told_by),
        IN_SANDBOX(headers_are_not_believed),
        IN_SANDBOX(limits_of_audio_are_kept),
        IN_SANDBOX(folders_are_read_with_their_audio),
        IN_SANDBOX(compare_says_where),
        IN_SANDBOX(compare_prints_places_in_a_table),
        IN_SANDBOX(compare_knows_speed),
        IN_SANDBOX(same_bytes_are_exact),
        IN_SANDBOX(silence_matches_nothing),
        IN_SANDBOX(compare_draws_two_audio),
        IN_SANDBOX(find_names_a_noisy_clip),
        IN_SANDBOX(find_lists_what_is_in_a_recording),
        IN_SANDBOX(find_tells_near_misses),
        IN_SANDBOX(find_tells_repeats_without_a_library),
        IN_SANDBOX(the_library_says_how_long_audio_are),
        IN_SANDBOX(scan_finds_encodings_and_parts),
        IN_SANDBOX(groups_of_the_library_have_audio),
        IN_SANDBOX(references_of_audio_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
