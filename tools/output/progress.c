/* One line on a terminal, or objects for programs. */
#include "tools/output/progress.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <doppel/json_writer.h>

#include "core/clock.h"

enum {
    REDRAW_NS = 100 * 1000 * 1000,
    JSON_NS = 1000 * 1000 * 1000,
    LINE_BYTES = 256,
    BYTES_SHOWN = 1000 * 1000
};
static const double smoothing_seconds = 5;

void progress_init(struct progress *progress, FILE *stream, bool enabled, bool json)
{
    *progress = (struct progress){.unit = "files", .json = json};
    if (enabled && (json || isatty(fileno(stream)) == 1))
        progress->stream = stream;
}

void progress_begin(struct progress *progress, const char *unit, uint64_t total)
{
    progress_end(progress);
    FILE *stream = progress->stream;
    int64_t now = stream ? monotonic_ns() : 0;
    *progress = (struct progress){.stream = stream,
                                  .json = progress->json,
                                  .unit = unit,
                                  .total = total,
                                  .errors = progress->errors,
                                  .pace = {.sampled_ns = now},
                                  .video_pace = {.sampled_ns = now},
                                  .begun_ns = now,
                                  .drawn_ns = now}; /* quick phases show nothing */
}

void progress_set_total(struct progress *progress, uint64_t total)
{
    progress->total = total;
}

/* The rate as an average that forgets: what was seen 5 s ago counts 1/e. It starts as the plain
 * average, so that the first figures are not off by the weight of an empty past. */
