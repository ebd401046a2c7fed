/* Moving a line to where the videos are the same for longest, and then to where their cuts meet. */
#include <math.h>

#include "match/video/search.h"

enum {
    LEVELS = 5, /* of the local search, each with half the steps */
    MOVES = 3,  /* a level, at most */
    FITS = 2,
    MOVES_AT_ALL = 2,
    MOVES_AT_ONE = 100,
    TELLING_CUTS = 3,
    SPEED_STEPS = 9,      /* to each side */
    CUT = 64,             /* bits of 256 that a cut moves, at least */
    SAME = 90,            /* bits of 256: frames that are nearer gain, others lose */
    LONG_VIDEOS = 1 << 16 /* runs of both from which on nothing is searched: it takes too long */
};

/* Seconds by which the first level moves the line, and what it turns it by. */
static const double FIRST_MOVE = .4, FIRST_TURN = .04;

/* Speeds that are tried first, as far as the ends of what is the same move by seconds. */
static const double SPEED_STEP = .04;

/* Seconds that cuts of both videos may be apart, fit by fit. */
static const double CUTS_WITHIN[FITS] = {.5, .3};

/* Unrelated items gain nothing as a rule, and are not worth a search. */
static const double LEAST_GAIN = 1;

/* What a gain may lose, and what share of it, for the times of cuts, or for speed 1. */
static const double MAY_LOSE = 10, SHARE_MAY_LOSE = .02, SHARE_WITHOUT_CUTS = .1;

/* Seconds about the middle in which the line of speed 1 is looked for, beside what the speeds
 * differ by over the stretch, and its steps. */
static const double ONE_REACH = 2, ONE_MOVE = .2;

/* By how much the score of another speed must be better than that of speed 1: where cuts meet, and
 * where none does. */
static const double LEAST_LEAD = 3, CLEAR_LEAD = 8;

/* Seconds by which a line may miss the ends of two videos that begin and end together; by which
 * their lengths differ at least, to be of different speeds. */
static const double ENDS_WITHIN = .8, LEAST_DIFFERENCE = .1;

/* The share of the gain at speed 1 from which on the speed that the lengths tell may be right; and
 * by how much it is another one then, at least. */
static const double AS_GOOD = .97, OTHER_SPEED = .01;

/* ---- how long videos are the same ---- */

/* Of a line: the greatest sum, over a stretch, of by how many bits frames of the same time are
 * nearer than SAME, in bits × seconds of the query; and where it is. */
struct gain {
    double bits, start, end;
};

struct gainer {
    struct gain best;
    double sum, start;
};

static void add_gain(struct gainer *gainer, double bits, double from, double to)
{
    if (gainer->sum <= 0) {
        gainer->sum = 0;
        gainer->start = from;
    }
    gainer->sum += bits * (to - from);
    if (gainer->sum > gainer->best.bits)
        gainer->best = (struct gain){gainer->sum, gainer->start, to};
}

static double bits_of_video_overlay(const struct video_overlay *overlay, uint32_t run,
                                    uint32_t other)
{
    if (overlay->used_query[run] && overlay->used_item[other])
        return -1e6;
    const struct doppel_code *code = video_part_code(&overlay->item->frames[other],
                                                     video_met_part(&overlay->reading->view.view));
    if (!code)
        return 0;
    uint32_t distance = doppel_code_distance(&overlay->reading->codes[run], code, 256);
    return SAME - (double)(distance < 130 ? distance : 130);
}

static struct gain gain_of(const struct video_overlay *overlay, const struct video_line *line)
{
    const struct doppel_video_track *query = overlay->task->query, *item = overlay->item;
    struct gainer gainer = {.sum = 0};
    uint32_t run = video_run_at(query, -line->offset / line->speed);
    uint32_t other = video_run_at(item, line->offset);
    while (run < query->count && other < item->count) {
        double start = video_shown_from(query, run), end = video_shown_until(query, run);
        double from = video_line_back(line, video_shown_from(item, other));
        double to = video_line_back(line, video_shown_until(item, other));
        if (fmin(end, to) > fmax(start, from) && overlay->reading->there[run])
            add_gain(&gainer, bits_of_video_overlay(overlay, run, other), fmax(start, from),
                     fmin(end, to));
        if (end <= to)
            run++;
        else
            other++;
    }
    return gainer.best;
}

/* ---- the search ---- */

