/* The recordings and videos of a library, to be found by a recording, a video or a picture: one
 * answer an item, whatever found it. */
#ifndef DOPPEL_SEARCH_VIDEOS_H
#define DOPPEL_SEARCH_VIDEOS_H

#include <doppel/library.h>

#include "search/results.h"
#include "intake/video_previews.h"
#include "search/known_items.h"
#include "tools/args/options.h"

/* Where to look, and where what is found goes. Items that are not known, and those in the answers
 * already, are passed over. All borrowed. */
struct video_search {
    const struct doppel_compare_options *compare;
    const struct doppel_run *run;
    struct doppel_library *library;
    const struct find_known *known;
    struct answers *answers;
    struct video_looks *looks;     /* to refine the ends of what videos share; NULL: not wanted */
    const struct video_file *file; /* that the query was read from; NULL: none */
};

/* What a recording is heard in: recordings, and videos. */
enum doppel_status find_by_audio(const struct video_search *search,
                                 const struct doppel_record *query, struct doppel_error *error);

/* What a video shares a picture or a recording with. */
enum doppel_status find_by_video(const struct video_search *search,
                                 const struct doppel_record *query, struct doppel_error *error);

/* The videos that show a picture. */
enum doppel_status find_by_image(const struct video_search *search,
                                 const struct doppel_match_item *image, struct doppel_error *error);

#endif
