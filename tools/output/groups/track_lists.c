/* Rows of a playlist as others' programs read them: cue sheets and extended M3U. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/text/base64.h"
#include "core/text/printable.h"
#include "tools/memory.h"
#include "tools/output/formats.h"

/* A cue sheet counts in frames of a CD. */
enum { FRAMES_SECOND = 75 };

static const char *text_at(const json_t *row, const char *key)
{
    return json_string_value(json_object_get(row, key));
}

static double number_at(const json_t *row, const char *key)
{
    return json_number_value(json_object_get(row, key));
}

/* The bytes of a path; given (free). NULL: there is none. */
static char *path_at(const json_t *row, const char *key)
{
    char encoded[32];
    size_t size;
    snprintf(encoded, sizeof encoded, "%s_base64", key);
    const char *base64 = text_at(row, encoded), *path = text_at(row, key);
    return base64 ? base64_decode(base64, &size) : path ? must_copy(path) : NULL;
}

/* The title, else the file's name without its ending; given (free). */
static char *title_of(const json_t *row)
{
    const char *title = text_at(row, "title"), *path = text_at(row, "path"), *slash;
    if (title)
        return must_copy(title);
    if (!path)
        return must_copy(text_at(row, "name") ? text_at(row, "name") : "");
    slash = strrchr(path, '/');
    char *name = must_copy(slash ? slash + 1 : path), *dot = strrchr(name, '.');
    if (dot && dot != name)
        *dot = '\0';
    return name;
}

/* ---- cue ---- */

/* One line in quotes, which have no other way to be in a text. */
static void put_quoted(FILE *stream, const char *text)
{
    char *shown = must_have(printable(text, false));
    for (char *at = shown; (at = strchr(at, '"'));)
        *at = '\'';
    fprintf(stream, "\"%s\"", shown);
    free(shown);
}

static void put_cue_text(FILE *stream, const char *command, const char *text)
{
    fprintf(stream, "    %s ", command);
    put_quoted(stream, text);
    fputc('\n', stream);
}

static const char *cue_file_type(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && !strcasecmp(dot, ".mp3")                                  ? "MP3"
           : dot && (!strcasecmp(dot, ".aiff") || !strcasecmp(dot, ".aif")) ? "AIFF"
                                                                            : "WAVE";
}

static long cue_frames(double seconds)
{
    return lround(seconds * FRAMES_SECOND);
}

static void put_cue_index(FILE *stream, int number, long frames)
{
    fprintf(stream, "    INDEX %02d %02ld:%02ld:%02ld\n", number, frames / (60 * FRAMES_SECOND),
            frames / FRAMES_SECOND % 60, frames % FRAMES_SECOND);
}

/* What was not heard before a track is its pregap, index 0. */
void cue_print(struct cue_sheet *cue, FILE *stream, const json_t *row)
{
    const char *artist = text_at(row, "artist"), *album = text_at(row, "album"),
               *time = text_at(row, "start_time");
    long start = cue_frames(number_at(row, "start"));
    if (json_object_get(row, "gap"))
        return;
    if (number_at(row, "number") == 1) {
        char *path = must_have(path_at(row, "query"));
        fputs("FILE ", stream);
        put_quoted(stream, path);
        fprintf(stream, " %s\n", cue_file_type(path));
        free(path);
        cue->end_frames = 0;
    }
    char *title = title_of(row);
    fprintf(stream, "  TRACK %02u AUDIO\n", ++cue->tracks);
    put_cue_text(stream, "TITLE", title);
    free(title);
    if (artist)
        put_cue_text(stream, "PERFORMER", artist);
    if (album)
        put_cue_text(stream, "REM ALBUM", album);
    if (time)
        fprintf(stream, "    REM TIME %s\n", time);
    if (cue->end_frames < start)
        put_cue_index(stream, 0, cue->end_frames);
    put_cue_index(stream, 1, start);
    cue->end_frames = cue_frames(number_at(row, "end"));
}

/* ---- M3U ---- */

/* As it is, or as an address where a line could not hold it. */
static void put_m3u_path(FILE *stream, const char *path)
{
    bool plain = *path != '#';
    for (const char *at = path; *at; at++)
        plain = plain && !iscntrl((unsigned char)*at);
    if (plain) {
        fprintf(stream, "%s\n", path);
        return;
    }
    fputs("file://", stream);
    for (const char *at = path; *at; at++)
        if (isalnum((unsigned char)*at) || strchr("/-._~", *at))
            fputc(*at, stream);
        else
            fprintf(stream, "%%%02X", (unsigned char)*at);
    fputc('\n', stream);
}

void m3u_begin(FILE *stream)
{
    fputs("#EXTM3U\n", stream);
}

/* Source of the tag with the time: RFC 8216, 4.3.2.6. */
void m3u_print(FILE *stream, const json_t *row)
{
    const char *artist = text_at(row, "artist"), *time = text_at(row, "start_time");
    if (json_object_get(row, "gap"))
        return;
    char *title = title_of(row), *path = path_at(row, "path");
    char *shown = must_have(printable(title, false));
    if (time)
        fprintf(stream, "#EXT-X-PROGRAM-DATE-TIME:%s\n", time);
    fprintf(stream, "#EXTINF:%ld,%s%s%s\n", lround(number_at(row, "duration")),
            artist ? artist : "", artist ? " - " : "", shown);
    if (path)
        put_m3u_path(stream, path);
    else
        fprintf(stream, "# no file: %s\n", shown);
    free(shown);
    free(title);
    free(path);
}
