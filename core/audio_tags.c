/* What the file of a recording says of itself, as it is kept and written. */
#include "core/audio_tags.h"

#include <string.h>

#include <doppel/json_writer.h>

#include "core/text/printable.h"

/* White space and controls, of C1 too, and the separators of lines and paragraphs. */
static bool is_tag_space(uint32_t point)
{
    return point <= ' ' || (point >= 0x7f && point <= 0xa0) || point == 0x2028 || point == 0x2029;
}

void audio_tag_clean(const char *text, char *out)
{
    size_t used = 0;
    bool space = false;
    while (*text) {
        uint32_t point = 0xfffd;
        const size_t length = utf8_decode(text, &point);
        const char *from = length ? text : "\xef\xbf\xbd";
        const size_t width = length ? length : 3;
        text += length ? length : 1;
        if (is_tag_space(point)) {
            space = used > 0;
            continue;
        }
        if (used + space + width > DOPPEL_TAG_BYTES)
            break;
        if (space)
            out[used++] = ' ';
        memcpy(out + used, from, width);
        used += width;
        space = false;
    }
    out[used] = '\0';
}

bool audio_tags_empty(const struct doppel_audio_tags *tags)
{
    return !*tags->artist && !*tags->title && !*tags->album;
}

void doppel_json_audio_tags(struct doppel_json *json, const struct doppel_audio_tags *tags)
{
    doppel_json_text(json, "artist", *tags->artist ? tags->artist : NULL);
    doppel_json_text(json, "title", *tags->title ? tags->title : NULL);
    doppel_json_text(json, "album", *tags->album ? tags->album : NULL);
}
