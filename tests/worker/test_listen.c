/* A stream from its bytes to peaks, through the true worker: whatever the pieces it comes in. */
#include "helper.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>

#include <doppel/audio.h>
#include <doppel/media.h>

#include <audio.h>
#include "core/bytes.h"
#include "core/sanitizer.h"

enum { RATE = DOPPEL_AUDIO_RATE };

/* ---- bytes of recordings ---- */

struct bytes {
    uint8_t *data; /* free */
    size_t size;
};

/* 32-bit floats, mono. */
static struct bytes floats_of(const struct recording *recording)
{
    struct bytes bytes = {malloc(recording->count * 4), recording->count * 4};
    memcpy(bytes.data, recording->samples, bytes.size);
    return bytes;
}

/* A WAV of 16 bits, mono, whose header says that it is endless. */
static struct bytes wav_of(const struct recording *recording)
{
    struct bytes bytes = {malloc(44 + recording->count * 2), 44 + recording->count * 2};
    uint8_t *at = bytes.data;
    memcpy(at, "RIFF\xff\xff\xff\xffWAVEfmt ", 16);
    put_u32(at + 16, 16);
    put_u16(at + 20, 1);
    put_u16(at + 22, 1);
    put_u32(at + 24, RATE);
    put_u32(at + 28, RATE * 2);
    put_u16(at + 32, 2);
    put_u16(at + 34, 16);
    memcpy(at + 36, "data\xff\xff\xff\xff", 8);
    for (size_t i = 0; i < recording->count; i++)
        put_u16(at + 44 + 2 * i, (uint16_t)(int16_t)lrintf(recording->samples[i] * 30000));
    return bytes;
}

/* ---- a stream ---- */

struct writer {
    pthread_t thread;
    int fd;
    struct bytes bytes;
    size_t most;       /* bytes of a piece, at most */
    unsigned pause_us; /* between pieces */
    unsigned stay_us;  /* before the end */
};

static void *write_all(void *context)
{
    struct writer *writer = context;
    uint64_t state = 99;
    for (size_t at = 0; at < writer->bytes.size;) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        size_t piece = 1 + (state >> 33) % writer->most, left = writer->bytes.size - at;
        ssize_t written = write(writer->fd, writer->bytes.data + at, piece < left ? piece : left);
        if (written < 0)
            break;
        at += (size_t)written;
        usleep(writer->pause_us);
    }
    usleep(writer->stay_us);
    close(writer->fd);
    return NULL;
}

/* @return what is to be read */
static int begin_writing(struct writer *writer)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    writer->fd = ends[1];
    assert_int_equal(pthread_create(&writer->thread, NULL, write_all, writer), 0);
    return ends[0];
}

static struct doppel_listener *listen_to(int fd, enum doppel_pcm_format pcm)
{
    struct doppel_listen_options options = doppel_listen_options_default();
    struct doppel_listener *listener = NULL;
    struct doppel_error error = {0};
    options.program = WORKER;
    options.pcm = (uint8_t)pcm;
    options.pcm_rate = RATE;
    options.pcm_channels = 1;
    if (doppel_listener_new(fd, &options, &listener, &error))
        fail_msg("%s", error.message);
    return listener;
}

/* What was heard, all together: times in steps of the stream. */
struct all {
    struct doppel_audio_peak *peaks; /* free */
    size_t count;
    double until, gaps;
    size_t stretches;
    enum doppel_status status;
    struct doppel_error error;
};

static void take(struct all *all, const struct doppel_heard *heard)
{
    struct doppel_audio_track track;
    assert_true(heard->from <= heard->until && heard->until >= all->until);
    all->until = heard->until;
    all->stretches++;
    if (heard->gap) {
        all->gaps += heard->until - heard->from;
        return;
    }
    assert_int_equal(
        doppel_audio_track_read(heard->attachment, heard->attachment_size, &track, NULL),
        DOPPEL_OK);
    size_t count = all->count + track.count;
    all->peaks = realloc(all->peaks, (count + 1) * sizeof *all->peaks);
    double origin = heard->from * RATE / (DOPPEL_AUDIO_HOP / DOPPEL_AUDIO_TIME_STEPS);
    for (size_t i = 0; i < track.count; i++) {
        all->peaks[all->count + i] = track.peaks[i];
        all->peaks[all->count + i].time += (uint32_t)lrint(origin);
    }
    all->count = count;
    doppel_audio_track_free(&track);
}