/* The best line so far. */
struct best_line {
    const struct video_overlay *overlay;
    struct video_line line;
    struct gain gain;
    bool same_speed;
};

/* The line moved, and turned around the middle of the stretch. */
static struct video_line moved_best(const struct best_line *best, double by, double turned)
{
    double middle = (best->gain.start + best->gain.end) / 2;
    double speed = best->line.speed + turned;
    speed = fmin(fmax(speed, VIDEO_SPEED_LEAST), VIDEO_SPEED_MOST);
    return (struct video_line){
        .offset = best->line.offset + by + (best->line.speed - speed) * middle, .speed = speed};
}

static bool try_line(struct best_line *best, struct video_line line, double at_least)
{
    struct gain gain = gain_of(best->overlay, &line);
    if (!(gain.bits > at_least))
        return false;
    best->line = line;
    best->gain = gain;
    return true;
}

/* As try_line, for a line that is likelier for other reasons. */
static bool prefer_line(struct best_line *best, struct video_line line)
{
    return try_line(best, line, best->gain.bits * (1 - SHARE_MAY_LOSE) - MAY_LOSE);
}

/* Hits of few scenes leave the speed open. */
static void search_speeds(struct best_line *best)
{
    struct best_line begun = *best;
    for (int turn = 1; turn <= SPEED_STEPS; turn++)
        for (int side = -1; side <= 1; side += 2)
            for (int move = -1; move <= 1; move++)
                try_line(best, moved_best(&begun, move * FIRST_MOVE, side * turn * SPEED_STEP),
                         best->gain.bits);
}

static void search_near(struct best_line *best)
{
    double move = FIRST_MOVE;
    for (int level = 0; level < LEVELS; level++, move /= 2) {
        bool is_moving = true;
        for (int i = 0; i < MOVES && is_moving; i++) {
            double span = fmax(best->gain.end - best->gain.start, 2);
            double turn = fmin(move * 2 / span, FIRST_TURN);
            is_moving = try_line(best, moved_best(best, move, 0), best->gain.bits) ||
                        try_line(best, moved_best(best, -move, 0), best->gain.bits);
            if (best->same_speed)
                continue;
            is_moving |= try_line(best, moved_best(best, 0, turn), best->gain.bits) ||
                         try_line(best, moved_best(best, 0, -turn), best->gain.bits);
        }
    }
}

/* ---- by cuts ---- */

