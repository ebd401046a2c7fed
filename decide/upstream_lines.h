/* What goes to an upstream and comes back: lines of JSON. */
#ifndef DOPPEL_DECIDE_UPSTREAM_LINES_H
#define DOPPEL_DECIDE_UPSTREAM_LINES_H

#include <doppel/json_writer.h>
#include <doppel/library.h>

/* An item, or a text, as an input of POST /v1/ingest: an id, and what was computed, but nothing of
 * the content. Of an image the attachment is a small picture, so it stays here.
 * @param out_id   that it goes by, given (free). @param out_name likewise, as it is called here
 * @return DOPPEL_E_NOT_FOUND: it is no more, or damaged; nothing is written */
enum doppel_status upstream_write_line(struct doppel_json *json, struct doppel_library *library,
                                       const struct doppel_queued *queued, char **out_id,
                                       char **out_name, struct doppel_error *error);

/* What the upstream says of one. */
struct upstream_answer {
    enum doppel_decision decision; /* NEW; IGNORED: it has it; UNREADABLE: it cannot know */
    uint64_t item;                 /* what it has */
    char *name;                    /* how that is called there, or why it cannot know; given */
};

/* @param id that was sent: what the upstream has may be that, sent before. DOPPEL_E_FORMAT: it is
 * no answer */
enum doppel_status upstream_read_line(const char *line, size_t size, const char *id,
                                      struct upstream_answer *out, struct doppel_error *error);

#endif