/* Hear until the end, or until `seconds` are told. */
static struct all hear(struct doppel_listener *listener, double seconds)
{
    struct all all = {0};
    struct doppel_heard heard;
    while (all.until < seconds &&
           !(all.status = doppel_listener_next(listener, 30000, &heard, &all.error))) {
        take(&all, &heard);
        free(heard.attachment);
    }
    return all;
}

/* ---- what is to be expected ---- */

static bool analyse(void *context, const struct doppel_samples *samples)
{
    return doppel_audio_push(context, samples->data, samples->count, NULL) == DOPPEL_OK;
}

/* All peaks at once, of the same bytes in a file. */
static void expect_peaks(const struct bytes *bytes, enum doppel_pcm_format pcm,
                         const struct all *all)
{
    struct doppel_samples_options options = doppel_samples_options_default();
    struct doppel_audio *audio = NULL;
    size_t count;
    int fd = file_of(bytes->data, bytes->size);
    options.pcm = pcm;
    options.pcm_rate = RATE;
    options.pcm_channels = 1;
    assert_int_equal(doppel_audio_new(&audio, NULL), DOPPEL_OK);
    assert_int_equal(doppel_media_read_samples(fd, &options, analyse, audio, NULL, NULL),
                     DOPPEL_OK);
    assert_int_equal(doppel_audio_finish(audio, NULL), DOPPEL_OK);
    const struct doppel_audio_peak *peaks = doppel_audio_peaks(audio, &count);
    assert_true(count > 0);
    assert_int_equal(all->count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(all->peaks[i].time, peaks[i].time);
        assert_int_equal(all->peaks[i].frequency, peaks[i].frequency);
        assert_int_equal(all->peaks[i].strong, peaks[i].strong);
    }
    doppel_audio_free(audio);
    close(fd);
}

static void check_stream(struct bytes bytes, enum doppel_pcm_format pcm, size_t most,
                         unsigned pause_us, double seconds)
{
    struct writer writer = {.bytes = bytes, .most = most, .pause_us = pause_us};
    struct doppel_listener *listener = listen_to(begin_writing(&writer), pcm);
    struct all all = hear(listener, INFINITY);
    if (all.status != DOPPEL_E_NOT_FOUND)
        fail_msg("%s", all.error.message);
    assert_true(fabs(all.until - seconds) < 0.05);
    assert_true(all.gaps == 0);
    pthread_join(writer.thread, NULL);
    doppel_listener_free(listener);
    expect_peaks(&bytes, pcm, &all);
    free(all.peaks);
}

static void test_pcm(void **state)
{
    (void)state;
    struct recording recording = audio_music(20, 5);
    struct bytes bytes = floats_of(&recording);
    check_stream(bytes, DOPPEL_PCM_F32LE, 1 << 20, 0, 20);
    check_stream(bytes, DOPPEL_PCM_F32LE, 997, 0, 20);
    check_stream(bytes, DOPPEL_PCM_F32LE, 20000, 10000, 20);
    bytes.size -= 3; /* the end lies within a sample */
    check_stream(bytes, DOPPEL_PCM_F32LE, 5000, 0, 20);
    free(bytes.data);
    free(recording.samples);
}

static void test_wav(void **state)
{
    (void)state;
    struct recording recording = audio_speech(20, 6);
    struct bytes bytes = wav_of(&recording);
    check_stream(bytes, DOPPEL_PCM_NONE, 1 << 20, 0, 20);
    check_stream(bytes, DOPPEL_PCM_NONE, 1009, 100, 20);
    bytes.size = 44 + 3 * RATE * 2 + 1;
    check_stream(bytes, DOPPEL_PCM_NONE, 4096, 0, 3);
    free(bytes.data);
    free(recording.samples);
}

