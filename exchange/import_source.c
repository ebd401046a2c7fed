/* A file on its way into a library: what its formats share, and telling them apart. */
#include "exchange/import_source.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/printable.h"
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
        doppel_run_failed(source->run, place, error);
    }
    return DOPPEL_OK;
}

enum doppel_status import_next(struct import_source *source, char **out, size_t *out_size,
                               struct doppel_error *error)
{
    struct line_reader *reader = &source->reader;
    for (;;) {
        doppel_run_advance(source->run, reader->offset);
        if (doppel_run_cancelled(source->run))
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

/* Names that are no UTF-8 are repaired, as they are shown. @param out given (free); NULL: none.
 * @return false without memory */
static bool repair_name(const char *name, char **out)
{
    char *repaired = name && *name ? utf8_repaired(name) : NULL;
    for (char *at = repaired; at && *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7F)
            *at = '?';
    *out = repaired;
    return repaired || !name || !*name;
}

static enum doppel_status give_entry(struct import_source *source, const struct exchange_item *item,
                                     struct doppel_error *error)
{
    return item->item.path ? source->sink->item(source->sink->context, item, error)
                           : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an item");
}

/* A code of its scheme's width, or of a width that is stored. */
static enum doppel_status read_hex_code(const struct doppel_scheme *scheme, const char *hex,
                                        struct doppel_fingerprint *out, struct doppel_error *error)
{
    size_t bits = 4 * strlen(hex);
    if (bits == scheme->code_bits || bits > 256 || bits < scheme->code_bits || bits % 64)
        return doppel_fingerprint_from_hex(scheme, hex, out, error);
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
    struct exchange_item carried = {
        .tags = entry->tags,
        .item = {.added_ns = entry->added_ns,
                 .record = {.kind = scheme->kind,
                            .scheme = scheme->id,
                            .version = entry->version ? entry->version : scheme->version,
                            .quality = entry->quality}}};
    enum doppel_status status =
        read_hex_code(scheme, entry->hex, &carried.item.record.fingerprint, error);
    if (status)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "no code of '%s', which has %u hex digits",
                           scheme->name, scheme->code_bits / 4u);
    carried.item.record.fingerprint.version = carried.item.record.version;
    carried.item.path = strdup("");
    status = repair_name(entry->name, &carried.about.external_id)
                 ? give_entry(source, &carried, error)
                 : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an item");
    exchange_item_free(&carried);
    return status;
}

enum doppel_status import_digest(struct import_source *source, const struct import_entry *entry,
                                 struct doppel_error *error)
{
    struct exchange_item carried = {.tags = entry->tags, .item.added_ns = entry->added_ns};
    char text[8 + SHA256_DIGITS + 1];
    size_t digits = hex_length(entry->hex);
    const char *algorithm = digits == MD5_DIGITS      ? doppel_exact_name(DOPPEL_EXACT_MD5)
                            : digits == SHA1_DIGITS   ? doppel_exact_name(DOPPEL_EXACT_SHA1)
                            : digits == SHA256_DIGITS ? doppel_exact_name(DOPPEL_EXACT_SHA256)
                                                      : NULL;
    if (!algorithm)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "no digest: 32, 40 or 64 hex digits for MD5, SHA-1 or SHA-256");
    snprintf(text, sizeof text, "%s:%.*s", algorithm, (int)digits, entry->hex);
    for (char *at = text; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    carried.item.path = strdup(text);
    bool named = repair_name(entry->name, &carried.about.external_id);
    if (carried.about.external_id && strlen(carried.about.external_id) > MAX_NAME) {
        free(carried.about.external_id);
        carried.about.external_id = NULL;
    }
    enum doppel_status status = named
                                    ? give_entry(source, &carried, error)
                                    : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an item");
    exchange_item_free(&carried);
    return status;
}

/* ---- telling formats apart ---- */

static bool begins(const char *text, size_t size, const char *with)
{
    size_t length = strlen(with);
    return size >= length && strncasecmp(text, with, length) == 0;
}

/* A digest is followed by two spaces, or a space and a star; a PDQ code by a quality. */
static enum doppel_exchange_format format_by_code(size_t digits, const char *rest)
{
    bool named = *rest == ' ' && (rest[1] == ' ' || rest[1] == '*');
    if (digits == 16)
        return DOPPEL_EXCHANGE_IMAGEHASH;
    if (digits == MD5_DIGITS || digits == SHA1_DIGITS)
        return DOPPEL_EXCHANGE_DIGESTS;
    if (digits == SHA256_DIGITS && named)
        return DOPPEL_EXCHANGE_DIGESTS;
    return digits == 64 && *rest == ',' && isdigit((unsigned char)rest[1]) ? DOPPEL_EXCHANGE_PDQ
                                                                           : DOPPEL_EXCHANGE_AUTO;
}

enum doppel_exchange_format import_format(struct import_source *source, struct doppel_error *error)
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
    enum doppel_exchange_format format = format_by_code(digits, line + digits);
    if (!size || *line == '{')
        return DOPPEL_EXCHANGE_JSON;
    if (begins(line, size, "FILE=") || begins(line, size, "DURATION=") ||
        begins(line, size, "FINGERPRINT="))
        return DOPPEL_EXCHANGE_FPCALC;
    if (begins(line, size, "hash,quality"))
        return DOPPEL_EXCHANGE_PDQ;
    if (begins(line, size, "MD5 (") || begins(line, size, "SHA1 (") ||
        begins(line, size, "SHA256 (") || (*line == '\\' && hex_length(line + 1) >= MD5_DIGITS))
        return DOPPEL_EXCHANGE_DIGESTS;
    if (format != DOPPEL_EXCHANGE_AUTO)
        return format;
    if (digits == 64 && !line[64])
        doppel_fail(error, DOPPEL_E_ARGUMENT,
                    "64 hex digits are a PDQ code or a SHA-256 digest: say '--format pdq' or "
                    "'--format digests'");
    else if (strchr(line, ','))
        return DOPPEL_EXCHANGE_CSV;
    else
        doppel_fail(error, DOPPEL_E_FORMAT,
                    "it begins like none of the formats that are known; name one with '--format'");
    return DOPPEL_EXCHANGE_AUTO;
}
