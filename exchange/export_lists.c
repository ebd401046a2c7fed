/* What the library holds, in the formats of other tools, and as CSV. */
#include "exchange/export_lists.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/output/item_name.h"
#include "tools/output/item_row.h"
#include "tools/memory.h"
#include "tools/output/formats.h"
#include "tools/signals.h"
#include "compare/audio.h"
#include "compare/text.h"

struct exporting {
    FILE *out;
    enum exchange format;
    uint64_t left_out;
};

/* ---- CSV ---- */

static const struct column columns[] = {
    {"id", NULL, CELL_NUMBER},        {"kind", NULL, CELL_TEXT},      {"path", NULL, CELL_PATH},
    {"scheme", NULL, CELL_TEXT},      {"version", NULL, CELL_NUMBER}, {"code", NULL, CELL_TEXT},
    {"quality", NULL, CELL_NUMBER},   {"width", NULL, CELL_NUMBER},   {"height", NULL, CELL_NUMBER},
    {"duration", NULL, CELL_SECONDS}, {"size", NULL, CELL_NUMBER},    {"digest", NULL, CELL_TEXT},
    {"external_id", NULL, CELL_TEXT}, {"source", NULL, CELL_TEXT},    {"date", NULL, CELL_TEXT},
    {"lists", NULL, CELL_TEXT},       {"labels", NULL, CELL_TEXT},    {"leader", NULL, CELL_NUMBER},
    {"added", NULL, CELL_NUMBER},     {"md5", NULL, CELL_TEXT},       {"sha1", NULL, CELL_TEXT},
    {"sha256", NULL, CELL_TEXT},
};

static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, NULL, NULL};

/* "a;b" */
static void put_joined(json_t *row, const char *key, char *const *names, size_t count)
{
    size_t size = 1, used = 0;
    for (size_t i = 0; i < count; i++)
        size += strlen(names[i]) + 1;
    char *joined = must_allocate(size);
    for (size_t i = 0; i < count; i++)
        used += (size_t)sprintf(joined + used, "%s%s", i ? ";" : "", names[i]);
    if (count)
        put_text(row, key, joined);
    free(joined);
}

static void put_said(json_t *row, const struct doppel_metadata *about)
{
    if (about->external_id)
        put_text(row, "external_id", about->external_id);
    if (about->source)
        put_text(row, "source", about->source);
    if (about->date)
        put_text(row, "date", about->date);
    put_joined(row, "lists", about->lists, about->list_count);
    put_joined(row, "labels", about->labels, about->label_count);
}

/* One code says what a picture or a text is; a sequence has no place in a cell. */
static void put_code(json_t *row, const struct doppel_fingerprint *fingerprint)
{
    if (!fingerprint->count || fingerprint->scheme == DOPPEL_SCHEME_WINNOW32 ||
        fingerprint->scheme == DOPPEL_SCHEME_CHROMAPRINT)
        return;
    char *hex = code_in_hex(fingerprint, 0);
    put_text(row, "code", hex);
    free(hex);
}

/* "md5:0123…" in a column of that name. */
static void put_exact(json_t *row, const char *name)
{
    char algorithm[8];
    size_t length = strcspn(name, ":");
    if (length >= sizeof algorithm || !name[length])
        return;
    memcpy(algorithm, name, length);
    algorithm[length] = '\0';
    put_text(row, algorithm, name + length + 1);
}

static json_t *row_of_item(const struct carried_item *carried)
{
    const struct doppel_item *item = &carried->item;
    const struct doppel_record *record = &item->record;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(record->scheme);
    char digest[2 * sizeof record->digest.bytes + 1];
    json_t *row = json_object();
    put_integer(row, "id", item->id);
    put_text(row, "kind", doppel_kind_name(record->kind));
    if (item_has_file(item)) {
        put_path(row, "path", item->path);
        put_integer(row, "size", (uint64_t)item->stamp.size);
    }
    if (scheme) {
        put_text(row, "scheme", scheme->name);
        put_integer(row, "version", record->version);
        put_code(row, &record->fingerprint);
    }
    if (scheme || item_has_file(item)) {
        doppel_hex_encode(record->digest.bytes, sizeof record->digest.bytes, digest);
        put_text(row, "digest", digest);
    } else {
        put_exact(row, item->path);
    }
    if (record->kind == DOPPEL_KIND_IMAGE)
        put_integer(row, "quality", record->quality);
    if (record->width) {
        put_integer(row, "width", record->width);
        put_integer(row, "height", record->height);
    }
    if (item->duration_ms)
        put_number(row, "duration", (double)item->duration_ms / 1000, 3);
    put_said(row, &carried->about);
    if (carried->leader)
        put_integer(row, "leader", carried->leader);
    put_number(row, "added", (double)item->added_ns / 1e9, 3);
    return row;
}

static void write_csv_text(struct exporting *exporting, const struct carried_text *carried)
{
    json_t *row = text_row(carried->text);
    char *hex = text_code(carried->text);
    put_text(row, "code", hex);
    put_said(row, &carried->about);
    if (carried->text->record_id && !carried->about.external_id)
        put_text(row, "external_id", carried->text->record_id);
    csv_write_row(exporting->out, &layout, row, NULL);
    free(hex);
    json_decref(row);
}

