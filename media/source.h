/* The bytes of a descriptor, for libavformat. */
#ifndef DOPPEL_MEDIA_SOURCE_H
#define DOPPEL_MEDIA_SOURCE_H

#include <libavformat/avformat.h>

#include "media/decode.h"

struct source {
    struct input *file; /**< NULL of a stream */
    int fd;
    int error;     /**< errno of the first failed read of a stream, else 0 */
    uint64_t base; /**< where the container begins: tags before it are skipped */
    uint64_t at;   /**< of the next byte, from `base` on */
    uint64_t end;  /**< where a stream is to end, from `base` on; 0 = where it does */
    uint8_t *head; /**< the first bytes from `base` on */
    size_t head_size, head_room;
    bool ended;
};

/** Skip the tags, and read the first bytes of what comes then: at least `size` where there are as
 * many. AVPROBE_PADDING_SIZE zeros follow `head`. */
enum doppel_status source_look(struct source *source, size_t size, struct doppel_error *error);

/** Let the source begin `bytes` later. */
void source_skip(struct source *source, uint64_t bytes);

/** A context over the source; NULL = no memory. */
AVIOContext *source_open(struct source *source);
void source_close(AVIOContext *io);

#endif
