/* Audio as nobody should make it: cut, damaged, lying, or no audio at all. */
#include "listen.h"
#include "audio_mutants.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MUTANTS = 100 };

static uint64_t state_of_random = 7;

static uint32_t next_random(void)
{
    state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state_of_random >> 33);
}

/* ---- cut short ---- */

static void what_is_cut_short_is_used_from_a_second_on(void **state)
{
    (void)state;
    struct tune tune = tune_make(4, 44100, 2);
    struct file files[] = {
        make_wav(&tune, WAV_S16),
        make_audio(&tune, &(struct audio_how){.muxer = "flac", .codec = "flac"}),
        make_audio(&tune, &(struct audio_how){.muxer = "aiff", .codec = "pcm_s16be"}),
        make_audio(&tune, &(struct audio_how){.muxer = "tta", .codec = "tta"}),
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct file part = {files[i].data, files[i].size / 2};
        struct heard heard = listen_to(&part, NULL);
        if (heard.status != DOPPEL_OK)
            fail_msg("%zu: %s", i, heard.error.message);
        assert_in_range(heard.info.duration_ms, 1000, 2300);
        assert_in_range(heard.info.damaged_ms, 900, 2300);
        assert_true(heard_error(&heard, .2, .9, 1) < .002);
        heard_free(&heard);
        part = (struct file){malloc(files[i].size), files[i].size / 6};
        memcpy(part.data, files[i].data, part.size);
        assert_not_heard(part, NULL, DOPPEL_E_CORRUPT, "of which at least 1 is needed");
        file_free(&files[i]);
    }
    tune_free(&tune);
}

static void a_wav_is_known_to_be_cut_wherever_it_is(void **state)
{
    (void)state;
    struct tune tune = tune_make(4, 44100, 2);
    struct file file = make_wav(&tune, WAV_S16);
    for (size_t i = 0; i < 50; i++) {
        struct file part = {file.data, file.size / 2 + i * 1021};
        struct heard heard = listen_to(&part, NULL);
        assert_int_equal(heard.status, DOPPEL_OK);
        if (!heard.info.damaged_ms)
            fail_msg("not noted: %zu of %zu bytes", part.size, file.size);
        heard_free(&heard);
    }
    struct heard whole = listen_to(&file, NULL);
    assert_int_equal(whole.info.damaged_ms, 0);
    heard_free(&whole);
    file_free(&file);
    tune_free(&tune);
}

static void damage_is_noted_and_passed_over(void **state)
{
    (void)state;
    struct tune tune = tune_make(4, 44100, 2);
    struct audio_how how = {.muxer = "matroska", .codec = "flac"};
    struct file file = make_audio(&tune, &how);
    memset(file.data + file.size / 2, 0xff, 64);
    struct heard heard = listen_to(&file, NULL);
    assert_int_equal(heard.status, DOPPEL_OK);
    assert_in_range(heard.info.damaged_ms, 1700, 2300);
    assert_in_range(heard.info.duration_ms, 3900, 4100);
    assert_true(heard_error(&heard, .2, 1.6, 1) < .002);
    assert_in_range(heard.count, 4 * 11025 - 22, 4 * 11025 + 22); /* in place: to 2 ms */
    assert_float_equal(heard_level(&heard, 2.5, 3.8, 440), .3, .01);
    heard_free(&heard);
    file_free(&file);
    tune_free(&tune);
}

/* ---- nothing to hear ---- */

static void what_is_no_audio_is_told(void **state)
{
    (void)state;
    assert_not_heard(FILE_OF(""), NULL, DOPPEL_E_EMPTY, "empty");
    assert_not_heard(FILE_OF("a text under the name of a song\n"), NULL, DOPPEL_E_FORMAT, "text");
    assert_not_heard(FILE_OF("\x89PNG\r\n\x1a\n12345678901"), NULL, DOPPEL_E_FORMAT, "image");
    assert_not_heard(FILE_OF("\1\2\3\4\5\6\7\xff"), NULL, DOPPEL_E_FORMAT, "no known format");
    assert_not_heard(FILE_OF("fLaC\0\0\0\x22"), NULL, DOPPEL_E_CORRUPT, "damaged");
    assert_not_heard(FILE_OF("ID3\3\0\0\0\0\0\1 "), NULL, DOPPEL_E_CORRUPT, "tag");
    struct tune tune = tune_make(0, 44100, 2);
    assert_not_heard(make_wav(&tune, WAV_S16), NULL, DOPPEL_E_EMPTY, "0 samples");
    assert_not_heard(make_audio(&tune, &(struct audio_how){.muxer = "flac", .codec = "flac"}), NULL,
                     DOPPEL_E_EMPTY, "0 samples");
    tune_free(&tune);
}

