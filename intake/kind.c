/* A file of the intake: what kind it is of, and whether that is wanted. */
#include "intake/intake_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <doppel/audio.h>
#include <doppel/intake.h>
#include <doppel/media.h>
#include <doppel/video.h>

#include "core/bytes.h"
#include "core/files/camera_names.h"
#include "core/files/read_at.h"

enum { PROBE_BYTES = 4096 };

bool intake_wants(const struct intake *intake, enum doppel_kind kind)
{
    return read_scheme(&intake->options->read, kind) != NULL;
}

/* Pictures are read by OCR, where texts are wanted and pictures are not. */
static bool reads_text_of_images(const struct intake *intake)
{
    return doppel_run_get_options(intake->options->run)->ocr &&
           intake_wants(intake, DOPPEL_KIND_TEXT) && !intake_wants(intake, DOPPEL_KIND_IMAGE);
}

/* The kind that a file of this one is read as: of a video the audio, where no videos are wanted. */
static enum doppel_kind kind_read(const struct intake *intake, enum doppel_kind kind)
{
    if (kind == DOPPEL_KIND_IMAGE && reads_text_of_images(intake))
        return DOPPEL_KIND_TEXT;
    return kind == DOPPEL_KIND_VIDEO && !intake_wants(intake, kind) ? DOPPEL_KIND_AUDIO : kind;
}

static bool ends_in(const char *path, const char *const *endings, size_t count)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < count; i++)
        if (strcasecmp(dot, endings[i]) == 0)
            return true;
    return false;
}

/* A file of another kind is an error only when someone expects a picture, a recording or a video
 * there.
 */
static bool named_as_image(const char *path)
{
    static const char *const endings[] = {".jpg", ".jpeg", ".jpe",  ".jfif", ".png",
                                          ".gif", ".webp", ".bmp",  ".tif",  ".tiff",
                                          ".tga", ".heic", ".heif", ".avif", ".jxl"};
    return is_raw_name(path) || ends_in(path, endings, sizeof endings / sizeof *endings);
}

bool named_as_tiff(const char *path)
{
    static const char *const endings[] = {".tif", ".tiff"};
    return ends_in(path, endings, sizeof endings / sizeof *endings);
}

static bool named_as_audio(const char *path)
{
    static const char *const endings[] = {
        ".mp3",  ".wav", ".flac", ".ogg", ".oga", ".opus", ".m4a", ".m4b", ".aac", ".wma", ".aif",
        ".aiff", ".wv",  ".ape",  ".mka", ".ac3", ".dts",  ".amr", ".au",  ".caf", ".mpc", ".tta"};
    return ends_in(path, endings, sizeof endings / sizeof *endings);
}

bool named_as_video(const char *path)
{
    static const char *const endings[] = {
        ".mp4", ".m4v", ".mov",  ".mkv", ".webm", ".avi",  ".wmv",  ".asf",  ".flv",
        ".f4v", ".mpg", ".mpe",  ".vob", ".ogv",  ".mpeg", ".mts",  ".m2ts", ".3gp",
        ".3g2", ".mxf", ".dv",   ".nut", ".rm",   ".ogm",  ".rmvb", ".qt",   ".divx",
        ".m2v", ".y4m", ".h264", ".264", ".265",  ".ivf",  ".obu",  ".hevc"};
    return ends_in(path, endings, sizeof endings / sizeof *endings);
}

/* As a picture, a recording or a video, which is wanted. */
static bool named_as_medium(const struct intake *intake, const char *path)
{
    return (intake_wants(intake, DOPPEL_KIND_IMAGE) && named_as_image(path)) ||
           (intake_wants(intake, DOPPEL_KIND_AUDIO) && named_as_audio(path)) ||
           (intake_wants(intake, DOPPEL_KIND_VIDEO) && named_as_video(path));
}

bool named_on_command_line(const struct intake *intake, const struct intake_slot *slot)
{
    const struct doppel_strings *paths = &intake->options->walk->paths;
    size_t source = slot->file.source;
    return source < paths->count ? strcmp(paths->items[source], slot->file.path) == 0
                                 : !intake->options->walk->found;
}

