/**
 * doppel/video.h: sampled frames of a video to a sequence of perceptual hashes, and what is kept of
 * a video. Takes grey planes, not files; needs no decoder.
 *
 * A frame's code is the 256-bit DCT pHash of doppel/image.h of the picture without bars that stay
 * black or uniform over the video; word 0, alone, is the 64-bit hash that finds it. Near-identical
 * frames in a row are one *run*. Flat and black frames have no code.
 *
 * A query carries the *cells* of its frames, too, 32×32 samples each, from which the codes are made
 * that the frames would have were they cut from a larger picture, turned, or mirrored
 * (doppel_video_warp). A library keeps the codes alone.
 */
#ifndef DOPPEL_VIDEO_H
#define DOPPEL_VIDEO_H

#include <stdbool.h>

#include <doppel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    DOPPEL_VIDEO_STEP_MS = 250,    /**< from one sampled frame to the next: four a second */
    DOPPEL_VIDEO_MIDDLE_MS = 1000, /**< from one upright middle that is kept to the next */
    DOPPEL_VIDEO_CELLS = 32,
    DOPPEL_VIDEO_CELL_BYTES = DOPPEL_VIDEO_CELLS * DOPPEL_VIDEO_CELLS,
    DOPPEL_VIDEO_RECTANGLES = 3 /**< pictures in the picture that are looked for, at most */
};

/** A run of near-identical frames. */
struct doppel_video_frame {
    struct doppel_code code; /**< of its first frame */
    uint32_t start_ms; /**< presentation time of its first frame, from the video's beginning */
    uint32_t end_ms;   /**< of its last sampled frame; start_ms of a single one */
    struct doppel_code middle; /**< of its first frame's upright middle; zeros: it has no code */
    struct doppel_code whole;  /**< of its first frame with its bars; zeros: it has no code */
};

/** A part of the full frame, in shares of its width and height. */
struct doppel_video_box {
    float left, top, right, bottom;
};

/** What is known of a video. Zero what is not there. */
struct doppel_video_track {
    struct doppel_video_frame *frames; /**< by start_ms */
    size_t count;
    uint8_t *cells; /**< count × DOPPEL_VIDEO_CELL_BYTES: the frames within `box`; NULL: not kept */
    struct doppel_video_box box; /**< without bars */
    bool has_middle; /**< frames have codes of the middle: 9:16 of the picture, at its full height,
                        what is left of a wide video on an upright screen. Not of upright ones, and
                        of no video that was read before version 0.2 */
    bool has_whole;  /**< frames have codes of what they are with their bars, as they lie in another
                        video: where bars were cut off. Of no video that was read before 0.2 */
    size_t rectangle_count; /**< persistent rectangles: perhaps a picture in the picture */
    struct doppel_video_box rectangles[DOPPEL_VIDEO_RECTANGLES];
    uint8_t *rectangle_cells[DOPPEL_VIDEO_RECTANGLES]; /**< each as `cells` */
    uint32_t width, height;                            /**< as shown */
    uint32_t sampled;     /**< frames that were looked at, those without a code included */
    uint64_t duration_ms; /**< of the pictures */
    uint64_t damaged_ms;  /**< where the file broke off or was damaged, and what came before was
                             used; else 0 */
    bool keyframes_only;  /**< sampled at keyframes (fast mode) */
    uint8_t
        *audio; /**< of its audio what doppel_audio_track_write makes; opaque here; NULL: none */
    size_t audio_size;
};

DOPPEL_API void doppel_video_track_free(struct doppel_video_track *track);

/* ---- frames to a track ---- */

/** Takes frames in order of time. One thread; different ones may be used at once. */
struct doppel_video;

struct doppel_video_options {
    /** Every frame is a run of its own, flat ones too, and the part of the frame is `box`: to look
     * closely at a moment of a video that is known. Default false. */
    bool every_frame;
    struct doppel_video_box
        box; /**< with every_frame; default the full frame, and so is one of nothing */
};

DOPPEL_API struct doppel_video_options doppel_video_options_default(void);

/** @param out given (doppel_video_free). DOPPEL_OK; DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_video_new(const struct doppel_video_options *options,
                                               struct doppel_video **out,
                                               struct doppel_error *error);
DOPPEL_API void doppel_video_free(struct doppel_video *video);

/**
 * The next sampled frame.
 * @param plane luma, upright; borrowed. Frames may differ in size
 * @param time_ms presentation time; not before the last one's
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT; DOPPEL_E_MEMORY. Memory is bounded: where bars are is
 * judged by the first frames that fill it (docs/methods.md).
 */
DOPPEL_API enum doppel_status doppel_video_push(struct doppel_video *video,
                                                const struct doppel_plane *plane, uint32_t time_ms,
                                                struct doppel_error *error);

/** No frames come any more. @param out given (doppel_video_track_free): frames, cells, box,
 * rectangles and `sampled`; the rest is the caller's to fill. Then only doppel_video_free makes
 * sense. */
DOPPEL_API enum doppel_status doppel_video_finish(struct doppel_video *video,
                                                  struct doppel_video_track *out,
                                                  struct doppel_error *error);