/* When a video is cut before a run. @return false when it is not, or that is not known */
static bool cut_before(const struct doppel_video_track *track, size_t run, double *out)
{
    if (!run)
        return false;
    const struct doppel_video_frame *frame = &track->frames[run];
    double from = video_seconds(frame[-1].end_ms), to = video_seconds(frame->start_ms);
    *out = (from + to) / 2;
    return to - from <= VIDEO_SAMPLED &&
           doppel_code_distance(&frame->code, &frame[-1].code, 256) >= CUT;
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

struct line_sums {
    double count, x, y, xx, xy;
};

/* The cuts of both that meet along a line: between frames that are the same. */
static struct line_sums sum_cuts(const struct best_line *best, const struct video_path *path,
                                 double within)
{
    const struct video_overlay *overlay = best->overlay;
    struct line_sums sums = {0};
    for (size_t i = path->first + 1; i < path->end; i++) {
        const struct video_step *step = &path->steps[i];
        double x, y = 0;
        if (step->run == step[-1].run || step->score < 0 || step[-1].score < 0 ||
            !cut_before(overlay->task->query, step->run, &x))
            continue;
        double moment = video_line_at(&best->line, x);
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

/* Least squares through the cuts that meet. A speed is known from three on that are seconds
 * apart.
 * @return how many there are */
static double fit_cuts(struct best_line *best, struct video_path *path)
{
    double count = 0;
    for (int i = 0; i < FITS; i++) {
        video_path_follow(path, best->overlay, &best->line);
        struct line_sums sums = sum_cuts(best, path, CUTS_WITHIN[i]);
        count = sums.count;
        if (count < 1)
            break;
        struct video_line line = best->line;
        double spread = sums.xx - sums.x * sums.x / sums.count;
        double speed = (sums.xy - sums.x * sums.y / sums.count) / spread;
        if (sums.count > 2 && spread / sums.count > 1 && !best->same_speed)
            line.speed = fmin(fmax(speed, VIDEO_SPEED_LEAST), VIDEO_SPEED_MOST);
        line.offset = (sums.y - line.speed * sums.x) / sums.count;
        if (!prefer_line(best, line))
            break;
    }
    return count;
}

/* The best line at speed 1: most videos run at it. */
static struct best_line at_speed_one(const struct best_line *best)
{
    struct best_line one = *best, begun;
    one.same_speed = true;
    one.line = moved_best(best, 0, 1 - best->line.speed);
    one.gain = gain_of(best->overlay, &one.line);
    begun = one;
    double reach = fabs(1 - best->line.speed) * (best->gain.end - best->gain.start) + ONE_REACH;
    int moves = (int)fmin(ceil(reach / ONE_MOVE), MOVES_AT_ONE);
    for (int move = -moves; move <= moves; move++)
        try_line(&one, moved_best(&begun, move * ONE_MOVE, 0), one.gain.bits);
    search_near(&one);
    return one;
}

static double score_of_best(const struct best_line *best, struct video_path *path)
{
    video_path_follow(path, best->overlay, &best->line);
    return path->score;
}

/* Whether another speed is no more than chance would have it: most videos run at 1. Where little
 * moves, and nothing is cut, every speed finds frames that are alike. */
static bool is_better_at_one(const struct best_line *best, const struct best_line *one, double cuts,
                             struct video_path *path)
{
    double lead = score_of_best(best, path) - score_of_best(one, path);
    bool clear = cuts >= TELLING_CUTS || lead >= CLEAR_LEAD;
    double share = clear ? SHARE_MAY_LOSE : SHARE_WITHOUT_CUTS;
    return lead < (cuts > 0 ? LEAST_LEAD : CLEAR_LEAD) ||
           one->gain.bits > best->gain.bits * (1 - share) - MAY_LOSE;
}

/* Whether a line puts the beginning and the end of one video at those of the other. */
static bool joins_ends(const struct video_line *line, double query, double item)
{
    return fabs(line->offset) <= ENDS_WITHIN &&
           fabs(video_line_at(line, query) - item) <= ENDS_WITHIN;
}

/* A copy of all of a video begins and ends with it: then their lengths tell the speed better than
 * samples do. @param other the best line of any speed */
static void try_whole(struct best_line *best, const struct video_line *other)
{
    const double query = video_duration(best->overlay->task->query);
    const double item = video_duration(best->overlay->item);
    const struct video_line whole = {.speed = item / query};
    if (fabs(item - query) < LEAST_DIFFERENCE || whole.speed < VIDEO_SPEED_LEAST ||
        whole.speed > VIDEO_SPEED_MOST ||
        !(joins_ends(&best->line, query, item) || joins_ends(other, query, item)))
        return;
    if (best->line.speed != 1)
        prefer_line(best, whole);
    else if (!try_line(best, whole, best->gain.bits))
        best->line.open = fabs(whole.speed - 1) > OTHER_SPEED &&
                          gain_of(best->overlay, &whole).bits >= AS_GOOD * best->gain.bits;
}

void video_line_polish(struct video_line *line, const struct video_overlay *overlay,
                       struct video_path *path)
{
    bool is_short = overlay->task->query->count + overlay->item->count < LONG_VIDEOS;
    struct best_line best = {
        .overlay = overlay, .line = *line, .same_speed = overlay->task->options->same_speed};
    best.gain = gain_of(overlay, line);
    for (int move = -MOVES_AT_ALL; move <= MOVES_AT_ALL; move++)
        try_line(
            &best,
            (struct video_line){.offset = line->offset + move * FIRST_MOVE, .speed = line->speed},
            best.gain.bits);
    if (best.gain.bits < LEAST_GAIN) {
        video_path_follow(path, overlay, line);
        return;
    }
    if (is_short && !best.same_speed)
        search_speeds(&best);
    if (is_short)
        search_near(&best);
    double cuts = fit_cuts(&best, path);
    const struct video_line other = best.line;
    if (best.line.speed != 1 && is_short) {
        struct best_line one = at_speed_one(&best);
        if (is_better_at_one(&best, &one, cuts, path)) {
            best = one;
            fit_cuts(&best, path);
        }
    }
    if (!overlay->task->options->same_speed)
        try_whole(&best, &other);
    *line = best.line;
    video_path_follow(path, overlay, line);
}