/* ---- lists of lines ---- */

/* What it is called, on one line; given (free). NULL: by nothing. */
static char *name_of(const struct carried_item *carried)
{
    const char *name = carried->about.external_id      ? carried->about.external_id
                       : item_has_file(&carried->item) ? carried->item.path
                                                       : NULL;
    char *copy = name ? must_copy(name) : NULL;
    for (char *at = copy; at && *at; at++)
        if ((unsigned char)*at < ' ')
            *at = '?';
    return copy;
}

static void write_pdq(FILE *out, const struct doppel_record *record, const char *name)
{
    char hex[65];
    doppel_code_to_hex(record->fingerprint.codes, 256, hex);
    fprintf(out, "%s,%u,", hex, record->quality);
    csv_write_field(out, name ? name : "");
    fputc('\n', out);
}

static void write_imagehash(FILE *out, const struct doppel_record *record, const char *name)
{
    char hex[17];
    doppel_code_to_hex(record->fingerprint.codes, 64, hex);
    fprintf(out, "%s%s%s\n", hex, name ? "  " : "", name ? name : "");
}

static void write_fpcalc(FILE *out, const struct doppel_record *record, const char *name)
{
    const struct doppel_fingerprint *fingerprint = &record->fingerprint;
    if (name)
        fprintf(out, "FILE=%s\n", name);
    fprintf(out, "DURATION=%u\nFINGERPRINT=", audio_length_ms(record) / 1000);
    for (uint32_t i = 0; i < fingerprint->count; i++)
        fprintf(out, i ? ",%u" : "%u", (unsigned)fingerprint->codes[i].word[0]);
    fputs("\n\n", out);
}

static void write_digest(FILE *out, const struct doppel_item *item, const char *name)
{
    const char *colon = strchr(item->path, ':');
    fprintf(out, "%s%s%s\n", colon ? colon + 1 : item->path, name ? "  " : "", name ? name : "");
}

static bool write_list_line(const struct exporting *exporting, const struct carried_item *carried)
{
    const struct doppel_record *record = &carried->item.record;
    static const enum doppel_scheme_id schemes[] = {
        [EXCHANGE_PDQ] = DOPPEL_SCHEME_PDQ,
        [EXCHANGE_IMAGEHASH] = DOPPEL_SCHEME_IMAGEHASH,
        [EXCHANGE_FPCALC] = DOPPEL_SCHEME_CHROMAPRINT,
        [EXCHANGE_DIGESTS] = DOPPEL_SCHEME_NONE,
    };
    bool named = record->scheme || !item_has_file(&carried->item);
    if (record->scheme != schemes[exporting->format] || !named)
        return false;
    char *name = name_of(carried);
    if (exporting->format == EXCHANGE_PDQ)
        write_pdq(exporting->out, record, name);
    else if (exporting->format == EXCHANGE_IMAGEHASH)
        write_imagehash(exporting->out, record, name);
    else if (exporting->format == EXCHANGE_FPCALC)
        write_fpcalc(exporting->out, record, name);
    else
        write_digest(exporting->out, &carried->item, name);
    free(name);
    return true;
}

/* ---- all ---- */

enum doppel_status export_written(FILE *out, struct doppel_error *error)
{
    if (!ferror(out))
        return DOPPEL_OK;
    if (errno == EPIPE)
        signals_closed_pipe();
    return doppel_fail(error, errno == EPIPE ? DOPPEL_E_CANCELLED : DOPPEL_E_IO,
                       "the export cannot be written: %s", strerror(errno));
}

static enum doppel_status take_item(void *context, const struct carried_item *carried,
                                    struct doppel_error *error)
{
    struct exporting *exporting = context;
    errno = 0;
    if (exporting->format == EXCHANGE_CSV) {
        json_t *row = row_of_item(carried);
        csv_write_row(exporting->out, &layout, row, NULL);
        json_decref(row);
    } else {
        exporting->left_out += !write_list_line(exporting, carried);
    }
    return export_written(exporting->out, error);
}

static enum doppel_status take_text(void *context, const struct carried_text *carried,
                                    struct doppel_error *error)
{
    struct exporting *exporting = context;
    errno = 0;
    if (exporting->format == EXCHANGE_CSV)
        write_csv_text(exporting, carried);
    else
        exporting->left_out++;
    return export_written(exporting->out, error);
}

enum doppel_status export_lists(struct doppel_library *library, const struct settings *settings,
                                struct report *report, FILE *out, struct doppel_error *error)
{
    struct exporting exporting = {.out = out, .format = settings->export_format};
    const struct carry_sink sink = {.context = &exporting, .item = take_item, .text = take_text};
    if (exporting.format == EXCHANGE_CSV)
        csv_write_header(out, &layout);
    enum doppel_status status = carry(library, settings, report, &sink, error);
    if (!status && exporting.left_out)
        report_notice(
            report, "%llu item%s left out, which %s no %s", (unsigned long long)exporting.left_out,
            exporting.left_out == 1 ? "" : "s", exporting.left_out == 1 ? "has" : "have",
            exporting.format == EXCHANGE_DIGESTS ? "MD5, SHA-1 or SHA-256" : "code of this scheme");
    return status;
}