bool slot_may_be(const struct intake *intake, const struct intake_slot *slot, enum doppel_kind kind)
{
    const char *path = slot->file.path;
    /* It is not there to be compared: it is much alike, and goes with its image. */
    bool sidecar = intake_wants(intake, DOPPEL_KIND_IMAGE) && is_sidecar_name(path) &&
                   !named_on_command_line(intake, slot);
    if (kind == DOPPEL_KIND_TEXT &&
        ((named_as_medium(intake, path) && !slot->has_pages) || sidecar))
        return false;
    return intake_wants(intake, kind);
}

/* What is read by OCR is known by its languages, too. */
static uint32_t ocr_mark(const struct intake *intake)
{
    const char *languages = doppel_run_get_options(intake->options->run)->ocr;
    if (!languages)
        return 0;
    const struct doppel_digest digest = doppel_digest_bytes(languages, strlen(languages));
    return (get_u32(digest.bytes) | 1) << READING_BITS;
}

/* Texts are recognised as HTML by how they begin; as Markdown by their names only. */
static uint32_t reading_of_text(const struct intake *intake, const struct intake_slot *slot)
{
    static const char *const endings[] = {".md", ".markdown", ".mkd", ".mdown"};
    enum doppel_text_format format = intake->options->read.text.format;
    if (format == DOPPEL_TEXT_AUTO &&
        ends_in(slot->file.path, endings, sizeof endings / sizeof *endings))
        format = DOPPEL_TEXT_MARKDOWN;
    return (uint32_t)format | ocr_mark(intake);
}

static uint32_t reading_of(const struct intake *intake, const struct intake_slot *slot)
{
    const struct doppel_read_options *options = &intake->options->read;
    if (slot->scheme->id == DOPPEL_SCHEME_FRAMES64)
        return (uint32_t)((options->fast ? READ_FAST : 0) |
                          (options->no_audio ? READ_WITHOUT_AUDIO : 0));
    return slot->scheme->kind == DOPPEL_KIND_TEXT ? reading_of_text(intake, slot) : 0;
}

void slot_take_kind(const struct intake *intake, struct intake_slot *slot, enum doppel_kind kind)
{
    slot->scheme = read_scheme(&intake->options->read, kind);
    slot->file.record.reading = reading_of(intake, slot);
}

enum doppel_kind slot_kind_after_all(const struct intake *intake, const struct intake_slot *slot)
{
    const struct doppel_record *record = &slot->file.record;
    bool unread = slot->scheme->kind == DOPPEL_KIND_VIDEO && record->error.status;
    if (unread && slot->moves && intake_wants(intake, DOPPEL_KIND_IMAGE))
        return DOPPEL_KIND_IMAGE;
    bool audio = unread && record->error.status == DOPPEL_E_FORMAT &&
                 record->kind == DOPPEL_KIND_AUDIO && intake_wants(intake, DOPPEL_KIND_AUDIO);
    return audio ? DOPPEL_KIND_AUDIO : DOPPEL_KIND_UNKNOWN;
}

void slot_turn_to(struct intake *intake, struct intake_slot *slot, enum doppel_kind kind)
{
    const struct doppel_scheme *video = slot->scheme;
    for (uint64_t n = intake->next_out; n < intake->next_in; n++) {
        struct intake_slot *twin = &intake->slots[n % WINDOW];
        if (twin->state == SLOT_TWIN && twin->scheme == video &&
            memcmp(&twin->file.record.digest, &slot->file.record.digest,
                   sizeof(struct doppel_digest)) == 0)
            slot_take_kind(intake, twin, kind);
    }
    slot_take_kind(intake, slot, kind);
}

static const char *kind_in_words(enum doppel_kind kind)
{
    static const char *const words[] = {"something else", "text", "a picture", "a recording",
                                        "a video"};
    return words[kind];
}

