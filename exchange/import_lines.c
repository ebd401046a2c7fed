/* Fingerprints of other tools, one a line: PDQ, imagehash, digests; and blocks of fpcalc. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <doppel/audio.h>

#include "exchange/model_read.h"
#include "exchange/import_source.h"
#include "compare/audio.h"
#include "core/text/values.h"

/* ---- JSON Lines ---- */

enum doppel_status import_json(struct import_source *source, struct doppel_error *error)
{
    char *line;
    size_t size;
    enum doppel_status status;
    while (!(status = import_next(source, &line, &size, error))) {
        json_error_t wrong;
        json_t *object = json_loadb(line, size, 0, &wrong);
        status = object ? exchange_json_line(object, source->sink, error)
                        : doppel_fail(error, DOPPEL_E_ARGUMENT, "no JSON: %s", wrong.text);
        json_decref(object);
        if (status)
            status = import_bad(source, source->reader.line, status, error);
        if (status)
            return status;
    }
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
}

/* ---- one code a line ---- */

/* What stands in quotes, without them, in place. */
static char *unquoted(char *text)
{
    size_t size = strlen(text);
    if (size < 2 || *text != '"' || text[size - 1] != '"')
        return text;
    char *out = text;
    for (char *at = text + 1; at < text + size - 1; at++) {
        at += at[0] == '"' && at[1] == '"' && at + 1 < text + size - 1;
        *out++ = *at;
    }
    *out = '\0';
    return text;
}

/* HASH[,QUALITY[,NAME]]. */
static enum doppel_status take_pdq(struct import_source *source, char *line,
                                   struct doppel_error *error)
{
    uint64_t quality = 100;
    char *name = NULL, *comma = strchr(line, ',');
    if (source->reader.line == 1 && strncmp(line, "hash", 4) == 0)
        return DOPPEL_OK; /* the header */
    if (comma) {
        *comma++ = '\0';
        name = strchr(comma, ',');
        if (name)
            *name++ = '\0';
        if (*comma && !parse_whole(comma, 0, 100, &quality))
            return doppel_fail(error, DOPPEL_E_ARGUMENT, "a quality is a number from 0 to 100");
    }
    const struct import_entry entry = {
        .hex = line, .name = name ? unquoted(name) : NULL, .quality = (uint8_t)quality};
    return import_code(source, doppel_scheme_by_id(DOPPEL_SCHEME_PDQ), &entry, error);
}

/* HASH, and a name after spaces, a tab or a comma. */
static enum doppel_status take_imagehash(struct import_source *source, char *line,
                                         struct doppel_error *error)
{
    size_t digits = hex_length(line), gap = strspn(line + digits, " \t,;");
    if (digits != 16 || (line[digits] && !gap))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "no 16 hex digits");
    char *name = line + digits + gap;
    line[digits] = '\0';
    const struct import_entry entry = {
        .hex = line, .name = *name ? unquoted(name) : NULL, .quality = 100};
    return import_code(source, doppel_scheme_by_id(DOPPEL_SCHEME_IMAGEHASH), &entry, error);
}

/* As md5sum and its like print: HEX, two spaces or a space and a star, NAME; with --tag NAME first.
 */
static enum doppel_status take_digest(struct import_source *source, char *line,
                                      struct doppel_error *error)
{
    char *name = strstr(line, " ("), *hex = line + (*line == '\\');
    char *tagged = name ? strstr(name, ") = ") : NULL;
    if (tagged && !hex_length(line)) {
        for (char *next; (next = strstr(tagged + 1, ") = "));)
            tagged = next;
        *tagged = '\0';
        return import_digest(
            source,
            &(struct import_entry){.hex = tagged + strlen(") = "), .name = name + strlen(" (")},
            error);
    }
    size_t digits = hex_length(hex), gap = strspn(hex + digits, " \t*,;");
    if (hex[digits] && !gap)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "no digest in hex");
    const struct import_entry entry = {.hex = hex, .name = hex + digits + gap};
    return import_digest(source, &entry, error);
}

/* ---- blocks of fpcalc ---- */

struct block {
    char *name, *duration; /* the latter as its line says it */
};

static void block_free(struct block *block)
{
    free(block->name);
    free(block->duration);
    *block = (struct block){0};
}

/* Two lines, the first of which may be missing; given (free); NULL without memory. */
static char *join_sentences(const char *first, const char *second)
{
    first = first ? first : "";
    size_t size = strlen(first) + strlen(second) + 2;
    char *text = malloc(size);
    if (text)
        snprintf(text, size, "%s\n%s", first, second);
    return text;
}

static enum doppel_status put_block(struct import_source *source, const struct block *block,
                                    const char *line, struct doppel_error *error)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_CHROMAPRINT);
    struct exchange_item carried = {
        .item.record = {.kind = scheme->kind, .scheme = scheme->id, .version = scheme->version}};
    struct doppel_record *record = &carried.item.record;
    uint64_t duration_ms = 0;
    char *text = join_sentences(block->duration, line);
    if (!text)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a block");
    enum doppel_status status =
        doppel_chromaprint_parse(text, strlen(text), &record->fingerprint, &duration_ms, error);
    free(text);
    if (status)
        return status;
    bool named = block->name && *block->name;
    carried.item.path = strdup("");
    carried.about.external_id = named ? strdup(block->name) : NULL;
    if (!attach_audio_length(record, duration_ms) || !carried.item.path ||
        (named && !carried.about.external_id))
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an item");
    else
        status = source->sink->item(source->sink->context, &carried, error);
    exchange_item_free(&carried);
    return status;
}

static enum doppel_status keep_line(char **field, const char *value, struct doppel_error *error)
{
    free(*field);
    *field = strdup(value);
    return *field ? DOPPEL_OK : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a block");
}

static enum doppel_status take_fpcalc(struct import_source *source, struct block *block,
                                      const char *line, struct doppel_error *error)
{
    if (strncmp(line, "FILE=", 5) == 0)
        return keep_line(&block->name, line + 5, error);
    if (strncmp(line, "DURATION=", 9) == 0)
        return keep_line(&block->duration, line, error);
    if (strncmp(line, "FINGERPRINT=", 12) != 0)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "neither FILE=, DURATION= nor FINGERPRINT=, as fpcalc -raw prints");
    enum doppel_status status = put_block(source, block, line, error);
    block_free(block);
    return status;
}

enum doppel_status import_lines(struct import_source *source, enum doppel_exchange_format format,
                                struct doppel_error *error)
{
    struct block block = {0};
    char *line;
    size_t size;
    enum doppel_status status;
    while (!(status = import_next(source, &line, &size, error))) {
        if (format == DOPPEL_EXCHANGE_PDQ)
            status = take_pdq(source, line, error);
        else if (format == DOPPEL_EXCHANGE_IMAGEHASH)
            status = take_imagehash(source, line, error);
        else if (format == DOPPEL_EXCHANGE_FPCALC)
            status = take_fpcalc(source, &block, line, error);
        else
            status = take_digest(source, line, error);
        if (status)
            status = import_bad(source, source->reader.line, status, error);
        if (status)
            break;
    }
    block_free(&block);
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
}
