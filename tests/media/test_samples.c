/* Audio of every kind of file, as it was before it was encoded. */
#include "listen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct doppel_samples_options raw(enum doppel_pcm_format pcm, uint32_t rate,
                                         uint32_t channels)
{
    struct doppel_samples_options options = doppel_samples_options_default();
    options.pcm = pcm;
    options.pcm_rate = rate;
    options.pcm_channels = channels;
    return options;
}

static void assert_heard(const struct heard *heard)
{
    if (heard->status != DOPPEL_OK)
        fail_msg("is refused: %s", heard->error.message);
}

/* ---- PCM ---- */

/* What the coding kept of a value: found without the code under test. */
static float kept(float value, enum wav_coding coding)
{
    static const double steps[] = {0x1p-7, 0x1p-15, 0x1p-23, 0x1p-31};
    if (coding >= WAV_F32)
        return value;
    double step = steps[coding];
    return (float)(floor(round((double)value * 0x1p31) / 0x1p31 / step) * step);
}

static void pcm_at_the_rate_is_kept_to_the_bit(void **state)
{
    (void)state;
    struct tune tune = tune_make(1.2, 11025, 1);
    for (int coding = WAV_U8; coding < WAV_CODINGS; coding++) {
        struct file wav = make_wav(&tune, (enum wav_coding)coding);
        struct heard heard = listen_to(&wav, NULL);
        assert_heard(&heard);
        assert_int_equal(heard.count, tune.count);
        for (size_t i = 0; i < tune.count; i++)
            if (heard.samples[i] != kept(tune.samples[i], (enum wav_coding)coding))
                fail_msg("coding %d: sample %zu of %g is %g", coding, i, (double)tune.samples[i],
                         (double)heard.samples[i]);
        assert_int_equal(heard.info.rate, 11025);
        assert_int_equal(heard.info.channels, 1);
        assert_int_equal(heard.info.duration_ms, 1200);
        assert_int_equal(heard.info.damaged_ms, 0);
        assert_false(heard.info.has_images);
        heard_free(&heard);
        file_free(&wav);
    }
    tune_free(&tune);
}

static void raw_pcm_is_as_the_wav_of_it(void **state)
{
    (void)state;
    struct tune tune = tune_make(1.1, 44100, 2);
    for (int coding = WAV_U8; coding <= WAV_F32; coding++) {
        struct file wav = make_wav(&tune, (enum wav_coding)coding);
        struct file pcm = make_pcm(&tune, (enum wav_coding)coding);
        file_append(&pcm, "!", coding != WAV_U8); /* less than a sample: ignored */
        struct doppel_samples_options options =
            raw((enum doppel_pcm_format)(DOPPEL_PCM_U8 + coding), 44100, 2);
        struct heard one = listen_to(&wav, NULL), other = listen_to(&pcm, &options);
        assert_heard(&one);
        assert_heard(&other);
        assert_int_equal(one.count, other.count);
        assert_memory_equal(one.samples, other.samples, one.count * sizeof *one.samples);
        assert_int_equal(other.info.damaged_ms, 0);
        heard_free(&one);
        heard_free(&other);
        file_free(&wav);
        file_free(&pcm);
    }
    tune_free(&tune);
}

/* The three tones of a tune come out in place and at their level, from any rate. */
static void any_rate_is_resampled(void **state)
{
    (void)state;
    static const uint32_t rates[] = {8000,  11024, 12000, 16000, 22050,  32000,
                                     44100, 44101, 48000, 96000, 192000, 768000};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct tune tune = tune_make(1.5, rates[i], 1);
        struct file wav = make_wav(&tune, WAV_F32);
        struct heard heard = listen_to(&wav, NULL);
        assert_heard(&heard);
        assert_in_range(heard.count, 16537 - 3, 16537 + 3);
        double off = heard_error(&heard, .1, 1.4, 1);
        if (off > .002)
            fail_msg("from %u Hz the samples are off by %.4f", rates[i], off);
        heard_free(&heard);
        file_free(&wav);
        tune_free(&tune);
    }
}

