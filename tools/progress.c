/* One line on a terminal. */
#include "tools/progress.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { REDRAW_NS = 100 * 1000 * 1000, LINE_BYTES = 256 };
static const double smoothing_seconds = 5;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void progress_init(struct progress *progress, FILE *stream, bool enabled)
{
    *progress = (struct progress){.unit = "files"};
    if (enabled && isatty(fileno(stream)) == 1)
        progress->stream = stream;
}

void progress_begin(struct progress *progress, const char *unit, uint64_t total)
{
    progress_clear(progress);
    FILE *stream = progress->stream;
    int64_t now = stream ? now_ns() : 0;
    *progress = (struct progress){.stream = stream,
                                  .unit = unit,
                                  .total = total,
                                  .errors = progress->errors,
                                  .begun_ns = now,
                                  .sampled_ns = now,
                                  .drawn_ns = now}; /* quick phases show nothing */
}

void progress_set_total(struct progress *progress, uint64_t total)
{
    progress->total = total;
}

/* The rate as an average that forgets: what was seen 5 s ago counts 1/e. It starts as the plain
 * average, so that the first figures are not off by the weight of an empty past. */
static void sample_rate(struct progress *progress, int64_t now)
{
    double passed = (double)(now - progress->sampled_ns) / 1e9;
    double age = (double)(now - progress->begun_ns) / 1e9;
    if (passed <= 0 || progress->done < progress->drawn_done)
        return;
    double recent = (double)(progress->done - progress->drawn_done) / passed;
    double weight = 1 - exp(-passed / smoothing_seconds);
    if (weight < passed / age)
        weight = passed / age;
    progress->rate += weight * (recent - progress->rate);
    progress->drawn_done = progress->done;
    progress->sampled_ns = now;
}

/* 1234567 as "1 234 567". */
static void format_grouped(uint64_t value, char out[32])
{
    char digits[24];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, value);
    for (size_t i = 0; i < length; i++) {
        *out++ = digits[i];
        if ((length - 1 - i) % 3 == 0 && i + 1 < length)
            *out++ = ' ';
    }
    *out = 0;
}

static void format_left(double seconds, char out[32])
{
    uint64_t left = (uint64_t)(seconds + 0.5);
    if (left >= 3600)
        snprintf(out, 32, "%" PRIu64 ":%02u:%02u left", left / 3600, (unsigned)(left / 60 % 60),
                 (unsigned)(left % 60));
    else
        snprintf(out, 32, "%u:%02u left", (unsigned)(left / 60), (unsigned)(left % 60));
}

static void append(char *out, size_t size, const char *text)
{
    size_t used = strlen(out);
    snprintf(out + used, size - used, "%s", text);
}

static void append_share(const struct progress *progress, char *out, size_t size)
{
    char part[64], total[32];
    format_grouped(progress->total, total);
    snprintf(part, sizeof part, " of %s %s · %u %%", total, progress->unit,
             (unsigned)(100.0 * (double)progress->done / (double)progress->total));
    append(out, size, part);
}

static void append_rate(const struct progress *progress, char *out, size_t size)
{
    char part[64], left[32];
    snprintf(part, sizeof part, progress->rate < 9.95 ? " · %.1f/s" : " · %.0f/s", progress->rate);
    append(out, size, part);
    double seconds = (double)(progress->total - progress->done) / progress->rate;
    if (progress->total <= progress->done || seconds > 1e6)
        return;
    format_left(seconds, left);
    append(out, size, " · ");
    append(out, size, left);
}

void progress_format(const struct progress *progress, char *out, size_t size)
{
    char part[64];
    format_grouped(progress->done, part);
    snprintf(out, size, "%s", part);
    if (progress->total && progress->done <= progress->total) {
        append_share(progress, out, size);
    } else {
        append(out, size, " ");
        append(out, size, progress->unit);
    }
    if (progress->rate > 0.005)
        append_rate(progress, out, size);
    if (progress->errors) {
        format_grouped(progress->errors, part);
        append(out, size, " · ");
        append(out, size, part);
        append(out, size, progress->errors == 1 ? " error" : " errors");
    }
}

/* Cut to the terminal's width: a line that wraps could not be taken away. The text is UTF-8 whose
 * characters are all one column wide. */
static void cut_to_width(char *line, size_t columns)
{
    size_t column = 0;
    for (; *line; line++)
        if (((unsigned char)*line & 0xc0) != 0x80 && column++ == columns) {
            *line = 0;
            return;
        }
}

static void draw(struct progress *progress)
{
    char line[LINE_BYTES];
    struct winsize window;
    size_t columns = 80;
    if (ioctl(fileno(progress->stream), TIOCGWINSZ, &window) == 0 && window.ws_col > 1)
        columns = window.ws_col;
    progress_format(progress, line, sizeof line);
    cut_to_width(line, columns - 1);
    fprintf(progress->stream, "\r%s\033[K", line);
    fflush(progress->stream);
    progress->visible = true;
}

void progress_update(struct progress *progress, uint64_t done, uint64_t errors)
{
    progress->done = done;
    progress->errors = errors;
    if (!progress->stream)
        return;
    int64_t now = now_ns();
    if (now - progress->drawn_ns < REDRAW_NS)
        return;
    progress->drawn_ns = now;
    sample_rate(progress, now);
    draw(progress);
}

void progress_clear(struct progress *progress)
{
    if (!progress->visible)
        return;
    fputs("\r\033[K", progress->stream);
    fflush(progress->stream);
    progress->visible = false;
}
