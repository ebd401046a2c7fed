/* What a file says of itself: libavformat gives the tags of ID3, Vorbis comments, MP4, RIFF, APE
 * and others the same names. */
#include "core/audio_tags.h"
#include "media/audio/audio.h"

/* Of a file that begins with a longer tag, most of it a picture, nothing is said. */
enum { LEADING_MAX_BYTES = 16 << 20 };

/* That of the container first: that of the track may name the track alone. */
static void read_named_tag(const AVDictionary *container, const AVDictionary *track,
                           const char *name, char *out)
{
    const AVDictionaryEntry *entry = av_dict_get(container, name, NULL, 0);
    if (!entry)
        entry = av_dict_get(track, name, NULL, 0);
    audio_tag_clean(entry ? entry->value : "", out);
}

static void read_all_tags(const AVDictionary *container, const AVDictionary *track,
                          struct doppel_audio_tags *out)
{
    read_named_tag(container, track, "artist", out->artist);
    read_named_tag(container, track, "title", out->title);
    read_named_tag(container, track, "album", out->album);
}

/* An ID3 tag before the container, which is decoded without it: the demuxer opens the file once
 * more, from its first byte. */
static void read_leading_tag(const struct container *container, struct doppel_audio_tags *out)
{
    const struct source *source = &container->source;
    struct container whole = {.source.file = source->file};
    if (!source->file || !source->base || source->base > LEADING_MAX_BYTES)
        return;
    if (container_open(&whole, container->format->iformat, NULL, NULL) == DOPPEL_OK)
        read_all_tags(whole.format->metadata, NULL, out);
    whole.source.file = NULL; /* borrowed */
    container_close(&whole);
}

void audio_tags_read(const struct container *container, const AVStream *track,
                     struct doppel_audio_tags *out)
{
    read_leading_tag(container, out);
    if (audio_tags_empty(out))
        read_all_tags(container->format->metadata, track->metadata, out);
}
