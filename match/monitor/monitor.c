/* Listening to an endless stream: its last seconds are looked up again and again, and what is found
 * is followed until it ends. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "match/monitor/monitor_internal.h"

enum {
    LOOK = MONITOR_STEPS_SECOND, /* from one look to the next */
    TAIL = 12 * MONITOR_STEPS_SECOND,
    /* Peaks that are kept: of the tail, of a look that is not full, and twice as many as there can
     * be. */
    TAIL_PEAKS = 2 * 16 * DOPPEL_AUDIO_QUERY_PEAKS
};

/* What is looked up: short pieces tell soon, long ones in noise; other speeds where nothing is
 * heard. */
enum { EVERY_SHORT = 1, EVERY_MIDDLE = 2, EVERY_SCALED = 5, EVERY_LONG = 5, LOOKS = 4 };
static const struct stream_lookup {
    uint32_t steps;
    uint32_t every; /* looks */
    bool scaled;
} looks[LOOKS] = {{5 * MONITOR_STEPS_SECOND / 2, EVERY_SHORT, false},
                  {5 * MONITOR_STEPS_SECOND, EVERY_MIDDLE, false},
                  {5 * MONITOR_STEPS_SECOND, EVERY_SCALED, true},
                  {10 * MONITOR_STEPS_SECOND, EVERY_LONG, false}};
static_assert(3600 / EVERY_SHORT + 3600 / EVERY_MIDDLE + 3600 / EVERY_SCALED + 3600 / EVERY_LONG ==
                  DOPPEL_MONITOR_LOOKUPS,
              "a look a second");

struct doppel_monitor_options doppel_monitor_options_default(void)
{
    return (struct doppel_monitor_options){
        .audio = doppel_audio_options_default(), .max_false_alarms = 0.01, .min_event = 2};
}

static uint64_t step_of(double seconds)
{
    double step = round(seconds * DOPPEL_AUDIO_RATE * DOPPEL_AUDIO_TIME_STEPS / DOPPEL_AUDIO_HOP);
    return step > 0 ? (uint64_t)fmin(step, 0x1p62) : 0;
}

enum doppel_status doppel_monitor_new(const struct doppel_recordings *recordings,
                                      const struct doppel_monitor_options *options,
                                      struct doppel_monitor **out, struct doppel_error *error)
{
    struct doppel_monitor_options defaults = doppel_monitor_options_default();
    options = options ? options : &defaults;
    struct doppel_monitor *monitor = calloc(1, sizeof *monitor);
    if (monitor)
        monitor->tail.peaks = malloc(TAIL_PEAKS * sizeof *monitor->tail.peaks);
    if (!monitor || !monitor->tail.peaks) {
        free(monitor);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a monitor");
    }
    monitor->recordings = recordings;
    monitor->options = options->audio;
    monitor->options.near_misses = 0;
    monitor->options.max_false_positives = options->max_false_alarms / DOPPEL_MONITOR_LOOKUPS;
    monitor->min_event = step_of(fmax(options->min_event, 0));
    monitor->overlaps = options->overlaps;
    monitor->next_look = LOOK;
    *out = monitor;
    return DOPPEL_OK;
}

void doppel_monitor_free(struct doppel_monitor *monitor)
{
    if (!monitor)
        return;
    for (size_t i = 0; i < monitor->count; i++)
        heard_end(&monitor->heard[i]);
    free(monitor->tail.peaks);
    free(monitor);
}

static bool source(void *context, uint64_t id, uint32_t from, uint32_t to,
                   struct doppel_audio_track *out)
{
    const struct doppel_monitor *monitor = context;
    return audio_peaks(monitor->recordings, id, from, to, out);
}

void doppel_monitor_exchange(struct doppel_monitor *monitor,
                             const struct doppel_recordings *recordings)
{
    monitor->recordings = recordings;
    for (size_t i = 0; i < monitor->count; i++)
        for (size_t j = 0; j < monitor->heard[i].count; j++)
            view_free(&monitor->heard[i].lines[j].view);
}