/* What is over half the rate must not come back as another tone. */
static void high_tones_are_not_folded(void **state)
{
    (void)state;
    struct tune tune = tune_make(1.2, 44100, 1);
    for (size_t i = 0; i < tune.count; i++)
        tune.samples[i] = (float)sin(2 * acos(-1) * 7000 * (double)i / 44100);
    struct file wav = make_wav(&tune, WAV_F32);
    struct heard heard = listen_to(&wav, NULL);
    assert_heard(&heard);
    assert_true(heard_level(&heard, .1, 1.1, 11025 - 7000) < 1e-4);
    heard_free(&heard);
    file_free(&wav);
    tune_free(&tune);
}

static void one_sample_a_second_is_audio(void **state)
{
    (void)state;
    struct tune tune = tune_make(100, 1, 1);
    struct file wav = make_wav(&tune, WAV_S16);
    struct heard heard = listen_to(&wav, NULL);
    assert_heard(&heard);
    assert_in_range(heard.count, 99 * 11025, 101 * 11025);
    heard_free(&heard);
    file_free(&wav);
    tune_free(&tune);
    struct file none = make_wav(&(struct tune){3000000, 1, 4, (float[4]){0}}, WAV_S16);
    assert_not_heard(none, NULL, DOPPEL_E_UNSUPPORTED, "3000000 samples a second");
}

static void what_is_no_number_is_silence(void **state)
{
    (void)state;
    struct tune tune = tune_make(1, 11025, 2);
    static const float bad[] = {NAN, INFINITY, -INFINITY, 1e30F, -3e38F};
    for (size_t i = 0; i < 5; i++)
        tune.samples[2 * (100 * i + 50)] = bad[i];
    for (int coding = WAV_F32; coding <= WAV_F64; coding++) {
        struct file wav = make_wav(&tune, (enum wav_coding)coding);
        struct heard heard = listen_to(&wav, NULL);
        assert_heard(&heard);
        for (size_t i = 0; i < tune.count; i++) {
            float share = i < 500 && i % 100 == 50 ? .5F : 1;
            assert_float_equal(heard.samples[i], share * tune.samples[2 * i + 1], 1e-6);
        }
        heard_free(&heard);
        file_free(&wav);
    }
    tune_free(&tune);
}

/* ---- channels ---- */

static void set_gain(struct tune *tune, uint32_t channel, double from, double until, double gain)
{
    for (size_t i = 0; i < tune->count; i++)
        if ((double)i >= from * tune->rate && (double)i < until * tune->rate)
            tune->samples[i * tune->channels + channel] =
                (float)(gain * tune_value((double)i / tune->rate));
}

static struct heard listen_to_tune(struct tune *tune)
{
    struct file wav = make_wav(tune, WAV_F32);
    struct heard heard = listen_to(&wav, NULL);
    assert_heard(&heard);
    assert_int_equal(heard.info.channels, tune->channels);
    file_free(&wav);
    tune_free(tune);
    return heard;
}

static void channels_are_mixed_to_their_mean(void **state)
{
    (void)state;
    static const uint32_t counts[] = {2, 3, 6, 8, 64};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct tune tune = tune_make(1.2, 48000, counts[i]);
        set_gain(&tune, 0, 0, 2, .5);
        struct heard heard = listen_to_tune(&tune);
        assert_true(heard_error(&heard, .1, 1.1, 1 - .5 / counts[i]) < .002);
        heard_free(&heard);
    }
}

static void a_lone_channel_is_not_lost(void **state)
{
    (void)state;
    struct tune tune = tune_make(1.2, 44100, 8);
    for (uint32_t channel = 0; channel < 8; channel++)
        set_gain(&tune, channel, 0, 2, channel == 5);
    struct heard heard = listen_to_tune(&tune);
    assert_true(heard_error(&heard, .1, 1.1, 1. / 8) < .002);
    heard_free(&heard);
}

/* 1 s in phase, 2 s against each other, 2 s in phase: the strongest takes the place of the mix as
 * long as it must, and gives it back. */
