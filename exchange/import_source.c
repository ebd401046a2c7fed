/* A file on its way into a library: what its formats share, and telling them apart. */
#include "exchange/import_source.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"
#include "core/printable.h"
#include "tools/signals.h"
#include "compare/text.h"

enum { MAX_TOLD = 1000, MAX_NAME = 1000, MD5_DIGITS = 32, SHA1_DIGITS = 40, SHA256_DIGITS = 64 };

size_t hex_length(const char *text)
{
    return strspn(text, "0123456789abcdefABCDEF");
}

/* ---- lines ---- */

enum doppel_status import_bad(struct import_source *source, uint64_t line,
                              enum doppel_status status, struct doppel_error *error)
{
    char place[64];
    if (status != DOPPEL_E_ARGUMENT && status != DOPPEL_E_FORMAT && status != DOPPEL_E_LIMIT &&
        status != DOPPEL_E_CORRUPT && status != DOPPEL_E_FLAT)
        return status;
    if (source->bad++ < MAX_TOLD) {
        snprintf(place, sizeof place, "%.40s:%llu", source->name, (unsigned long long)line);
        report_input(source->report, place, error->message);
    }
    return DOPPEL_OK;
}

enum doppel_status import_next(struct import_source *source, char **out, size_t *out_size,
                               struct doppel_error *error)
{
    struct line_reader *reader = &source->reader;
    for (;;) {
        progress_update(&source->report->progress, reader->offset >> 20, source->report->errors);
        if (signals_stopped())
            return doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
        enum doppel_status status = line_reader_next(reader, out, out_size, error);
        if (!status && reader->line == 1 && strncmp(*out, "\xEF\xBB\xBF", 3) == 0) {
            *out += 3; /* a byte order mark */
            *out_size -= 3;
        }
        if (!status && !*out_size)
            continue;
        if (!status && strlen(*out) != *out_size)
            status = doppel_fail(error, DOPPEL_E_ARGUMENT, "the line has a NUL in it");
        if (!status || status == DOPPEL_E_NOT_FOUND)
            return status;
        status = import_bad(source, reader->line, status, error);
        if (status)
            return status;
    }
}

/* ---- items ---- */

/* Names that are no UTF-8 are repaired, as they are shown. @return given (free); NULL: none */
static char *name_from(const char *name)
{
    if (!name || !*name)
        return NULL;
    char *repaired = must_have(utf8_repaired(name));
    for (char *at = repaired; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7F)
            *at = '?';
    return repaired;
}

/* A code of its scheme's width, or of a width that is stored. */
static enum doppel_status read_code(const struct doppel_scheme *scheme, const char *hex,
                                    struct doppel_fingerprint *out, struct doppel_error *error)
{
    size_t bits = 4 * strlen(hex);
    if (bits == scheme->code_bits || bits > 256 || bits < scheme->code_bits || bits % 64)
        return fingerprint_from_hex(scheme, hex, out, error);
    enum doppel_status status = doppel_fingerprint_make(scheme, (uint16_t)bits, 1, out, error);
    if (!status && doppel_code_from_hex(hex, (uint32_t)bits, out->codes)) {
        doppel_fingerprint_free(out);
        status = doppel_fail(error, DOPPEL_E_ARGUMENT, "the code is not hex");
    }
    return status;
}

enum doppel_status import_code(struct import_source *source, const struct doppel_scheme *scheme,
                               const struct import_entry *entry, struct doppel_error *error)
{
    struct carried_item carried = {
        .item = {.added_ns = entry->added_ns,
                 .record = {.kind = scheme->kind,
                            .scheme = scheme->id,
                            .version = entry->version ? entry->version : scheme->version,
                            .quality = entry->quality}}};
    enum doppel_status status =
        read_code(scheme, entry->hex, &carried.item.record.fingerprint, error);
    if (status)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "no code of '%s', which has %u hex digits",
                           scheme->name, scheme->code_bits / 4u);
    carried.item.record.fingerprint.version = carried.item.record.version;
    carried.item.path = must_copy("");
    carried.about.external_id = name_from(entry->name);
    status = source->sink->item(source->sink->context, &carried, error);
    carried_item_free(&carried);
    return status;
}

