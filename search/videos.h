/* The recordings and videos of a library, to be found by a recording, a video or a picture: one
 * result an item, whatever found it. */
#ifndef DOPPEL_SEARCH_VIDEOS_H
#define DOPPEL_SEARCH_VIDEOS_H

#include <doppel/library.h>

#include "search/results.h"

/* Where to look, and where what is found goes. Items that are not searched, and those in the
 * results already, are passed over. All borrowed. */
struct track_search {
    struct doppel_run *run;
    const struct doppel_search_options *options;
    struct doppel_library *library;
    struct doppel_search_results *results;
};

/* What a recording is heard in: recordings, and videos. */
enum doppel_status search_by_audio(const struct track_search *search,
                                   const struct doppel_record *query, struct doppel_error *error);

/* What a video shares a picture or a recording with. */
enum doppel_status search_by_video(const struct track_search *search,
                                   const struct doppel_record *query, struct doppel_error *error);

/* The videos that show a picture. @param record of the image; NULL: there is a code alone */
enum doppel_status search_by_image(const struct track_search *search,
                                   const struct doppel_match_item *image,
                                   const struct doppel_record *record,
                                   struct doppel_error *error);

#endif
