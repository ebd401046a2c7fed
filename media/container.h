/* A container over a descriptor: found by its bytes, opened, told when it fails. Nothing but the
 * descriptor is ever opened. */
#ifndef DOPPEL_MEDIA_CONTAINER_H
#define DOPPEL_MEDIA_CONTAINER_H

#include "media/source.h"

struct container {
    const char *holds; /**< what is looked for, as sentences name it: "audio", "video" */
    struct source source;
    AVIOContext *io;
    AVFormatContext *format;
    struct doppel_error refusal; /**< of a packet or frame over the limits */
    bool has_images, has_audio;  /**< attached pictures not counted */
    bool searched; /**< the tracks were found in the first packets, and what they last is a guess */
};

/** How many tracks a container may have. */
enum { CONTAINER_TRACKS = 256 };

/** Let a regular file be the source. */
enum doppel_status container_begin(struct container *container, int fd,
                                   const struct doppel_media_limits *limits,
                                   struct doppel_error *error);

/** Which demuxer the first bytes ask for: never one that opens other files, or devices. */
enum doppel_status container_find(struct container *container, const AVInputFormat **out,
                                  struct doppel_error *error);

/** Read the header. @param options of the demuxer; taken */
enum doppel_status container_open(struct container *container, const AVInputFormat *format,
                                  AVDictionary *options, struct doppel_error *error);

/** The track of this type that the container calls its default, else the first; tracks that are not
 * wanted are not read. @param out NULL: there is none */
enum doppel_status container_choose(struct container *container, enum AVMediaType type,
                                    AVStream **out, struct doppel_error *error);

/** A sentence where the source could not be read, whatever came of it. */
enum doppel_status container_check_source(const struct container *container,
                                          struct doppel_error *error);

void container_close(struct container *container);

/** What a track is coded as, by name; of codings that FFmpeg does not know, the container's tag. */
struct coding_name {
    char text[AV_FOURCC_MAX_STRING_SIZE];
};
struct coding_name coding_name(const AVCodecParameters *track);

/** The status and sentence for an error code of FFmpeg. */
enum doppel_status container_fail(const struct container *container, int code,
                                  struct doppel_error *error);

#endif