/* ---- looking ---- */

static struct monitor_heard *find_heard(struct doppel_monitor *monitor, uint64_t id)
{
    for (size_t i = 0; i < monitor->count; i++)
        if (monitor->heard[i].id == id)
            return &monitor->heard[i];
    return NULL;
}

/* An alignment of the last seconds: is it of something that is heard already? */
static enum doppel_status consider(struct doppel_monitor *monitor,
                                   const struct alignment *alignment, uint64_t now,
                                   struct doppel_error *error)
{
    struct monitor_heard *heard = find_heard(monitor, alignment->id);
    if (heard) {
        heard->rate = fmin(heard->rate, alignment->rate);
        if (heard_has(heard, alignment, &monitor->tail, now))
            return DOPPEL_OK;
    }
    if (!heard && monitor->count == MONITOR_HEARD)
        return DOPPEL_OK;
    struct monitor_line line;
    enum doppel_status status = DOPPEL_OK;
    line_begin(&line, alignment, &monitor->tail,
               (struct item_view){.source = source, .context = monitor});
    bool had = line_follow(&line, alignment->id, &monitor->tail, now, &status);
    if (had && line_is_on(&line)) {
        line_resume(&line);
        had = line_follow(&line, alignment->id, &monitor->tail, now, &status);
    }
    if (had && heard && line_is_on(&line))
        heard_add(heard, &line);
    else if (had && !heard && line_is_sure(&line, 0))
        heard_begin(&monitor->heard[monitor->count++], alignment->id, &line, alignment->rate);
    else
        line_end(&line);
    return status ? doppel_fail(error, status, "no memory to follow a recording") : DOPPEL_OK;
}

static enum doppel_status look_up_stream_keys(struct doppel_monitor *monitor,
                                              const struct stream_lookup *look, uint64_t now,
                                              struct doppel_error *error)
{
    const struct monitor_tail *tail = &monitor->tail;
    struct alignment found[ALIGNMENTS_MAX];
    size_t first = 0, end = 0, count = 0;
    while (first < tail->count && tail->base + tail->peaks[first].time + look->steps < now)
        first++;
    for (end = first; end < tail->count && tail->base + tail->peaks[end].time < now;)
        end++;
    struct doppel_audio_options options = monitor->options;
    options.same_speed |= !look->scaled || monitor->count;
    enum doppel_status status = window_find(monitor->recordings, tail->peaks + first, end - first,
                                            &options, NULL, found, &count, error);
    for (size_t i = 0; i < count && !status; i++)
        if (found[i].rate <= options.max_false_positives)
            status = consider(monitor, &found[i], now, error);
    return status;
}

static enum doppel_status follow_heard_items(struct doppel_monitor *monitor, uint64_t now,
                                             struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = monitor->count; i-- > 0 && !status;) {
        struct monitor_heard *heard = &monitor->heard[i];
        enum heard_state state = heard_follow(heard, &monitor->tail, now, &status);
        if (status)
            return doppel_fail(error, status, "no memory to follow a recording");
        if (state == HEARD_JUMPED)
            status = jump_heard_item(monitor, heard, error);
        else if (state != HEARD_STILL)
            status = end_heard_item(monitor, i, error);
    }
    return status;
}

/* Forget what is too old. */
static void trim(struct monitor_tail *tail, uint64_t now)
{
    uint64_t base = now > TAIL ? now - TAIL : 0;
    size_t gone = 0;
    if (base <= tail->base)
        return;
    uint64_t moved = base - tail->base;
    while (gone < tail->count && tail->peaks[gone].time < moved)
        gone++;
    tail->count -= gone;
    memmove(tail->peaks, tail->peaks + gone, tail->count * sizeof *tail->peaks);
    for (size_t i = 0; i < tail->count; i++)
        tail->peaks[i].time -= (uint32_t)moved;
    tail->base = base;
}