static void channels_that_cancel_give_way_to_the_strongest(void **state)
{
    (void)state;
    struct tune tune = tune_make(5, 44100, 2);
    set_gain(&tune, 1, 1, 3, -.9);
    struct heard heard = listen_to_tune(&tune);
    assert_true(heard_error(&heard, .1, .9, 1) < .002);
    assert_true(heard_error(&heard, 2.2, 2.9, 1) < .002);
    assert_true(heard_error(&heard, 4, 4.9, 1) < .002);
    heard_free(&heard);
    tune = tune_make(1.5, 44100, 2);
    set_gain(&tune, 1, 0, 2, -1);
    for (size_t i = 0; i < tune.count; i++)
        tune.samples[2 * i] += .4F; /* an offset that is not heard must not count */
    heard = listen_to_tune(&tune);
    assert_true(heard_level(&heard, .2, 1.4, 440) > .29);
    heard_free(&heard);
}

/* ---- containers ---- */

static const struct form {
    struct audio_how how;
    double tolerance; /* of a sample; 0 = lossy: by the level of its tones */
} forms[] = {
    {{.muxer = "flac", .codec = "flac"}, .002},
    {{.muxer = "aiff", .codec = "pcm_s16be"}, .002},
    {{.muxer = "au", .codec = "pcm_s16be"}, .002},
    {{.muxer = "caf", .codec = "pcm_s16be"}, .002},
    {{.muxer = "w64", .codec = "pcm_s16le"}, .002},
    {{.muxer = "wv", .codec = "wavpack"}, .002},
    {{.muxer = "tta", .codec = "tta"}, .002},
    {{.muxer = "ogg", .codec = "flac"}, .002},
    {{.muxer = "matroska", .codec = "pcm_f32le"}, .002},
    {{.muxer = "mov", .codec = "alac"}, .002},
    {{.muxer = "mp3", .codec = "libmp3lame"}, .06},
    {{.muxer = "ogg", .codec = "libvorbis"}, .05},
    {{.muxer = "webm", .codec = "libvorbis"}, 0},
    {{.muxer = "ipod", .codec = "aac"}, .05},
    {{.muxer = "adts", .codec = "aac"}, 0},
    {{.muxer = "ac3", .codec = "ac3"}, 0},
    {{.muxer = "eac3", .codec = "eac3"}, 0},
    {{.muxer = "mp2", .codec = "mp2"}, 0},
    {{.muxer = "asf", .codec = "wmav2"}, 0},
    {{.muxer = "flv", .codec = "libmp3lame"}, 0},
    {{.muxer = "mpegts", .codec = "aac"}, 0},
    {{.muxer = "mpeg", .codec = "mp2"}, 0},
    {{.muxer = "avi", .codec = "mp2", .images = true}, 0},
    {{.muxer = "mp4", .codec = "aac", .images = true}, .05},
    {{.muxer = "matroska", .codec = "flac", .images = true}, .002},
    {{.muxer = "mpegts", .codec = "ac3", .images = true}, 0},
};

static void assert_like_the_tune(const struct heard *heard, const struct form *form)
{
    const char *name = form->how.muxer;
    if (heard->status != DOPPEL_OK)
        fail_msg("%s, %s: %s", name, form->how.codec, heard->error.message);
    if (heard->info.damaged_ms || heard->info.has_images != form->how.images)
        fail_msg("%s: damaged at %d, pictures %d", name, (int)heard->info.damaged_ms,
                 heard->info.has_images);
    if (heard->count < 1.8 * 11025 || heard->count > 2.2 * 11025)
        fail_msg("%s: %zu samples", name, heard->count);
    double levels[] = {heard_level(heard, .3, 1.7, 440), heard_level(heard, .3, 1.7, 1234.5),
                       heard_level(heard, .3, 1.7, 2801)};
    for (int i = 0; i < 3; i++)
        if (fabs(levels[i] - .1 * (3 - i)) > .02)
            fail_msg("%s, %s: tone %d has a level of %.3f", name, form->how.codec, i, levels[i]);
    double off = form->tolerance > 0 ? heard_error(heard, .3, 1.7, 1) : 0;
    if (off > form->tolerance)
        fail_msg("%s, %s: off by %.3f", name, form->how.codec, off);
}