/* ---- what is kept of a video ---- */

/** Which parts of a track are written. */
enum doppel_video_parts {
    DOPPEL_VIDEO_CODES, /**< what a library keeps of the picture: some 150 KB an hour, and
                           100 of the middles of wide ones, one a second; of those with bars
                           150 of what they are with them */
    DOPPEL_VIDEO_ALL    /**< with the cells, too: what a worker tells, a cache keeps */
};

/** The portable form (docs/formats.md): of CODES too with the track's `audio`, if it has one.
 * @param out given (free). DOPPEL_OK; DOPPEL_E_MEMORY. Thread-safe. */
DOPPEL_API enum doppel_status doppel_video_track_write(const struct doppel_video_track *track,
                                                       enum doppel_video_parts parts, uint8_t **out,
                                                       size_t *out_size,
                                                       struct doppel_error *error);

/** Read it; nothing in it is trusted. @param parts what is wanted of it. @param out given
 * (doppel_video_track_free); untouched on failure. DOPPEL_OK; DOPPEL_E_CORRUPT; DOPPEL_E_MEMORY.
 * Thread-safe. */
DOPPEL_API enum doppel_status doppel_video_track_read(const uint8_t *data, size_t size,
                                                      enum doppel_video_parts parts,
                                                      struct doppel_video_track *out,
                                                      struct doppel_error *error);

/** All but frames, cells, rectangles and audio, from its first DOPPEL_VIDEO_HEAD_BYTES, or more.
 * DOPPEL_OK; DOPPEL_E_CORRUPT. Thread-safe. */
enum { DOPPEL_VIDEO_HEAD_BYTES = 120 };
DOPPEL_API enum doppel_status doppel_video_track_head(const uint8_t *data, size_t size,
                                                      struct doppel_video_track *out,
                                                      struct doppel_error *error);

/* ---- what a frame could be a part of ---- */

/** Whether cells are too flat to be distinguished from others: such a frame has no code. @param
 * cells DOPPEL_VIDEO_CELL_BYTES; borrowed. Thread-safe. */
DOPPEL_API bool doppel_video_cells_flat(const uint8_t *cells);

/** How a query's frame may lie in the frame that it was made from. The identity: {1, 1, 0, 0, 0,
 * 0}.
 */
struct doppel_video_warp {
    float scale_x, scale_y; /**< of the original's width and height to the query's; > 1: the query
                               is a crop */
    float shift_x,
        shift_y;   /**< of the original's middle from the query's, in shares of the query */
    float degrees; /**< by which the query was turned clockwise */
    float aspect;  /**< width by height of the query's part as shown: what a turn is like in cells;
                      0: as 1 */
};

/** The code of a frame as it would look unwarped: outside of it its edges are repeated. @param
 * cells DOPPEL_VIDEO_CELL_BYTES; borrowed. Thread-safe. Source: docs/methods.md. */
DOPPEL_API struct doppel_code doppel_video_warped_code(const uint8_t *cells,
                                                       const struct doppel_video_warp *warp);

/** Which part of a query met, and how: what it takes to look at its frames again. */
struct doppel_video_view {
    bool mirrored;
    uint8_t rectangle; /**< 0: the frame; else number of the rectangle + 1 */
    bool middle;       /**< of the query it is the upright middle that met; not warped */
    bool item_middle;  /**< it met the item's upright middle */
    bool item_whole;   /**< it met the item with its bars */
    struct doppel_video_warp warp;
};

/** Where the upright middle of a video lies in the frame. @param track its box, width and height
 * are read. @return false: it has none (`has_middle`), `out` untouched. Thread-safe. */
DOPPEL_API bool doppel_video_middle_box(const struct doppel_video_track *track,
                                        struct doppel_video_box *out);

/* ---- vPDQ: other people's lists ---- */

/** A frame of such a list. */
struct doppel_vpdq_frame {
    uint32_t number;
    uint8_t quality; /**< 0 to 100 */
    struct doppel_code code;
    double seconds;
};

struct doppel_vpdq {
    struct doppel_vpdq_frame *frames; /**< given */
    size_t count;
};

DOPPEL_API void doppel_vpdq_free(struct doppel_vpdq *list);

/** Whether this is how a list begins: 96 bytes tell. Thread-safe. */
DOPPEL_API bool doppel_vpdq_is_text(const char *head, size_t size);

/** Read a list: a line a frame, "number,quality,hash,seconds". @param out given (doppel_vpdq_free).
 * DOPPEL_OK; DOPPEL_E_FORMAT with the line that is none; DOPPEL_E_MEMORY. Thread-safe. */
DOPPEL_API enum doppel_status doppel_vpdq_parse(const char *text, size_t size,
                                                struct doppel_vpdq *out,
                                                struct doppel_error *error);

/** One frame as a line, its newline included. @return characters written, at most 128 */
DOPPEL_API size_t doppel_vpdq_print(const struct doppel_vpdq_frame *frame, char out[128]);

#ifdef __cplusplus
}
#endif
#endif
