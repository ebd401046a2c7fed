/* What is heard in a recording, or in a stream, as a playlist: a row a span, in the order of time.
 * At each moment the best of the items that are heard has the time; what goes on in the same item
 * after a short break is one row. Rows are printed once nothing that comes can change them. */
#ifndef DOPPEL_TOOLS_OUTPUT_GROUPS_PLAYLIST_H
#define DOPPEL_TOOLS_OUTPUT_GROUPS_PLAYLIST_H

#include <doppel/library.h>

#include "tools/output/messages.h"
#include "tools/output/output.h"

/* An item that was heard without a break. */
struct playlist_span {
    double start, end;        /* seconds of what was listened to */
    double item_start, speed; /* where in the item it starts, and how many of its seconds a second
                                 takes */
    double score, false_positive_rate;
    uint64_t id;
};

/* What an item is called. */
struct playlist_item {
    const char *name;
    bool has_file; /* the name is its path */
    struct doppel_audio_tags tags;
};

struct playlist;

/* @param settings,report borrowed for its life. Exits without memory. */
struct playlist *playlist_new(const struct settings *settings, struct report *report);

/* The spans to come are of this recording, or stream: its path, or "-"; borrowed until the next. */
void playlist_begin(struct playlist *playlist, const char *query);

/* @param item copied */
void playlist_add(struct playlist *playlist, const struct playlist_span *span,
                  const struct playlist_item *item);

/* All that begins before `until` was added, but for what is reported some seconds late; INFINITY:
 * all there is. */
void playlist_settle(struct playlist *playlist, double until);

/* Nothing could be heard here; after all before it was added. */
void playlist_gap(struct playlist *playlist, double start, double end);

/* Print what is held back, report what it comes to, and free. @return as output_finish */
bool playlist_finish(struct playlist *playlist);

#endif