static void containers_are_read(void **state)
{
    (void)state;
    struct tune tune = tune_make(2, 44100, 2);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct file file = make_audio(&tune, &forms[i].how);
        if (!file.data) {
            print_message("no %s here: left out\n", forms[i].how.codec);
            continue;
        }
        struct heard heard = listen_to(&file, NULL);
        assert_like_the_tune(&heard, &forms[i]);
        enum doppel_kind kind =
            doppel_media_probe(file.data, file.size < 4096 ? file.size : 4096, NULL);
        if (kind != DOPPEL_KIND_AUDIO && kind != DOPPEL_KIND_VIDEO)
            fail_msg("%s: is told to be %s", forms[i].how.muxer, doppel_kind_name(kind));
        if (forms[i].how.images)
            assert_int_equal(kind, DOPPEL_KIND_VIDEO);
        heard_free(&heard);
        file_free(&file);
    }
    tune_free(&tune);
}

static void a_tag_before_the_audio_is_skipped(void **state)
{
    (void)state;
    struct tune tune = tune_make(1.5, 44100, 2);
    struct file recording = make_audio(&tune, &(struct audio_how){.muxer = "mp2", .codec = "mp2"});
    uint8_t tag[10] = {'I', 'D', '3', 4, 0, 0, 0, 0x7f, 0x7f, 0x7f}; /* 2 MB */
    struct file tagged = {0};
    file_append(&tagged, tag, sizeof tag);
    uint8_t *image = calloc(1, 0x1fffff);
    assert_non_null(image);
    file_append(&tagged, image, 0x1fffff);
    file_append(&tagged, recording.data, recording.size);
    free(image);
    struct heard plain = listen_to(&recording, NULL), skipped = listen_to(&tagged, NULL);
    struct heard streamed = listen_to_stream(&tagged, NULL);
    assert_heard(&plain);
    assert_heard(&skipped);
    assert_heard(&streamed);
    assert_int_equal(plain.count, skipped.count);
    assert_memory_equal(plain.samples, skipped.samples, plain.count * sizeof *plain.samples);
    assert_int_equal(plain.count, streamed.count);
    heard_free(&plain);
    heard_free(&skipped);
    heard_free(&streamed);
    file_free(&recording);
    file_free(&tagged);
    tune_free(&tune);
}

/* 44.1 kHz in stereo, then 48 kHz in mono, as streams of radio stations do. */
static void the_format_may_change_midway(void **state)
{
    (void)state;
    struct tune first = tune_make(2, 44100, 2), second = tune_make(2, 48000, 1);
    struct audio_how how = {.muxer = "mp2", .codec = "mp2"};
    struct file file = make_audio(&first, &how), rest = make_audio(&second, &how);
    file_append(&file, rest.data, rest.size);
    struct heard heard = listen_to(&file, NULL);
    assert_heard(&heard);
    assert_in_range(heard.count, 3.9 * 11025, 4.2 * 11025);
    assert_int_equal(heard.info.rate, 44100);
    assert_int_equal(heard.info.channels, 2);
    assert_float_equal(heard_level(&heard, .3, 1.7, 440), .3, .01);
    assert_float_equal(heard_level(&heard, 2.4, 3.7, 440), .3, .01);
    heard_free(&heard);
    file_free(&file);
    file_free(&rest);
    tune_free(&first);
    tune_free(&second);
}

/* ---- tags ---- */