static void noise_is_no_music(void **state)
{
    (void)state;
    static uint8_t noise[100000];
    for (int round = 0; round < 40; round++) {
        for (size_t i = 0; i < sizeof noise; i++)
            noise[i] = (uint8_t)(next_random() >> 3);
        if (round % 4 == 3)
            memcpy(noise, "\xff\xfb\x90\x64", 4); /* the first words of an MP3 */
        struct file file = {noise, sizeof noise};
        struct heard heard = listen_to(&file, NULL);
        if (heard.status == DOPPEL_OK)
            fail_msg("noise %d is taken for audio", round);
        heard_free(&heard);
    }
}

/* Lists that would have other files opened, hidden behind a byte that is no text. */
static void lists_of_files_are_refused(void **state)
{
    (void)state;
    static const char *const lists[] = {
        "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n/tmp/other.ts\n#EXT-X-ENDLIST\n",
        "ffconcat version 1.0\nfile '/tmp/other.wav'\n",
        "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
        "m=audio 5004 RTP/AVP 0\r\n",
        "<?xml version=\"1.0\"?><MPD type=\"static\"><Period></Period></MPD>",
        ";FFMETADATA1\ntitle=x\n",
        "SBAGEN\n100+1/50\n",
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct file plain = file_of(lists[i], strlen(lists[i]));
        struct file hidden = file_of(lists[i], strlen(lists[i]) + 1);
        assert_not_heard(plain, NULL, DOPPEL_E_FORMAT, "text");
        assert_not_heard(hidden, NULL, DOPPEL_E_FORMAT, "no known format");
    }
}

static void images_alone_are_no_audio(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 40, 30);
    for (int format = DOPPEL_FORMAT_JPEG; format <= DOPPEL_FORMAT_JXL; format++) {
        struct file file = make_any((enum doppel_format)format, &scene);
        if (file.data)
            assert_not_heard(file, NULL, DOPPEL_E_FORMAT, "image");
    }
    scene_free(&scene);
}

/* ---- limits and callers ---- */

static bool stop_at_once(void *context, const struct doppel_samples *samples)
{
    (void)samples;
    ++*(int *)context;
    return false;
}

static void limits_are_kept(void **state)
{
    (void)state;
    struct tune tune = tune_make(2, 44100, 2);
    struct doppel_samples_options options = doppel_samples_options_default();
    options.max_seconds = 1.5;
    assert_not_heard(make_wav(&tune, WAV_S16), &options, DOPPEL_E_LIMIT, "1.5 seconds");
    options.max_seconds = 0;
    options.limits.max_bytes = 1000;
    assert_not_heard(make_wav(&tune, WAV_S16), &options, DOPPEL_E_LIMIT, "--max-bytes");
    options = doppel_samples_options_default();
    options.limits.max_memory = 10000;
    assert_not_heard(make_wav(&tune, WAV_S16), &options, DOPPEL_E_LIMIT, "--max-memory");
    options = doppel_samples_options_default();
    options.pcm = (enum doppel_pcm_format)99;
    assert_not_heard(make_wav(&tune, WAV_S16), &options, DOPPEL_E_ARGUMENT, "99");
    struct file wav = make_wav(&tune, WAV_S16);
    int fd = file_open(wav.data, wav.size), calls = 0;
    assert_int_equal(doppel_media_read_samples(fd, NULL, stop_at_once, &calls, NULL, NULL),
                     DOPPEL_E_CANCELLED);
    assert_int_equal(calls, 1);
    close(fd);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(doppel_media_read_samples(ends[0], NULL, stop_at_once, &calls, NULL, NULL),
                     DOPPEL_E_IO); /* no regular file, and not told to be a stream */
    close(ends[0]);
    close(ends[1]);
    file_free(&wav);
    tune_free(&tune);
}

/* ---- mutants ---- */

static void mutants_are_survived(void **state)
{
    (void)state;
    struct doppel_samples_options options = doppel_samples_options_default();
    options.max_seconds = 600; /* a changed rate makes hours of it */
    struct file seeds[AUDIO_SEEDS];
    size_t count = audio_seeds(seeds);
    uint64_t random = 7;
    for (int round = 0; round < MUTANTS; round++) {
        struct file mutant = file_mutant(&seeds[(size_t)round % count], &random);
        struct heard heard = listen_to(&mutant, &options);
        if (heard.status != DOPPEL_OK)
            assert_true(heard.error.message[0]);
        heard_free(&heard);
        file_free(&mutant);
    }
    for (size_t i = 0; i < count; i++)
        file_free(&seeds[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_cut_short_is_used_from_a_second_on),
        cmocka_unit_test(a_wav_is_known_to_be_cut_wherever_it_is),
        cmocka_unit_test(damage_is_noted_and_passed_over),
        cmocka_unit_test(what_is_no_audio_is_told),
        cmocka_unit_test(noise_is_no_music),
        cmocka_unit_test(lists_of_files_are_refused),
        cmocka_unit_test(images_alone_are_no_audio),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(mutants_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
