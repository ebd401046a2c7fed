/* Moving a line to where its path scores best, and then to where the cuts of both films meet. */
#include <math.h>

#include "match/videos_search.h"

enum {
    LEVELS = 4, /* of the local search, each with half the steps */
    MOVES = 3,  /* a level, at most */
    FITS = 2,
    CUT = 40,           /* bits of 256 that a cut moves, at least */
    LONG_PATH = 1 << 14 /* steps from which on a path is not searched: it takes too long */
};

/* Seconds by which the first level moves the line. */
static const double FIRST_MOVE = .5;

/* Seconds between two samples, at most, for what lies between them to be a cut that is known. */
static const double SAMPLED = .6;

/* Seconds that cuts of both films may be apart, fit by fit. */
static const double CUTS_WITHIN[FITS] = {.5, .3};

/* What a score may lose, and what share of it, for the times of cuts, or for speed 1. */
static const double MAY_LOSE = .5, SHARE_MAY_LOSE = .03;

static double seconds(uint32_t ms)
{
    return ms / 1000.0;
}

/* ---- by score ---- */

/* The best line so far. */
struct best {
    const struct video_overlay *overlay;
    struct video_path *path;
    struct video_line line;
    double score;
    double middle, span; /* of its path, in seconds of the query */
};

static void look(struct best *best)
{
    const struct video_path *path = best->path;
    video_path_follow(best->path, best->overlay, &best->line);
    best->score = path->score;
    if (path->first == path->end)
        return;
    double start = path->steps[path->first].start, end = path->steps[path->end - 1].end;
    best->middle = (start + end) / 2;
    best->span = fmax(end - start, 2);
}

/* The line moved, and turned around the middle. */
static struct video_line moved(const struct best *best, double by, double turned)
{
    double speed = best->line.speed + turned;
    speed = fmin(fmax(speed, VIDEO_SPEED_LEAST), VIDEO_SPEED_MOST);
    double offset = best->line.offset + by + (best->line.speed - speed) * best->middle;
    return (struct video_line){offset, speed};
}

static bool try_line(struct best *best, struct video_line line, double at_least)
{
    video_path_follow(best->path, best->overlay, &line);
    if (!(best->path->score > at_least))
        return false;
    best->line = line;
    look(best);
    return true;
}

/* As try_line, for a line that is likelier for other reasons. */
static bool prefer_line(struct best *best, struct video_line line)
{
    return try_line(best, line, best->score * (1 - SHARE_MAY_LOSE) - MAY_LOSE);
}

static void search(struct best *best)
{
    double move = FIRST_MOVE;
    for (int level = 0; level < LEVELS; level++, move /= 2) {
        bool is_moving = true;
        for (int i = 0; i < MOVES && is_moving; i++) {
            double turn = fmin(move * 2 / best->span, .04);
            is_moving = try_line(best, moved(best, move, 0), best->score) ||
                        try_line(best, moved(best, -move, 0), best->score);
            if (best->overlay->task->options->same_speed)
                continue;
            is_moving |= try_line(best, moved(best, 0, turn), best->score) ||
                         try_line(best, moved(best, 0, -turn), best->score);
        }
    }
}

/* ---- by cuts ---- */

/* When a film is cut before a run. @return false when it is not, or that is not known */
static bool cut_before(const struct doppel_video_track *track, size_t run, double *out)
{
    if (!run)
        return false;
    const struct doppel_video_frame *frame = &track->frames[run];
    double from = seconds(frame[-1].end_ms), to = seconds(frame->start_ms);
    *out = (from + to) / 2;
    return to - from <= SAMPLED && doppel_code_distance(&frame->code, &frame[-1].code, 256) >= CUT;
}

/* The cut of the item that is nearest to a moment; `near` is a run around there. */
static bool nearest_cut(const struct doppel_video_track *item, uint32_t near, double moment,
                        double *out)
{
    bool found = false;
    uint32_t first = near > 2 ? near - 2 : 0;
    for (uint32_t i = first; i < item->count && i <= near + 3; i++) {
        double cut;
        if (!cut_before(item, i, &cut) || (found && fabs(cut - moment) >= fabs(*out - moment)))
            continue;
        *out = cut;
        found = true;
    }
    return found;
}

struct sums {
    double count, x, y, xx, xy;
};

static struct sums sum_cuts(const struct best *best, double within)
{
    const struct video_overlay *overlay = best->overlay;
    struct sums sums = {0};
    for (size_t i = best->path->first + 1; i < best->path->end; i++) {
        const struct video_step *step = &best->path->steps[i];
        double x, y = 0;
        if (step->run == step[-1].run || !cut_before(overlay->task->query, step->run, &x))
            continue;
        double moment = best->line.offset + best->line.speed * x;
        if (!nearest_cut(overlay->item, step->other, moment, &y) || fabs(y - moment) > within)
            continue;
        sums.count++;
        sums.x += x;
        sums.y += y;
        sums.xx += x * x;
        sums.xy += x * y;
    }
    return sums;
}

/* Least squares through the cuts that meet. A speed is told from two cuts on that are seconds
 * apart. */
static void fit_cuts(struct best *best)
{
    for (int i = 0; i < FITS; i++) {
        struct sums sums = sum_cuts(best, CUTS_WITHIN[i]);
        if (sums.count < 1)
            return;
        struct video_line line = best->line;
        double spread = sums.xx - sums.x * sums.x / sums.count;
        double speed = (sums.xy - sums.x * sums.y / sums.count) / spread;
        bool tells_speed = sums.count > 2 && spread / sums.count > 1;
        if (tells_speed && !best->overlay->task->options->same_speed)
            line.speed = fmin(fmax(speed, VIDEO_SPEED_LEAST), VIDEO_SPEED_MOST);
        line.offset = (sums.y - line.speed * sums.x) / sums.count;
        if (!prefer_line(best, line))
            return;
    }
}

/* Most films run at their speed. */
static void prefer_speed_one(struct best *best)
{
    double turned = 1 - best->line.speed;
    if (turned != 0 && fabs(turned) * best->span <= .25)
        prefer_line(best, moved(best, 0, turned));
}

void video_line_polish(struct video_line *line, const struct video_overlay *overlay,
                       struct video_path *path)
{
    struct best best = {.overlay = overlay, .path = path, .line = *line, .span = 2};
    look(&best);
    if (path->count < LONG_PATH)
        search(&best);
    look(&best);
    fit_cuts(&best);
    look(&best);
    fit_cuts(&best);
    look(&best);
    prefer_speed_one(&best);
    look(&best);
    *line = best.line;
}
