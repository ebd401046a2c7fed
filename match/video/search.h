/* The search of videos, from look-ups to what was found. */
#ifndef DOPPEL_MATCH_VIDEO_SEARCH_H
#define DOPPEL_MATCH_VIDEO_SEARCH_H

#include "core/array.h"
#include "match/video/video_internal.h"

/* Bits of 64 within which frames are looked up: most are met within the first ones. */
enum { VIDEO_RADIUS = 10, VIDEO_RADIUS_FAR = 14, VIDEO_RADIUS_NEAR_MISS = 18 };

/* As options->near_misses: whatever comes of a search that does not look farther for them. */
#define VIDEO_ANY_NEAR_MISS SIZE_MAX

/* Seconds between two samples, at most, for what lies between them to be known. */
#define VIDEO_SAMPLED .6

/* ---- the set: videos.c ---- */

const struct doppel_index *videos_index(const struct doppel_videos *videos);

/* Whether runs follow each other in time: the search relies on it. */
bool video_track_is_in_order(const struct doppel_video_track *track);

/* The frames of an item. @param out given back by videos_item_free, whose it is not when it was
 * borrowed from a set in memory */
struct video_item {
    struct doppel_video_track track;
    bool borrowed;
};
bool videos_item(const struct doppel_videos *videos, uint64_t id, struct video_item *out);
void videos_item_free(struct video_item *item);

/* ---- a search ---- */

/* The query's codes in one view. */
struct video_reading {
    struct video_view view;
    struct doppel_code *codes; /* by run */
    bool *there;
    const float *structure; /* by run; NULL: not known */
    size_t age;
};

/* A line that is too weak in a usual view: another one may be fitted to it. */
struct video_weak {
    uint64_t id;
    struct video_line line;
    struct video_view view;
    double score; /* of its path */
};

typedef ARRAY(struct video_weak) video_weaks;

enum { VIDEO_READINGS = 40 /* the usual views, and some that were fitted */ };

struct video_task {
    const struct doppel_videos *videos;
    const struct doppel_video_track *query;
    const struct doppel_video_search *options;
    uint64_t frames; /* of the set */
    struct video_view *views;
    size_t view_count;
    double *rarity;                                /* by run of the query: what its frames weigh */
    bool *answered;                                /* by run: is in what was found */
    float *structure[1 + DOPPEL_VIDEO_RECTANGLES]; /* by part of the frame and run; or NULL */
    struct video_reading readings[VIDEO_READINGS];
    size_t clock;
    video_weaks weak;   /* of this look */
    video_weaks fitted; /* of all looks: the same view would be fitted again */
};

bool video_task_init(struct video_task *task);
void video_task_free(struct video_task *task);

/* Of the weak lines, those that views are fitted to: the best, each once. They stand first then.
 * @return how many they are */
size_t video_task_choose_weak(struct video_task *task);

/* The codes in a view, valid until VIDEO_READINGS others were asked for. NULL: no memory. */
const struct video_reading *video_task_read(struct video_task *task, const struct video_view *view);

/* ---- hits: videos_hits.c ---- */

/* A frame of an item near one of the query in a view. */
struct video_hit {
    uint32_t id;
    uint32_t run;      /* of the query */
    uint32_t start_ms; /* of the item's run */
    uint16_t view;
    uint8_t distance;
    uint8_t part; /* of the item: enum video_part */
};

struct video_hits {
    struct video_hit *items; /* by id and, of it, by hit_group */
    size_t count;
};

/* Hits of one item that may be of one line: mirrored or not, the same rectangle, middles, parts. */
#define VIDEO_GROUP_BITS 5
uint64_t video_hit_group(const struct video_task *task, const struct video_hit *hit);

/* Look up the runs that are not answered in some views. @param out given (free items) */
enum doppel_status videos_look_up(struct video_task *task, size_t first_view, size_t end_view,
                                  uint32_t radius, struct video_hits *out,
                                  struct doppel_error *error);

/* ---- votes: videos_vote.c ---- */

#define VIDEO_SPEED_LEAST .66
#define VIDEO_SPEED_MOST 1.48

struct video_candidate {
    uint64_t id;
    struct video_line line;
    double weight;        /* of its voters */
    uint32_t view;        /* number */
    enum video_part part; /* of the item */
};

typedef ARRAY(struct video_candidate) video_candidates;

/* Lines for which hits speak, by id; of an item, the heaviest first. @return false: no memory */
bool videos_vote(const struct video_task *task, const struct video_hits *hits,
                 video_candidates *out);

/* ---- along a line: videos_verify.c ---- */

/* What is laid over an item. */
struct video_overlay {
    const struct video_task *task;
    const struct video_reading *reading;
    const struct doppel_video_track *item;
    const bool *used_query, *used_item; /* by run: pairs of which both are used do not count */
};