enum doppel_status import_digest(struct import_source *source, const struct import_entry *entry,
                                 struct doppel_error *error)
{
    struct carried_item carried = {.item.added_ns = entry->added_ns};
    char text[8 + SHA256_DIGITS + 1];
    size_t digits = hex_length(entry->hex);
    const char *algorithm = digits == MD5_DIGITS      ? "md5"
                            : digits == SHA1_DIGITS   ? "sha1"
                            : digits == SHA256_DIGITS ? "sha256"
                                                      : NULL;
    if (!algorithm)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "no digest: 32, 40 or 64 hex digits for MD5, SHA-1 or SHA-256");
    snprintf(text, sizeof text, "%s:%.*s", algorithm, (int)digits, entry->hex);
    for (char *at = text; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    carried.item.path = must_copy(text);
    carried.about.external_id = name_from(entry->name);
    if (carried.about.external_id && strlen(carried.about.external_id) > MAX_NAME) {
        free(carried.about.external_id);
        carried.about.external_id = NULL;
    }
    enum doppel_status status = source->sink->item(source->sink->context, &carried, error);
    carried_item_free(&carried);
    return status;
}

/* ---- telling formats apart ---- */

static bool begins(const char *text, size_t size, const char *with)
{
    size_t length = strlen(with);
    return size >= length && strncasecmp(text, with, length) == 0;
}

/* A digest is followed by two spaces, or a space and a star; a PDQ code by a quality. */
static enum exchange format_by_code(size_t digits, const char *rest)
{
    bool named = *rest == ' ' && (rest[1] == ' ' || rest[1] == '*');
    if (digits == 16)
        return EXCHANGE_IMAGEHASH;
    if (digits == MD5_DIGITS || digits == SHA1_DIGITS)
        return EXCHANGE_DIGESTS;
    if (digits == SHA256_DIGITS && named)
        return EXCHANGE_DIGESTS;
    return digits == 64 && *rest == ',' && isdigit((unsigned char)rest[1]) ? EXCHANGE_PDQ
                                                                           : EXCHANGE_AUTO;
}

enum exchange import_format(struct import_source *source, struct doppel_error *error)
{
    const char *head;
    size_t size = line_reader_peek(&source->reader, &head);
    char line[512];
    if (begins(head, size, "\xEF\xBB\xBF")) {
        head += 3;
        size -= 3;
    }
    while (size && isspace((unsigned char)*head)) {
        head++;
        size--;
    }
    size = size < sizeof line ? size : sizeof line - 1;
    memcpy(line, head, size);
    line[size] = '\0';
    line[strcspn(line, "\r\n")] = '\0';
    size_t digits = hex_length(line);
    enum exchange format = format_by_code(digits, line + digits);
    if (!size || *line == '{')
        return EXCHANGE_JSON;
    if (begins(line, size, "FILE=") || begins(line, size, "DURATION=") ||
        begins(line, size, "FINGERPRINT="))
        return EXCHANGE_FPCALC;
    if (begins(line, size, "hash,quality"))
        return EXCHANGE_PDQ;
    if (begins(line, size, "MD5 (") || begins(line, size, "SHA1 (") ||
        begins(line, size, "SHA256 (") || (*line == '\\' && hex_length(line + 1) >= MD5_DIGITS))
        return EXCHANGE_DIGESTS;
    if (format != EXCHANGE_AUTO)
        return format;
    if (digits == 64 && !line[64])
        doppel_fail(error, DOPPEL_E_ARGUMENT,
                    "64 hex digits are a PDQ code or a SHA-256 digest: say '--format pdq' or "
                    "'--format digests'");
    else if (strchr(line, ','))
        return EXCHANGE_CSV;
    else
        doppel_fail(error, DOPPEL_E_FORMAT,
                    "it begins like none of the formats that are known; name one with '--format'");
    return EXCHANGE_AUTO;
}