static enum doppel_status look_up_stream(struct doppel_monitor *monitor, bool is_last,
                                         struct doppel_error *error)
{
    uint64_t now = monitor->next_look;
    enum doppel_status status = follow_heard_items(monitor, now, error);
    for (int i = 0; i < LOOKS && !status; i++)
        if (monitor->number % looks[i].every == 0)
            status = look_up_stream_keys(monitor, &looks[i], now, error);
    if (!status)
        status = tell_heard_items(monitor, is_last, error);
    trim(&monitor->tail, now);
    monitor->next_look += LOOK;
    monitor->number++;
    return status;
}

/* ---- the stream ---- */

static void keep_monitor_tail(struct monitor_tail *tail, struct doppel_audio_peak peak,
                              uint64_t step)
{
    if (peak.faint || tail->count == TAIL_PEAKS || step < tail->base ||
        step - tail->base > UINT32_MAX)
        return;
    peak.time = (uint32_t)(step - tail->base);
    if (tail->count && tail->peaks[tail->count - 1].time > peak.time)
        return;
    tail->peaks[tail->count++] = peak;
}

/* Nothing is heard and nothing kept: what is looked up next is what comes at `step`. */
static void skip_to(struct doppel_monitor *monitor, uint64_t step)
{
    if (monitor->count || monitor->tail.count || step < monitor->next_look)
        return;
    uint64_t skipped = (step - monitor->next_look) / LOOK;
    monitor->next_look += skipped * LOOK;
    monitor->number += skipped;
    trim(&monitor->tail, monitor->next_look);
}

enum doppel_status doppel_monitor_push(struct doppel_monitor *monitor,
                                       const struct doppel_audio_peak *peaks, size_t count,
                                       double origin, double until, doppel_monitor_visitor *visitor,
                                       void *context, struct doppel_error *error)
{
    uint64_t from = step_of(origin), end = step_of(until);
    size_t at = 0;
    enum doppel_status status = DOPPEL_OK;
    monitor->known = end > monitor->known ? end : monitor->known;
    monitor->visitor = visitor;
    monitor->context = context;
    skip_to(monitor, at < count && from + peaks[0].time < end ? from + peaks[0].time : end);
    while (monitor->next_look <= end && !status) {
        for (; at < count && from + peaks[at].time < monitor->next_look; at++)
            keep_monitor_tail(&monitor->tail, peaks[at], from + peaks[at].time);
        status = look_up_stream(monitor, false, error);
        skip_to(monitor, at < count && from + peaks[at].time < end ? from + peaks[at].time : end);
    }
    for (; at < count && !status; at++)
        keep_monitor_tail(&monitor->tail, peaks[at], from + peaks[at].time);
    return status;
}

/* What came since the last look is looked at, too. */
static enum doppel_status close_tail(struct doppel_monitor *monitor, struct doppel_error *error)
{
    uint64_t next = monitor->next_look;
    enum doppel_status status = DOPPEL_OK;
    if (monitor->tail.count && monitor->known + LOOK > next) {
        monitor->next_look = monitor->known;
        monitor->number = 0; /* all windows */
        status = look_up_stream(monitor, true, error);
        monitor->next_look = next;
    }
    monitor->tail.count = 0;
    while (monitor->count && !status)
        status = end_heard_item(monitor, 0, error);
    return status;
}

enum doppel_status doppel_monitor_gap(struct doppel_monitor *monitor, double from, double to,
                                      doppel_monitor_visitor *visitor, void *context,
                                      struct doppel_error *error)
{
    enum doppel_status status = doppel_monitor_finish(monitor, visitor, context, error);
    struct doppel_monitor_event gap = {.stream_start = from, .stream_end = to};
    if (!status)
        status = emit_monitor_event(monitor, DOPPEL_MONITOR_GAP, gap, error);
    monitor->known = step_of(to) > monitor->known ? step_of(to) : monitor->known;
    return status;
}

enum doppel_status doppel_monitor_finish(struct doppel_monitor *monitor,
                                         doppel_monitor_visitor *visitor, void *context,
                                         struct doppel_error *error)
{
    monitor->visitor = visitor;
    monitor->context = context;
    return close_tail(monitor, error);
}