/* "picture, text, recording or video": what is wanted, but for `without`. */
static void wanted_in_words(const struct intake *intake, enum doppel_kind without, char out[64])
{
    static const char *const nouns[] = {[DOPPEL_KIND_IMAGE] = "picture",
                                        [DOPPEL_KIND_TEXT] = "text",
                                        [DOPPEL_KIND_AUDIO] = "recording",
                                        [DOPPEL_KIND_VIDEO] = "video"};
    static const enum doppel_kind order[] = {DOPPEL_KIND_IMAGE, DOPPEL_KIND_TEXT, DOPPEL_KIND_AUDIO,
                                             DOPPEL_KIND_VIDEO};
    const char *words[4];
    size_t count = 0, used = 0;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (order[i] != without && intake_wants(intake, order[i]))
            words[count++] = nouns[order[i]];
    out[0] = 0;
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(out + used, 64 - used, "%s%s",
                                 i == 0           ? ""
                                 : i + 1 == count ? " or "
                                                  : ", ",
                                 words[i]);
}

void intake_wanted(const struct intake *intake, char out[64])
{
    wanted_in_words(intake, DOPPEL_KIND_UNKNOWN, out);
}

/* Of a file that is of no kind that is wanted. */
static void refuse_kind(const struct intake *intake, struct intake_slot *slot,
                        enum doppel_kind kind)
{
    char wanted[64], reason[160];
    wanted_in_words(intake, kind, wanted);
    if (!*wanted)
        snprintf(reason, sizeof reason, "no kind of file is wanted");
    else if (slot->has_pages)
        snprintf(reason, sizeof reason, "has several pages, so it is not a %s but a document",
                 wanted);
    else if (kind != DOPPEL_KIND_UNKNOWN)
        snprintf(reason, sizeof reason, "not a %s but %s", wanted, kind_in_words(kind));
    else
        snprintf(reason, sizeof reason, "not a %s of a format that doppel knows", wanted);
    slot_ready(slot, DOPPEL_E_FORMAT, reason);
}

void slot_name_unknown(const struct intake *intake, struct intake_slot *slot)
{
    const struct doppel_record *record = &slot->file.record;
    if (slot->scheme && slot->scheme->kind >= DOPPEL_KIND_AUDIO &&
        record->error.status == DOPPEL_E_FORMAT && record->kind == DOPPEL_KIND_UNKNOWN)
        refuse_kind(intake, slot, DOPPEL_KIND_UNKNOWN);
}

/* What nobody named, and whose name promises nothing. */
static void pass_over_file(struct intake *intake, struct intake_slot *slot, int fd, bool empty)
{
    char wanted[64], reason[80];
    if (slot_is_listed_anyway(intake, slot, fd))
        return;
    intake_wanted(intake, wanted);
    snprintf(reason, sizeof reason, "not a %s", wanted);
    slot->state = SLOT_PASSED_OVER;
    intake->passed_over++;
    doppel_run_detail(intake->options->run, slot->file.path,
                      empty                              ? "empty"
                      : is_sidecar_name(slot->file.path) ? "goes with a picture"
                                                         : reason);
}

/* A name that programs have, too: where it is no text, it is a video's. */
static bool named_as_stream(const char *path)
{
    static const char *const ending = ".ts";
    return ends_in(path, &ending, 1);
}

/* FFmpeg knows more kinds of recordings and videos than their first bytes tell: those that are
 * named, or named like one, are tried. UNKNOWN: not to be tried. */
static enum doppel_kind kind_tried(const struct intake *intake, const struct intake_slot *slot,
                                   enum doppel_kind kind)
{
    const char *path = slot->file.path;
    bool named = named_on_command_line(intake, slot) && !named_as_medium(intake, path);
    bool video = named_as_video(path) || named_as_stream(path);
    bool recordings = intake_wants(intake, DOPPEL_KIND_AUDIO);
    if (kind != DOPPEL_KIND_UNKNOWN)
        return DOPPEL_KIND_UNKNOWN;
    if (intake_wants(intake, DOPPEL_KIND_VIDEO) && (named || video))
        return DOPPEL_KIND_VIDEO; /* what has audio alone says so */
    return recordings && (named || named_as_audio(path) || video) ? DOPPEL_KIND_AUDIO
                                                                  : DOPPEL_KIND_UNKNOWN;
}