/* A file is read from where it stands. */
static void test_file(void **state)
{
    (void)state;
    struct recording recording = audio_music(10, 7);
    struct bytes bytes = floats_of(&recording);
    int fd = file_of(bytes.data, bytes.size);
    size_t skipped = (size_t)4 * RATE * 4;
    lseek(fd, (off_t)skipped, SEEK_SET);
    struct doppel_listener *listener = listen_to(fd, DOPPEL_PCM_F32LE);
    struct all all = hear(listener, INFINITY);
    assert_int_equal(all.status, DOPPEL_E_NOT_FOUND);
    struct bytes rest = {bytes.data + skipped, bytes.size - skipped};
    expect_peaks(&rest, DOPPEL_PCM_F32LE, &all);
    doppel_listener_free(listener);
    free(all.peaks);
    free(bytes.data);
    free(recording.samples);
}

/* What came is told while the stream stands still. */
static void test_live(void **state)
{
    (void)state;
    struct recording recording = audio_music(8, 8);
    struct bytes bytes = floats_of(&recording);
    struct writer writer = {.bytes = bytes, .most = 1 << 14, .stay_us = 3000000};
    struct doppel_listener *listener = listen_to(begin_writing(&writer), DOPPEL_PCM_F32LE);
    struct all all = hear(listener, 5);
    assert_int_equal(all.status, DOPPEL_OK);
    assert_true(all.until >= 5 && all.count > 100);
    struct doppel_heard heard;
    while (doppel_listener_next(listener, 200, &heard, NULL) == DOPPEL_OK)
        free(heard.attachment);
    assert_int_equal(doppel_listener_next(listener, 0, &heard, NULL), DOPPEL_E_TIMEOUT);
    pthread_join(writer.thread, NULL);
    doppel_listener_free(listener);
    free(all.peaks);
    free(bytes.data);
    free(recording.samples);
}

/* No audio: a sentence, and no crash. */
static void test_garbage(void **state)
{
    (void)state;
    uint64_t random = 12345;
    for (int i = 0; i < 8; i++) {
        struct bytes bytes = {malloc(200000), i ? 200000 >> i : 0};
        for (size_t at = 0; at < 200000; at++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            bytes.data[at] = i % 2 ? (uint8_t)(random >> 56) : (uint8_t) "words, "[at % 7];
        }
        struct writer writer = {.bytes = bytes, .most = 70000};
        struct doppel_listener *listener = listen_to(begin_writing(&writer), DOPPEL_PCM_NONE);
        struct all all = hear(listener, INFINITY);
        assert_true(all.status != DOPPEL_OK && all.status != DOPPEL_E_CRASH);
        assert_true(strlen(all.error.message) > 0);
        doppel_listener_free(listener);
        pthread_join(writer.thread, NULL);
        free(all.peaks);
        free(bytes.data);
    }
}

/* An hour takes no more memory than a minute. */
static void test_memory(void **state)
{
    (void)state;
    enum { MINUTES = 40 };
    struct recording recording = audio_music(60, 9);
    struct bytes minute = floats_of(&recording);
    struct bytes bytes = {malloc(minute.size * MINUTES), minute.size * MINUTES};
    for (size_t i = 0; i < MINUTES; i++)
        memcpy(bytes.data + i * minute.size, minute.data, minute.size);
    struct writer writer = {.bytes = bytes, .most = 1 << 18};
    struct doppel_listener *listener = listen_to(begin_writing(&writer), DOPPEL_PCM_F32LE);
    int child = first_child();
    struct all early = hear(listener, 120);
    long before = status_of(child, "VmHWM:");
    struct all late = hear(listener, (MINUTES - 1) * 60);
    long after = status_of(child, "VmHWM:");
#ifdef UNDER_SANITIZER
    after = before; /* it keeps what was freed for a while */
#endif
    if (before == 0 || after > before + 4096)
        fail_msg("%ld KiB, then %ld", before, after);
    doppel_listener_free(listener);
    pthread_join(writer.thread, NULL);
    free(early.peaks);
    free(late.peaks);
    free(bytes.data);
    free(minute.data);
    free(recording.samples);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pcm),  cmocka_unit_test(test_wav),     cmocka_unit_test(test_file),
        cmocka_unit_test(test_live), cmocka_unit_test(test_garbage), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