static void tags_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *muxer, *codec;
    } containers[] = {
        {"flac", "flac"},      {"ogg", "flac"},  {"ogg", "libvorbis"},
        {"mp3", "libmp3lame"}, {"ipod", "aac"},  {"matroska", "flac"},
        {"wav", "pcm_s16le"},  {"asf", "wmav2"}, {"wv", "wavpack"},
    };
    struct tune tune = tune_make(2, 44100, 1);
    unsigned read = 0;
    for (size_t i = 0; i < sizeof containers / sizeof *containers; i++) {
        const struct audio_how how = {.muxer = containers[i].muxer,
                                      .codec = containers[i].codec,
                                      .artist = "Sigur R\xc3\xb3s",
                                      .title = " Two\nlines\t\x1b[31m ",
                                      .album = "An album"};
        struct file file = make_audio(&tune, &how);
        if (!file.data)
            continue;
        struct heard heard = listen_to(&file, NULL);
        assert_heard(&heard);
        assert_string_equal(heard.info.tags.artist, "Sigur R\xc3\xb3s");
        assert_string_equal(heard.info.tags.title, "Two lines [31m");
        assert_string_equal(heard.info.tags.album, "An album");
        read++;
        heard_free(&heard);
        file_free(&file);
    }
    assert_true(read >= 4);
    tune_free(&tune);
}

static void a_long_tag_is_cut(void **state)
{
    (void)state;
    struct tune tune = tune_make(2, 44100, 1);
    char title[2000] = "";
    for (size_t i = 0; i < sizeof title - 4; i += 3)
        memcpy(title + i, "\xe2\x82\xac", 3); /* a euro */
    const struct audio_how how = {.muxer = "flac", .codec = "flac", .title = title};
    struct file file = make_audio(&tune, &how);
    struct heard heard = listen_to(&file, NULL);
    assert_heard(&heard);
    assert_int_equal(strlen(heard.info.tags.title), DOPPEL_TAG_BYTES / 3 * 3);
    assert_string_equal(heard.info.tags.artist, "");
    heard_free(&heard);
    file_free(&file);
    tune_free(&tune);
}

/* ---- time ---- */

static void gaps_are_filled_with_silence(void **state)
{
    (void)state;
    struct tune tune = tune_make(3, 44100, 1);
    struct audio_how how = {.muxer = "matroska", .codec = "flac", .gap_at = 1.5, .gap = 2.5};
    struct file file = make_audio(&tune, &how);
    struct heard heard = listen_to(&file, NULL);
    assert_heard(&heard);
    assert_int_equal(heard.silences, 1);
    assert_in_range(heard.silent, 2.45 * 11025, 2.55 * 11025);
    assert_in_range(heard.count, 5.48 * 11025, 5.52 * 11025);
    assert_true(heard_error(&heard, .1, 1.4, 1) < .002);
    assert_int_equal(heard.info.duration_ms, heard.count * 1000 / 11025);
    heard_free(&heard);
    file_free(&file);
    how.gap = 5000; /* more than an hour: no time that anybody waited */
    file = make_audio(&tune, &how);
    heard = listen_to(&file, NULL);
    assert_heard(&heard);
    assert_int_equal(heard.silent, 0);
    assert_in_range(heard.count, 2.98 * 11025, 3.02 * 11025);
    heard_free(&heard);
    file_free(&file);
    tune_free(&tune);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pcm_at_the_rate_is_kept_to_the_bit),
        cmocka_unit_test(raw_pcm_is_as_the_wav_of_it),
        cmocka_unit_test(any_rate_is_resampled),
        cmocka_unit_test(high_tones_are_not_folded),
        cmocka_unit_test(one_sample_a_second_is_audio),
        cmocka_unit_test(what_is_no_number_is_silence),
        cmocka_unit_test(channels_are_mixed_to_their_mean),
        cmocka_unit_test(a_lone_channel_is_not_lost),
        cmocka_unit_test(channels_that_cancel_give_way_to_the_strongest),
        cmocka_unit_test(containers_are_read),
        cmocka_unit_test(a_tag_before_the_audio_is_skipped),
        cmocka_unit_test(the_format_may_change_midway),
        cmocka_unit_test(tags_are_read),
        cmocka_unit_test(a_long_tag_is_cut),
        cmocka_unit_test(gaps_are_filled_with_silence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