/* What others print of a video or a recording, of a scheme that is there for this. */
static enum doppel_kind kind_of_print(const struct intake *intake, const uint8_t *head, size_t size)
{
    const struct doppel_read_options *options = &intake->options->read;
    const struct doppel_scheme *recording = read_scheme(options, DOPPEL_KIND_AUDIO);
    const struct doppel_scheme *video = read_scheme(options, DOPPEL_KIND_VIDEO);
    if (recording && recording->id == DOPPEL_SCHEME_CHROMAPRINT &&
        doppel_chromaprint_is_text((const char *)head, size))
        return DOPPEL_KIND_AUDIO;
    if (video && video->id == DOPPEL_SCHEME_VPDQ && doppel_vpdq_is_text((const char *)head, size))
        return DOPPEL_KIND_VIDEO;
    return DOPPEL_KIND_UNKNOWN;
}

/* @param kind as the first bytes tell */
static void choose_kind(struct intake *intake, struct intake_slot *slot, int fd,
                        enum doppel_kind kind)
{
    enum doppel_kind read = kind_read(intake, kind), tried = kind_tried(intake, slot, kind);
    if (kind != DOPPEL_KIND_UNKNOWN && slot_may_be(intake, slot, read))
        slot_take_kind(intake, slot, read);
    else if (tried)
        slot_take_kind(intake, slot, tried);
    else if (named_as_medium(intake, slot->file.path) || named_on_command_line(intake, slot))
        refuse_kind(intake, slot, kind);
    else
        pass_over_file(intake, slot, fd, false);
    if (kind == DOPPEL_KIND_VIDEO && slot->scheme && slot->scheme->kind == DOPPEL_KIND_AUDIO)
        slot->file.record.reading = READ_VIDEO_AS_AUDIO;
}

/* An image that moves is a short video, where videos are wanted. */
static enum doppel_kind kind_of_file(const struct intake *intake, struct intake_slot *slot, int fd,
                                     const uint8_t *head, size_t size)
{
    enum doppel_format format;
    enum doppel_kind kind = doppel_media_probe_file(fd, head, size, &format);
    slot->has_pages = format == DOPPEL_FORMAT_TIFF_PAGES;
    slot->moves = kind == DOPPEL_KIND_IMAGE && intake_wants(intake, DOPPEL_KIND_VIDEO) &&
                  doppel_media_is_animated(head, size);
    return slot->moves ? DOPPEL_KIND_VIDEO : kind;
}

void slot_probe(struct intake *intake, struct intake_slot *slot, int fd)
{
    uint8_t head[PROBE_BYTES];
    ssize_t got = read_at(fd, head, sizeof head, 0);
    enum doppel_kind print;
    bool expected = named_as_medium(intake, slot->file.path) || named_on_command_line(intake, slot);
    if (got < 0)
        slot_ready(slot, DOPPEL_E_IO, strerror(errno));
    else if (got == 0 && expected)
        slot_ready(slot, DOPPEL_E_EMPTY, "the file is empty");
    else if (got == 0)
        pass_over_file(intake, slot, fd, true);
    else if (intake->options->read.pcm.format)
        slot_take_kind(intake, slot, DOPPEL_KIND_AUDIO);
    else if ((print = kind_of_print(intake, head, (size_t)got)))
        slot_take_kind(intake, slot, print);
    else
        choose_kind(intake, slot, fd, kind_of_file(intake, slot, fd, head, (size_t)got));
}

/* ---- names ---- */

uint32_t doppel_switch_bit(const char *name)
{
    uint32_t bits = 0; /* two of TIFF: of one picture, and of pages */
    for (int format = DOPPEL_FORMAT_JPEG; format <= DOPPEL_FORMAT_LAST; format++)
        if (strcasecmp(name, doppel_format_name((enum doppel_format)format)) == 0)
            bits |= 1u << format;
    if (bits)
        return bits;
    for (int kind = DOPPEL_KIND_TEXT; kind <= DOPPEL_KIND_VIDEO; kind++)
        if (strcasecmp(name, doppel_kind_name((enum doppel_kind)kind)) == 0)
            return 1u << (DOPPEL_SWITCH_KINDS + kind);
    return 0;
}
