/* What is told of the items that are heard: starts of those that have lasted, one item at a time
 * unless all are wanted, and their ends. */
#include <math.h>
#include <string.h>

#include "match/monitor/monitor_internal.h"

enum { SURE_AT_LEAST = 5 * MONITOR_STEPS_SECOND / 4 };

/* So much more of the stream is an item that takes the place of another one. */
static const double LOUDER = 3;

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Where in the item the stream's audio starts, told from a step on; not before the item does. */
static struct doppel_monitor_event describe_monitor_heard(const struct monitor_heard *heard,
                                                          uint64_t from)
{
    const struct monitor_line *line = heard_last(heard);
    double start = doppel_audio_seconds((double)from);
    double passed = line->speed * (double)(from - heard->start);
    double item = doppel_audio_seconds(line->item_start + passed);
    return (struct doppel_monitor_event){
        .id = heard->id,
        .stream_start = item < 0 ? start - item / line->speed : start,
        .stream_end = doppel_audio_seconds((double)heard_until(heard)),
        .item_start = fmax(item, 0),
        .speed = line->speed,
        .score = -log10(heard->rate),
        .false_positive_rate = heard->rate};
}

enum doppel_status emit_monitor_event(struct doppel_monitor *monitor,
                                      enum doppel_monitor_event_type type,
                                      struct doppel_monitor_event event, struct doppel_error *error)
{
    event.type = type;
    if (monitor->visitor(monitor->context, &event))
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_CANCELLED, "the listening was ended");
}

/* ---- ends ---- */

static void note_ended(struct doppel_monitor *monitor, uint64_t id, uint64_t until)
{
    monitor->ended[monitor->ended_next] = (struct monitor_ended){id, until};
    monitor->ended_next = (monitor->ended_next + 1) % MONITOR_HEARD;
    monitor->told_until = later(monitor->told_until, until);
}

/* An end names the start that was reported, though the line has become another since: music repeats
 * itself. */
static enum doppel_status tell_end(struct doppel_monitor *monitor, struct monitor_heard *heard,
                                   uint64_t until, struct doppel_error *error)
{
    struct doppel_monitor_event event = describe_monitor_heard(heard, heard->start);
    if (!heard->is_told)
        return DOPPEL_OK;
    event.stream_start = heard->told.stream_start;
    event.item_start = heard->told.item_start;
    event.stream_end = doppel_audio_seconds((double)until);
    heard->is_told = false;
    note_ended(monitor, heard->id, until);
    return emit_monitor_event(monitor, DOPPEL_MONITOR_END, event, error);
}

static void forget_heard_item(struct doppel_monitor *monitor, size_t at)
{
    heard_end(&monitor->heard[at]);
    monitor->count--;
    memmove(&monitor->heard[at], &monitor->heard[at + 1],
            (monitor->count - at) * sizeof *monitor->heard);
}

enum doppel_status end_heard_item(struct doppel_monitor *monitor, size_t at,
                                  struct doppel_error *error)
{
    struct monitor_heard *heard = &monitor->heard[at];
    enum doppel_status status = tell_end(monitor, heard, heard_until(heard), error);
    forget_heard_item(monitor, at);
    return status;
}

enum doppel_status jump_heard_item(struct doppel_monitor *monitor, struct monitor_heard *heard,
                                   struct doppel_error *error)
{
    enum doppel_status status = tell_end(monitor, heard, heard_until(heard), error);
    heard_jump(heard);
    return status;
}

/* ---- starts ---- */

static bool heard_is_on(const struct monitor_heard *heard)
{
    return line_is_on(heard_last(heard));
}

/* The one that is told, where only one is. */
static struct monitor_heard *told_item(struct doppel_monitor *monitor)
{
    for (size_t i = 0; i < monitor->count && !monitor->overlaps; i++)
        if (monitor->heard[i].is_told)
            return &monitor->heard[i];
    return NULL;
}

/* Where the event of an item would start: not before the end of the one before. */
static uint64_t first_untold(const struct doppel_monitor *monitor,
                             const struct monitor_heard *heard)
{
    uint64_t from = heard->start;
    for (size_t i = 0; i < MONITOR_HEARD; i++)
        if (monitor->ended[i].id == heard->id)
            from = later(from, monitor->ended[i].until);
    return monitor->overlaps ? from : later(from, monitor->told_until);
}

/* The one that is told gives way where it is heard no more, or much less than the other. */
static bool gives_way(const struct monitor_heard *told, const struct monitor_heard *other)
{
    return !heard_is_on(told) || heard_last(told)->recent * LOUDER < heard_last(other)->recent;
}

/* Where the told one ends if this one starts. */
static uint64_t end_before(const struct doppel_monitor *monitor, const struct monitor_heard *told,
                           const struct monitor_heard *other)
{
    uint64_t until = heard_until(told), least = told->from + monitor->min_event;
    return later(heard_is_on(told) && other->start < until ? other->start : until, least);
}

static bool has_lasted(const struct doppel_monitor *monitor, const struct monitor_heard *heard,
                       uint64_t from, bool is_last)
{
    uint64_t least = later(monitor->min_event, SURE_AT_LEAST);
    uint64_t until = is_last ? heard_until(heard) : heard->certain;
    return heard_is_on(heard) && until >= from + least;
}

/* The one to be told next: of several the one that most of the stream is. */
static struct monitor_heard *next_to_tell(struct doppel_monitor *monitor, bool is_last)
{
    struct monitor_heard *best = NULL, *told = told_item(monitor);
    for (size_t i = 0; i < monitor->count; i++) {
        struct monitor_heard *heard = &monitor->heard[i];
        uint64_t from = first_untold(monitor, heard);
        if (heard->is_told || (told && !gives_way(told, heard)))
            continue;
        if (told)
            from = later(from, end_before(monitor, told, heard));
        if (has_lasted(monitor, heard, from, is_last) &&
            (!best || heard_last(heard)->recent > heard_last(best)->recent))
            best = heard;
    }
    return best;
}

static enum doppel_status tell_start(struct doppel_monitor *monitor, struct monitor_heard *heard,
                                     struct doppel_error *error)
{
    struct monitor_heard *told = told_item(monitor);
    enum doppel_status status = DOPPEL_OK;
    if (told)
        status = tell_end(monitor, told, end_before(monitor, told, heard), error);
    if (status)
        return status;
    heard->from = first_untold(monitor, heard);
    heard->told = describe_monitor_heard(heard, heard->from);
    heard->is_told = true;
    return emit_monitor_event(monitor, DOPPEL_MONITOR_START, heard->told, error);
}

enum doppel_status tell_heard_items(struct doppel_monitor *monitor, bool is_last,
                                    struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (struct monitor_heard *heard; !status && (heard = next_to_tell(monitor, is_last)) != NULL;)
        status = tell_start(monitor, heard, error);
    return status;
}
