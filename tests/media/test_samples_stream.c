/* Audio out of pipes: the same as from files, and at once. */
#include "listen.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void streams_are_heard_like_files(void **state)
{
    (void)state;
    static const struct audio_how hows[] = {
        {.muxer = "flac", .codec = "flac"},
        {.muxer = "ogg", .codec = "libvorbis"},
        {.muxer = "adts", .codec = "aac"},
        {.muxer = "mp2", .codec = "mp2"},
        {.muxer = "mpegts", .codec = "ac3"},
        {.muxer = "matroska", .codec = "pcm_s16le"},
        {.muxer = "flv", .codec = "libmp3lame"},
        {.muxer = "w64", .codec = "pcm_s16le"},
        {.muxer = "mpegts", .codec = "mp2", .images = true},
    };
    struct tune tune = tune_make(2, 44100, 2);
    for (size_t i = 0; i < sizeof hows / sizeof *hows + WAV_CODINGS; i++) {
        size_t wav = i - sizeof hows / sizeof *hows;
        struct file file = i < sizeof hows / sizeof *hows ? make_audio(&tune, &hows[i])
                                                          : make_wav(&tune, (enum wav_coding)wav);
        if (!file.data)
            continue;
        struct heard whole = listen_to(&file, NULL), streamed = listen_to_stream(&file, NULL);
        assert_int_equal(whole.status, DOPPEL_OK);
        assert_int_equal(streamed.status, DOPPEL_OK);
        if (whole.count != streamed.count)
            fail_msg("%zu: %zu samples of a file, %zu of a stream", i, whole.count, streamed.count);
        assert_memory_equal(whole.samples, streamed.samples, whole.count * sizeof(float));
        assert_int_equal(whole.info.has_images, streamed.info.has_images);
        assert_int_equal(streamed.info.damaged_ms, 0);
        heard_free(&whole);
        heard_free(&streamed);
        file_free(&file);
    }
    tune_free(&tune);
}

static void raw_pcm_is_streamed(void **state)
{
    (void)state;
    struct tune tune = tune_make(2.5, 48000, 2);
    struct file file = make_pcm(&tune, WAV_S16);
    struct doppel_samples_options options = doppel_samples_options_default();
    options.pcm = DOPPEL_PCM_S16LE;
    options.pcm_rate = 48000;
    options.limits.max_bytes = 1000; /* not heeded */
    options.max_seconds = 1;
    struct heard heard = listen_to_stream(&file, &options);
    assert_int_equal(heard.status, DOPPEL_OK);
    assert_in_range(heard.count, 27560, 27564);
    assert_true(heard_error(&heard, .1, 2.4, 1) < .002);
    heard_free(&heard);
    file_free(&file);
    tune_free(&tune);
}

/* ---- latency ---- */

struct ear {
    int fd;
    const struct doppel_samples_options *options;
    size_t wanted, count;
    sem_t enough;
    enum doppel_status status;
};

static bool count_samples(void *context, const struct doppel_samples *samples)
{
    struct ear *ear = context;
    bool before = ear->count < ear->wanted;
    ear->count += samples->count;
    if (before && ear->count >= ear->wanted)
        sem_post(&ear->enough);
    return true;
}

static void *listen_on(void *context)
{
    struct ear *ear = context;
    ear->status = doppel_media_read_samples(ear->fd, ear->options, count_samples, ear, NULL, NULL);
    return NULL;
}

/* Of the first `size` bytes, which hold `seconds` of audio, all but .3 s must be heard while the
 * pipe stays open. */
static void assert_prompt(const struct file *file, size_t size, double seconds,
                          struct doppel_samples_options *options, bool blocking)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    if (!blocking)
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
    fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    options->stream = true;
    struct ear ear = {.fd = ends[0], .options = options};
    ear.wanted = (size_t)((seconds - .3) * 11025);
    sem_init(&ear.enough, 0, 0);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, listen_on, &ear), 0);
    assert_int_equal(write(ends[1], file->data, size), size);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 10; /* a busy machine; the stream would stay silent for ever */
    int waited = sem_timedwait(&ear.enough, &until);
    size_t heard = ear.count;
    close(ends[1]);
    pthread_join(thread, NULL);
    close(ends[0]);
    sem_destroy(&ear.enough);
    if (waited != 0)
        fail_msg("%zu of %zu samples were heard while the stream was open", heard, ear.wanted);
    assert_int_equal(ear.status, DOPPEL_OK);
}

static void what_is_there_is_heard_at_once(void **state)
{
    (void)state;
    struct doppel_samples_options options = doppel_samples_options_default();
    struct tune tune = tune_make(3, 44100, 2), slow = tune_make(3, 11025, 1);
    struct file wav = make_wav(&tune, WAV_S16), slow_wav = make_wav(&slow, WAV_S16);
    struct file mp2 = make_audio(&tune, &(struct audio_how){.muxer = "mp2", .codec = "mp2"});
    struct file pcm = make_pcm(&tune, WAV_S16);
    assert_prompt(&wav, 44 + 44100 * 4, 1, &options, true);
    assert_prompt(&slow_wav, 44 + 11025 * 2, 1, &options, true);
    assert_prompt(&mp2, mp2.size / 2, 1.5, &options, false);
    options.pcm = DOPPEL_PCM_S16LE;
    assert_prompt(&pcm, 44100 * 4, 1, &options, true);
    assert_prompt(&pcm, 44100 * 4, 1, &options, false);
    file_free(&wav);
    file_free(&slow_wav);
    file_free(&mp2);
    file_free(&pcm);
    tune_free(&tune);
    tune_free(&slow);
}

/* A recorder that does not know how long it will go on writes lengths of 0 or of all ones. */
static void wav_without_a_length_is_heard(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {0, 0xffffffff, 0x7fffffff};
    struct tune tune = tune_make(2, 44100, 2);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct file wav = make_wav(&tune, WAV_S16);
        memcpy(wav.data + 4, &lengths[i], 4);
        memcpy(wav.data + 40, &lengths[i], 4);
        struct heard heard = listen_to_stream(&wav, NULL);
        if (heard.status != DOPPEL_OK)
            fail_msg("length %x: %s", lengths[i], heard.error.message);
        assert_int_equal(heard.count, 22050);
        heard_free(&heard);
        file_free(&wav);
    }
    tune_free(&tune);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_are_heard_like_files),
        cmocka_unit_test(raw_pcm_is_streamed),
        cmocka_unit_test(what_is_there_is_heard_at_once),
        cmocka_unit_test(wav_without_a_length_is_heard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