static void sample_pace(struct pace *pace, uint64_t done, int64_t begun, int64_t now)
{
    double passed = (double)(now - pace->sampled_ns) / 1e9;
    double age = (double)(now - begun) / 1e9;
    if (passed <= 0 || done < pace->seen)
        return;
    double recent = (double)(done - pace->seen) / passed;
    double weight = 1 - exp(-passed / smoothing_seconds);
    if (weight < passed / age)
        weight = passed / age;
    pace->rate += weight * (recent - pace->rate);
    pace->seen = done;
    pace->sampled_ns = now;
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

static void append_left(uint64_t rest, double rate, char *out, size_t size)
{
    char left[32];
    double seconds = (double)rest / rate;
    if (!rest || seconds > 1e6)
        return;
    format_left(seconds, left);
    append(out, size, " · ");
    append(out, size, left);
}

static void append_rate(const struct progress *progress, char *out, size_t size)
{
    char part[64];
    double rate = progress->pace.rate;
    snprintf(part, sizeof part, rate < 9.95 ? " · %.1f/s" : " · %.0f/s", rate);
    append(out, size, part);
    if (progress->total > progress->done)
        append_left(progress->total - progress->done, rate, out, size);
}

/* "3 h 12 min", "12 min", "45 s". */
static void format_length(uint64_t ms, char out[32])
{
    uint64_t seconds = ms / 1000;
    if (seconds >= 3600)
        snprintf(out, 32, "%" PRIu64 " h %02u min", seconds / 3600, (unsigned)(seconds / 60 % 60));
    else if (seconds >= 600)
        snprintf(out, 32, "%u min", (unsigned)(seconds / 60));
    else if (seconds >= 60)
        snprintf(out, 32, "%u min %02u s", (unsigned)(seconds / 60), (unsigned)(seconds % 60));
    else
        snprintf(out, 32, "%u s", (unsigned)seconds);
}

/* "12 of 40 videos · 3 h 12 min of 9 h 40 min". */
static void append_videos(const struct video_progress *videos, char *out, size_t size)
{
    char part[160], count[32], total[32], length[32], whole[32];
    bool known = videos->total >= videos->done && videos->total;
    format_grouped(videos->done, count);
    format_grouped(videos->total, total);
    format_length(videos->done_ms, length);
    format_length(videos->total_ms, whole);
    snprintf(part, sizeof part, "%s%s%s video%s · %s%s%s", count, known ? " of " : "",
             known ? total : "", (known ? videos->total : videos->done) == 1 ? "" : "s", length,
             known ? " of " : "", known ? whole : "");
    append(out, size, part);
}

static void append_files(const struct progress *progress, char *out, size_t size)
{
    char part[32];
    format_grouped(progress->done, part);
    append(out, size, part);
    if (progress->total && progress->done <= progress->total) {
        append_share(progress, out, size);
    } else {
        append(out, size, " ");
        append(out, size, progress->unit);
    }
}

static void append_errors(uint64_t errors, char *out, size_t size)
{
    char part[32];
    if (!errors)
        return;
    format_grouped(errors, part);
    append(out, size, " · ");
    append(out, size, part);
    append(out, size, errors == 1 ? " error" : " errors");
}

/* Bytes are told in megabytes. */
static struct progress as_shown(const struct progress *progress)
{
    struct progress shown = *progress;
    if (strcmp(progress->unit, "bytes") != 0)
        return shown;
    shown.unit = "MB";
    shown.done = (shown.done + BYTES_SHOWN - 1) / BYTES_SHOWN;
    shown.total = (shown.total + BYTES_SHOWN - 1) / BYTES_SHOWN;
    shown.pace.rate /= BYTES_SHOWN;
    return shown;
}

/* "37 of 300 pages · 8:12 left". */
static void append_pages(const struct progress *progress, char *out, size_t size)
{
    char part[96], count[32], total[32];
    format_grouped(progress->pages, count);
    format_grouped(progress->pages_total, total);
    snprintf(part, sizeof part, " · %s of %s pages", count, total);
    append(out, size, part);
    if (progress->pages_total > progress->pages && progress->page_rate > 0.005)
        append_left(progress->pages_total - progress->pages, progress->page_rate, out, size);
}

/* Videos take all the time, so theirs is what is left; else pages that are read by OCR do. */
void progress_format(const struct progress *all, char *out, size_t size)
{
    const struct progress shown = as_shown(all), *progress = &shown;
    const struct video_progress *videos = &progress->videos;
    bool alone = videos->total && videos->total == progress->total;
    out[0] = '\0';
    if (!videos->done_ms || !alone)
        append_files(progress, out, size);
    if (videos->done_ms) {
        append(out, size, alone ? "" : " · ");
        append_videos(videos, out, size);
        if (videos->total_ms > videos->done_ms && progress->video_pace.rate > 0.5)
            append_left(videos->total_ms - videos->done_ms, progress->video_pace.rate, out, size);
    } else if (progress->pages_total) {
        append_pages(progress, out, size);
    } else if (progress->pace.rate > 0.005) {
        append_rate(progress, out, size);
    }
    append_errors(progress->errors, out, size);
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
    (void)fflush(progress->stream);
    progress->visible = true;
}

static double seconds_left(const struct progress *progress)
{
    const struct video_progress *videos = &progress->videos;
    if (videos->total_ms > videos->done_ms && progress->video_pace.rate > 0.5)
        return (double)(videos->total_ms - videos->done_ms) / progress->video_pace.rate;
    if (progress->pages_total > progress->pages && progress->page_rate > 0.005)
        return (double)(progress->pages_total - progress->pages) / progress->page_rate;
    if (progress->total < progress->done || progress->pace.rate < 0.005)
        return -1;
    return (double)(progress->total - progress->done) / progress->pace.rate;
}

static void print_progress(const struct progress *progress)
{
    struct doppel_json json = {0};
    const struct video_progress *videos = &progress->videos;
    doppel_json_object_begin(&json, NULL);
    doppel_json_text(&json, "unit", progress->unit);
    doppel_json_integer(&json, "done", progress->done);
    if (progress->total)
        doppel_json_integer(&json, "total", progress->total);
    doppel_json_number(&json, "rate", progress->pace.rate, 1);
    if (progress->total && seconds_left(progress) >= 0)
        doppel_json_integer(&json, "eta", (uint64_t)(seconds_left(progress) + 0.5));
    doppel_json_integer(&json, "errors", progress->errors);
    if (videos->done_ms) {
        doppel_json_integer(&json, "videos", videos->done);
        doppel_json_number(&json, "video_seconds", (double)videos->done_ms / 1000, 1);
        doppel_json_number(&json, "video_seconds_total", (double)videos->total_ms / 1000, 1);
    }
    if (progress->pages_total) {
        doppel_json_integer(&json, "pages", progress->pages);
        doppel_json_integer(&json, "pages_total", progress->pages_total);
    }
    doppel_json_object_end(&json);
    doppel_json_end_line(&json);
    fwrite(json.bytes, 1, json.failed ? 0 : json.size, progress->stream);
    (void)fflush(progress->stream);
    doppel_json_free(&json);
}

static void sample(struct progress *progress, int64_t now)
{
    sample_pace(&progress->pace, progress->done, progress->begun_ns, now);
    sample_pace(&progress->video_pace, progress->videos.done_ms - progress->videos.spared_ms,
                progress->begun_ns, now);
    progress->page_rate =
        (double)progress->pages / fmax((double)(now - progress->begun_ns) / 1e9, 1);
}

void progress_update(struct progress *progress, uint64_t done, uint64_t errors)
{
    progress->done = done;
    progress->errors = errors;
    progress->updated = true;
    if (!progress->stream)
        return;
    int64_t now = monotonic_ns();
    if (now - progress->drawn_ns < (progress->json ? JSON_NS : REDRAW_NS))
        return;
    progress->drawn_ns = now;
    sample(progress, now);
    if (progress->json)
        print_progress(progress);
    else
        draw(progress);
}

void progress_set_videos(struct progress *progress, const struct video_progress *videos)
{
    progress->videos = *videos;
}

void progress_set_pages(struct progress *progress, uint64_t done, uint64_t total)
{
    progress->pages = done;
    progress->pages_total = total;
}

void progress_end(struct progress *progress)
{
    progress_clear(progress);
    if (progress->stream && progress->json && progress->updated) {
        sample(progress, monotonic_ns());
        print_progress(progress);
    }
    progress->updated = false;
}

void progress_clear(struct progress *progress)
{
    if (!progress->visible)
        return;
    fputs("\r\033[K", progress->stream);
    (void)fflush(progress->stream);
    progress->visible = false;
}
