/* An item that is heard: on which of its lines, and when it is not heard any more. */
#include <math.h>
#include <string.h>

#include "match/monitor/monitor_internal.h"

enum {
    WITHIN = 3 * DOPPEL_AUDIO_TIME_STEPS, /* of a line: on it */
    SLIP = MONITOR_STEPS_SECOND / 2,      /* of a line that was lost: it slipped */
    EARLY = 3 * MONITOR_STEPS_SECOND / 2, /* of the start: heard since then */
    PATIENCE = 5 * MONITOR_STEPS_SECOND,  /* not heard for so long: it has ended */
    PATIENCE_IN_NOISE = 10 * MONITOR_STEPS_SECOND
};

/* Below this share of the stream's peaks it is heard in noise, and lost sooner. */
static const double NOISY_SHARE = 0.2;

/* What is certain of a member remains so when the member is dropped. */
static void note_certain(struct monitor_heard *heard)
{
    for (size_t i = 0; i < heard->count; i++) {
        uint64_t certain = line_certain(&heard->lines[i]);
        if (heard->lines[i].member && certain > heard->certain)
            heard->certain = certain;
    }
}

void heard_begin(struct monitor_heard *heard, uint64_t id, const struct monitor_line *line,
                 double rate)
{
    *heard = (struct monitor_heard){.id = id,
                                    .start = line->on_since,
                                    .rate = rate,
                                    .certain = line->on_since,
                                    .lines = {*line},
                                    .count = 1};
    heard->lines[0].member = true;
    heard->lines[0].item_start = line_item_time(line, heard->start);
    note_certain(heard);
}

void heard_end(struct monitor_heard *heard)
{
    for (size_t i = 0; i < heard->count; i++)
        line_end(&heard->lines[i]);
    heard->count = 0;
}

bool heard_has(struct monitor_heard *heard, const struct alignment *alignment,
               const struct monitor_tail *tail, uint64_t now)
{
    double time = alignment->offset + alignment->speed * (double)(now - tail->base);
    for (size_t i = 0; i < heard->count; i++) {
        struct monitor_line *line = &heard->lines[i];
        double away = fabs(line_item_time(line, now) - time);
        if (away <= WITHIN || (away <= SLIP && line_is_on(line)))
            return true;
        if (away > SLIP)
            continue;
        line_move(line, alignment, tail);
        return true;
    }
    return false;
}

static void drop_heard(struct monitor_heard *heard, size_t at)
{
    line_end(&heard->lines[at]);
    heard->count--;
    memmove(&heard->lines[at], &heard->lines[at + 1],
            (heard->count - at) * sizeof heard->lines[at]);
}

/* A line that runs back to where the item began to be heard, or as far as is known, is a line of
 * all that was heard: so are all lines of a loop. */
static bool is_member(const struct monitor_heard *heard, const struct monitor_line *line)
{
    bool early = line->on_since <= heard->start + EARLY || line->on_since <= line->begun + EARLY;
    return line_is_on(line) && early && line_item_time(line, heard->start) >= -(double)EARLY;
}

/* Members come before others. */
static void make_room_to_hear(struct monitor_heard *heard, bool member)
{
    for (size_t i = heard->count; member && heard->count == MONITOR_LINES && i-- > 0;)
        if (!heard->lines[i].member)
            drop_heard(heard, i);
}

void heard_add(struct monitor_heard *heard, const struct monitor_line *line)
{
    struct monitor_line added = *line;
    added.member = is_member(heard, line);
    make_room_to_hear(heard, added.member);
    if (heard->count == MONITOR_LINES) {
        line_end(&added);
        return;
    }
    added.item_start = line_item_time(line, heard->start);
    heard->lines[heard->count++] = added;
}

/* The member that is on, or was last: something is heard as long as it has one. */
static const struct monitor_line *last_member(const struct monitor_heard *heard)
{
    const struct monitor_line *last = &heard->lines[0];
    for (size_t i = 1; i < heard->count; i++) {
        const struct monitor_line *line = &heard->lines[i];
        if (!line->member)
            continue;
        bool later = !last->member || line_is_on(line) > line_is_on(last) ||
                     (!line_is_on(last) && line->off_since > last->off_since);
        last = later ? line : last;
    }
    return last;
}

const struct monitor_line *heard_last(const struct monitor_heard *heard)
{
    return last_member(heard);
}

uint64_t heard_until(const struct monitor_heard *heard)
{
    const struct monitor_line *line = last_member(heard);
    uint64_t until = line_is_on(line) ? line->last_peak : line->off_since;
    return until > heard->certain ? until : heard->certain;
}

static bool has_other_place(const struct monitor_heard *heard)
{
    for (size_t i = 0; i < heard->count; i++)
        if (!heard->lines[i].member && line_is_sure(&heard->lines[i], heard_until(heard)))
            return true;
    return false;
}

enum heard_state heard_follow(struct monitor_heard *heard, const struct monitor_tail *tail,
                              uint64_t until, enum doppel_status *out_status)
{
    for (size_t i = 0; i < heard->count; i++)
        if (!line_follow(&heard->lines[i], heard->id, tail, until, out_status))
            return HEARD_LOST;
    note_certain(heard);
    const struct monitor_line *last = last_member(heard);
    for (size_t i = heard->count; i-- > 0;)
        if (!line_is_on(&heard->lines[i]) && &heard->lines[i] != last)
            drop_heard(heard, i);
    last = last_member(heard);
    if (line_is_on(last))
        return HEARD_STILL;
    if (has_other_place(heard))
        return HEARD_JUMPED;
    uint64_t patience = last->share < NOISY_SHARE ? PATIENCE_IN_NOISE : PATIENCE;
    return until >= last->off_since + patience ? HEARD_ENDED : HEARD_STILL;
}

void heard_jump(struct monitor_heard *heard)
{
    uint64_t until = heard_until(heard), start = UINT64_MAX;
    for (size_t i = heard->count; i-- > 0;)
        if (heard->lines[i].member || !line_is_sure(&heard->lines[i], until))
            drop_heard(heard, i);
    for (size_t i = 0; i < heard->count; i++)
        start = heard->lines[i].on_since < start ? heard->lines[i].on_since : start;
    heard->start = heard->certain = start > until ? start : until;
    heard->rate = 1;
    heard->is_told = false;
    for (size_t i = 0; i < heard->count; i++) {
        struct monitor_line *line = &heard->lines[i];
        line->member = line->on_since <= heard->start + EARLY;
        line->item_start = line_item_time(line, heard->start);
        if (line->member)
            heard->rate = fmin(heard->rate, line->rate);
    }
    note_certain(heard);
}