/* A moment at which a run of the query meets one of the item. */
struct video_step {
    uint32_t run, other;
    uint32_t distance;
    float score;       /* what it adds */
    float novelty;     /* how much of a frame it is */
    float weight;      /* of what it tells: of a rare code, and of much structure, 1 */
    double start, end; /* seconds of the query */
};

/* The best run of steps along a line. */
struct video_path {
    struct video_step *steps; /* room for as many as both videos have runs */
    size_t count;
    size_t first, end; /* the best of them; empty: none speaks for the line */
    double score;
    double moved; /* frames that counted */
};

bool video_path_init(struct video_path *path, const struct video_overlay *overlay);
void video_path_free(struct video_path *path);
void video_path_follow(struct video_path *path, const struct video_overlay *overlay,
                       const struct video_line *line);

/* ---- lines: videos_line.c ---- */

/* Move a line to where its path scores best. @param path room; of the line afterwards */
void video_line_polish(struct video_line *line, const struct video_overlay *overlay,
                       struct video_path *path);

/* ---- ends: videos_ends.c ---- */

/* The length of a video in seconds. */
double video_duration(const struct doppel_video_track *track);

/* When a run begins and ceases to be shown: between its samples and those beside it. */
double video_shown_from(const struct doppel_video_track *track, uint32_t run);
double video_shown_until(const struct doppel_video_track *track, uint32_t run);

/* The first run that is shown at a time or later; their number when there is none. */
uint32_t video_run_at(const struct doppel_video_track *track, double time);

/* For how long it is shown: without what is black at its ends. */
double video_shown(const struct doppel_video_track *track);

/* Mark the runs of which some is shown between two moments. */
void video_mark_runs(const struct doppel_video_track *track, double from, double until,
                     bool *marks);

/* What the best run of a path is: both videos show the same between the later of their beginnings
 * and the earlier of their ends. */
struct doppel_segment video_ends(const struct video_path *path, const struct video_overlay *overlay,
                                 const struct video_line *line);

/* The same where nothing moves: as wide as the scenes are that meet, whenever they do. */
struct doppel_segment video_scenes(const struct video_path *path,
                                   const struct video_overlay *overlay);

/* ---- segments: videos_segments.c ---- */

/* A stretch that was found. */
struct video_stretch {
    struct doppel_segment segment;
    double score; /* -log10 of E */
    uint32_t distance;
    struct doppel_video_view view;
    bool uncertain; /* nothing moves in it */
    bool ambiguous; /* another one, which contradicted it and was dropped, was as likely; or another
                       speed */
};

typedef ARRAY(struct video_stretch) video_stretches;

/* The stretch that the best run of a path is. */
struct video_stretch video_stretch_of(const struct video_path *path,
                                      const struct video_overlay *overlay,
                                      const struct video_line *line);

/* Join stretches that are one, and drop those that better ones account for: videos_settle.c. */
void video_stretches_settle(video_stretches *stretches);

/* Drop those that contradict better ones, and mark repeats: contradict.c. */
void video_stretches_reconcile(video_stretches *stretches, const struct doppel_video_track *query,
                               const struct doppel_video_track *item);

/* Describe what was found of an item; nothing: as no match. @param query NULL: a picture.
 * @param segments room for as many; borrowed by the match */
void video_describe(const video_stretches *stretches, const struct doppel_video_track *query,
                    double item_seconds, struct doppel_segment *segments, struct doppel_match *out);

/* ---- items: videos_judge.c, videos_find.c ---- */

/* What was found of an item. */
struct video_finding {
    uint64_t id;
    double seconds; /* of the item */
    video_stretches stretches;
    bool rejected; /* its one stretch is below the threshold */
};

typedef ARRAY(struct video_finding) video_findings;

/* Follow the lines of one item, and add what they are to what was found of it; weak ones are put
 * down in the task. @param finding with what was found before. @return false: no memory */
bool video_verify_item(struct video_task *task, const struct video_candidate *candidates,
                       size_t count, struct video_finding *finding);

/* Fit a view to a weak line, and take what is found along it then. @return false: no memory */
bool video_verify_weak(struct video_task *task, const struct video_weak *weak,
                       struct video_finding *finding);

void video_findings_free(video_findings *findings);

/* Who visits what was found. */
struct video_visit {
    const struct doppel_video_track *query; /* NULL: a picture */
    size_t near_misses;
    doppel_found_visitor *visitor;
    void *context;
};

/* Visit what was found, best first, and the best matches below the threshold. DOPPEL_OK;
 * DOPPEL_E_CANCELLED; DOPPEL_E_MEMORY */
enum doppel_status video_findings_visit(video_findings *findings, const struct video_visit *visit,
                                        struct doppel_error *error);

#endif
