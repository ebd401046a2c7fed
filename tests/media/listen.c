/* Reading audio in memory, and measuring what came. */
#include "listen.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RATE = 11025 };

static bool hear(void *context, const struct doppel_samples *samples)
{
    struct heard *heard = context;
    heard->samples = realloc(heard->samples, (heard->count + samples->count) * sizeof(float));
    assert(heard->samples);
    float *out = heard->samples + heard->count;
    if (samples->data) {
        memcpy(out, samples->data, samples->count * sizeof *out);
    } else {
        memset(out, 0, samples->count * sizeof *out);
        heard->silent += samples->count;
        heard->silences++;
    }
    heard->count += samples->count;
    return true;
}

static struct heard listen_fd(int fd, const struct doppel_samples_options *options)
{
    struct heard heard = {0};
    heard.info.rate = 77;
    heard.status = doppel_media_read_samples(fd, options, hear, &heard, &heard.info, &heard.error);
    if (heard.status != DOPPEL_OK)
        assert_int_equal(heard.info.rate, 77); /* untouched on failure */
    for (size_t i = 0; i < heard.count; i++)
        if (!isfinite(heard.samples[i]))
            fail_msg("sample %zu is no number", i);
    return heard;
}

struct heard listen_to(const struct file *file, const struct doppel_samples_options *options)
{
    int fd = file_open(file->data, file->size);
    struct heard heard = listen_fd(fd, options);
    close(fd);
    return heard;
}

struct feeder {
    const struct file *file;
    int fd;
};

static void *feed(void *context)
{
    const struct feeder *feeder = context;
    size_t at = 0;
    for (unsigned step = 1; at < feeder->file->size; step = step * 7 % 9973) {
        size_t left = feeder->file->size - at;
        ssize_t written = write(feeder->fd, feeder->file->data + at, step < left ? step : left);
        if (written <= 0)
            break;
        at += (size_t)written;
    }
    close(feeder->fd);
    return NULL;
}

struct heard listen_to_stream(const struct file *file, const struct doppel_samples_options *options)
{
    struct doppel_samples_options changed = options ? *options : doppel_samples_options_default();
    changed.stream = true;
    signal(SIGPIPE, SIG_IGN);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct feeder feeder = {file, ends[1]};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, feed, &feeder), 0);
    struct heard heard = listen_fd(ends[0], &changed);
    close(ends[0]);
    pthread_join(thread, NULL);
    return heard;
}

void heard_free(struct heard *heard)
{
    free(heard->samples);
    *heard = (struct heard){0};
}

double heard_error(const struct heard *heard, double from, double until, double scale)
{
    double most = 0;
    for (size_t i = (size_t)(from * RATE); i < (size_t)(until * RATE); i++) {
        assert_true(i < heard->count);
        double off = fabs((double)heard->samples[i] - scale * tune_value((double)i / RATE));
        most = off > most ? off : most;
    }
    return most;
}

double heard_level(const struct heard *heard, double from, double until, double hertz)
{
    double real = 0, imaginary = 0, weights = 0;
    size_t first = (size_t)(from * RATE), last = (size_t)(until * RATE);
    assert_true(last <= heard->count);
    for (size_t i = first; i < last; i++) {
        double turn = 2 * acos(-1) * hertz * (double)i / RATE;
        double weight = .5 - .5 * cos(2 * acos(-1) * (double)(i - first) / (double)(last - first));
        real += weight * (double)heard->samples[i] * cos(turn);
        imaginary += weight * (double)heard->samples[i] * sin(turn);
        weights += weight;
    }
    return 2 * hypot(real, imaginary) / weights;
}

void assert_not_heard(struct file file, const struct doppel_samples_options *options,
                      enum doppel_status status, const char *words)
{
    struct heard heard = listen_to(&file, options);
    if (heard.status == DOPPEL_OK)
        fail_msg("was heard, but should be refused (%s)", words);
    assert_string_equal(doppel_status_name(heard.status), doppel_status_name(status));
    assert_int_equal(heard.error.status, status);
    if (!strstr(heard.error.message, words))
        fail_msg("says \"%s\", without \"%s\"", heard.error.message, words);
    heard_free(&heard);
    file_free(&file);
}
