/* A file of the intake: what kind it is of, and whether that is wanted. */
#include "tools/intake_room.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <doppel/media.h>

enum { PROBE_BYTES = 4096 };

static bool is_known_kind(enum doppel_kind kind)
{
    return kind == DOPPEL_KIND_IMAGE || kind == DOPPEL_KIND_TEXT;
}

bool intake_wants(const struct intake *intake, enum doppel_kind kind)
{
    return settings_scheme(intake->options->settings, kind) != NULL;
}

static bool ends_in(const char *path, const char *const *endings, size_t count)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < count; i++)
        if (strcasecmp(dot, endings[i]) == 0)
            return true;
    return false;
}

/* A file of another kind is an error only when someone expects a picture there. */
static bool named_as_picture(const char *path)
{
    static const char *const endings[] = {".jpg", ".jpeg", ".jpe",  ".jfif", ".png",
                                          ".gif", ".webp", ".bmp",  ".tif",  ".tiff",
                                          ".tga", ".heic", ".heif", ".avif", ".jxl"};
    return ends_in(path, endings, sizeof endings / sizeof *endings);
}

static bool named_on_command_line(const struct intake *intake, const struct slot *slot)
{
    const struct strings *paths = &intake->options->walk->paths;
    size_t source = slot->file.source;
    return source >= paths->count || strcmp(paths->items[source], slot->file.path) == 0;
}

/* What programs write beside pictures is not there to be compared: it is much alike, and goes with
 * its picture. */
static bool is_sidecar(const char *path)
{
    static const char *const endings[] = {".xmp", ".aae", ".pp3", ".dop", ".cos", ".arp"};
    return ends_in(path, endings, sizeof endings / sizeof *endings);
}

bool slot_may_be(const struct intake *intake, const struct slot *slot, enum doppel_kind kind)
{
    const char *path = slot->file.path;
    bool both = kind == DOPPEL_KIND_TEXT && intake_wants(intake, DOPPEL_KIND_IMAGE);
    if (both &&
        (named_as_picture(path) || (is_sidecar(path) && !named_on_command_line(intake, slot))))
        return false;
    return intake_wants(intake, kind);
}

/* Texts are told as HTML by how they begin; as Markdown by their names only. */
static uint8_t reading_of(const struct intake *intake, const struct slot *slot)
{
    static const char *const endings[] = {".md", ".markdown", ".mkd", ".mdown"};
    enum doppel_text_format format = intake->options->settings->text.format;
    if (slot->scheme->kind != DOPPEL_KIND_TEXT)
        return 0;
    if (format == DOPPEL_TEXT_AUTO &&
        ends_in(slot->file.path, endings, sizeof endings / sizeof *endings))
        format = DOPPEL_TEXT_MARKDOWN;
    return (uint8_t)format;
}

void slot_take_kind(const struct intake *intake, struct slot *slot, enum doppel_kind kind)
{
    slot->scheme = settings_scheme(intake->options->settings, kind);
    slot->file.record.reading = reading_of(intake, slot);
}

static const char *kind_in_words(enum doppel_kind kind)
{
    static const char *const words[] = {"something else", "text", "a picture", "a sound recording",
                                        "a video"};
    return words[kind];
}

/* Of a file that is of no kind that is wanted. */
static void refuse_kind(const struct intake *intake, struct slot *slot, enum doppel_kind kind)
{
    bool pictures = intake_wants(intake, DOPPEL_KIND_IMAGE),
         texts = intake_wants(intake, DOPPEL_KIND_TEXT);
    bool mislabelled = kind == DOPPEL_KIND_TEXT;
    const char *wanted = !texts || mislabelled ? "a picture"
                         : !pictures           ? "text"
                                               : "a picture or text";
    char reason[128];
    if (kind != DOPPEL_KIND_UNKNOWN)
        snprintf(reason, sizeof reason, "not %s but %s", wanted, kind_in_words(kind));
    else
        snprintf(reason, sizeof reason, "not %s of a format that doppel knows", wanted);
    slot_ready(slot, DOPPEL_E_FORMAT, reason);
}

void slot_probe(struct intake *intake, struct slot *slot, int fd)
{
    uint8_t head[PROBE_BYTES];
    ssize_t got = pread(fd, head, sizeof head, 0);
    if (got < 0) {
        slot_ready(slot, DOPPEL_E_IO, strerror(errno));
        return;
    }
    enum doppel_format format;
    enum doppel_kind kind = doppel_media_probe(head, (size_t)got, &format);
    if (got > 0 && is_known_kind(kind) && slot_may_be(intake, slot, kind)) {
        slot_take_kind(intake, slot, kind);
        return;
    }
    bool expected = intake_wants(intake, DOPPEL_KIND_IMAGE) && named_as_picture(slot->file.path);
    if (!expected && !named_on_command_line(intake, slot)) {
        slot->state = SLOT_PASSED_OVER;
        intake->passed_over++;
        report_detail(intake->options->report, slot->file.path,
                      got == 0                                   ? "empty"
                      : is_sidecar(slot->file.path)              ? "goes with a picture"
                      : !intake_wants(intake, DOPPEL_KIND_TEXT)  ? "not a picture"
                      : !intake_wants(intake, DOPPEL_KIND_IMAGE) ? "not text"
                                                                 : "neither a picture nor text");
    } else if (got == 0) {
        slot_ready(slot, DOPPEL_E_EMPTY, "the file is empty");
    } else {
        refuse_kind(intake, slot, kind);
    }
}
