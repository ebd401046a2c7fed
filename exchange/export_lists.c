/* What the library holds, in the formats of other tools, and as CSV. */
#include "exchange/export_lists.h"

#include <csv.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <doppel/json_writer.h>

#include "compare/audio.h"
#include "compare/text.h"
#include "core/text/base64.h"
#include "core/text/printable.h"
#include "exchange/model_write.h"

struct list_export {
    FILE *out;
    enum doppel_exchange_format format;
    uint64_t left_out;
    struct doppel_json number; /* of the cell at hand */
    bool no_memory;
};

/* ---- CSV by RFC 4180 ---- */

static const char header[] = "id,kind,path,path_base64,scheme,version,code,quality,width,height,"
                             "duration,size,digest,external_id,source,date,lists,labels,leader,"
                             "added,md5,sha1,sha256\r\n";

/* In quotes where it must be. */
static void write_field(FILE *out, const char *text)
{
    if (text[strcspn(text, ",\"\r\n")])
        csv_fwrite(out, text, strlen(text));
    else
        fputs(text, out);
}

/* Bytes that are not UTF-8 become U+FFFD. @param text NULL: an empty cell */
static void write_list_cell(struct list_export *export, const char *text)
{
    fputc(',', export->out);
    char *repaired = text ? utf8_repaired(text) : NULL;
    export->no_memory |= text && !repaired;
    if (repaired)
        write_field(export->out, repaired);
    free(repaired);
}

/* @param known false: an empty cell */
static void write_integer_cell(struct list_export *export, bool known, uint64_t value)
{
    if (known)
        fprintf(export->out, ",%llu", (unsigned long long)value);
    else
        fputc(',', export->out);
}

static void write_seconds_cell(struct list_export *export, bool known, double seconds)
{
    doppel_json_clear(&export->number);
    if (known)
        doppel_json_number(&export->number, NULL, seconds, 3);
    export->no_memory |= export->number.failed;
    write_list_cell(export, export->number.size ? export->number.bytes : NULL);
}

/* The path, and in base64 what is not UTF-8. */
static void write_path_cells(struct list_export *export, const char *path)
{
    bool encoded = path && !utf8_valid(path);
    char *text = encoded ? base64_encode(path, strlen(path)) : NULL;
    export->no_memory |= encoded && !text;
    write_list_cell(export, path);
    write_list_cell(export, text);
    free(text);
}

/* "a;b" */
static void write_names_cell(struct list_export *export, char *const *names, size_t count)
{
    size_t size = 1;
    for (size_t i = 0; i < count; i++)
        size += strlen(names[i]) + 1;
    char *joined = malloc(size), *end = joined;
    export->no_memory |= !joined;
    for (size_t i = 0; i < count && joined; i++)
        end = stpcpy(stpcpy(end, i ? ";" : ""), names[i]);
    write_list_cell(export, count ? joined : NULL);
    free(joined);
}

/* From `external_id` to `labels`. */
static void write_metadata_cells(struct list_export *export, const struct doppel_metadata *about)
{
    write_list_cell(export, about->external_id);
    write_list_cell(export, about->source);
    write_list_cell(export, about->date);
    write_names_cell(export, about->lists, about->list_count);
    write_names_cell(export, about->labels, about->label_count);
}

/* One code says what a picture or a text is; a sequence has no place in a cell. */
static void write_code_cell(struct list_export *export,
                            const struct doppel_fingerprint *fingerprint)
{
    bool has_one = fingerprint->count && fingerprint->scheme != DOPPEL_SCHEME_WINNOW32 &&
                   fingerprint->scheme != DOPPEL_SCHEME_CHROMAPRINT;
    char *hex = has_one ? code_in_hex(fingerprint, 0) : NULL;
    export->no_memory |= has_one && !hex;
    write_list_cell(export, hex);
    free(hex);
}

static void write_digest_cell(struct list_export *export, const struct doppel_digest *digest)
{
    char hex[2 * sizeof digest->bytes + 1];
    doppel_hex_encode(digest->bytes, sizeof digest->bytes, hex);
    write_list_cell(export, hex);
}

/* "md5:0123…" in the column of that name. */
static void write_exact_cells(struct list_export *export, const char *name)
{
    static const char *const algorithms[] = {"md5:", "sha1:", "sha256:"};
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
        size_t length = strlen(algorithms[i]);
        bool is_this = name && strncmp(name, algorithms[i], length) == 0;
        write_list_cell(export, is_this ? name + length : NULL);
    }
}

static void write_csv_item(struct list_export *export, const struct exchange_item *carried)
{
    const struct doppel_item *item = &carried->item;
    const struct doppel_record *record = &item->record;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(record->scheme);
    static const struct doppel_fingerprint none;
    bool has_file = doppel_item_has_file(item), has_bytes = scheme || has_file;
    fprintf(export->out, "%llu", (unsigned long long)item->id);
    write_list_cell(export, doppel_kind_name(record->kind));
    write_path_cells(export, has_file ? item->path : NULL);
    write_list_cell(export, scheme ? scheme->name : NULL);
    write_integer_cell(export, scheme, record->version);
    write_code_cell(export, scheme ? &record->fingerprint : &none);
    write_integer_cell(export, record->kind == DOPPEL_KIND_IMAGE, record->quality);
    write_integer_cell(export, record->width, record->width);
    write_integer_cell(export, record->width, record->height);
    write_seconds_cell(export, item->duration_ms, (double)item->duration_ms / 1000);
    write_integer_cell(export, has_file, (uint64_t)item->stamp.size);
    if (has_bytes)
        write_digest_cell(export, &record->digest);
    else
        write_list_cell(export, NULL);
    write_metadata_cells(export, &carried->about);
    write_integer_cell(export, carried->leader, carried->leader);
    write_seconds_cell(export, true, (double)item->added_ns / 1e9);
    write_exact_cells(export, has_bytes ? NULL : item->path);
    fputs("\r\n", export->out);
}

static void write_csv_text(struct list_export *export, const struct exchange_text *carried)
{
    const struct doppel_library_text *text = carried->text;
    struct doppel_metadata about = carried->about;
    if (!about.external_id)
        about.external_id = (char *)text->record_id;
    if (!about.source)
        about.source = (char *)text->origin.source;
    if (!about.date)
        about.date = (char *)text->origin.date;
    fprintf(export->out, "%llu", (unsigned long long)text->id);
    write_list_cell(export, doppel_kind_name(DOPPEL_KIND_TEXT));
    write_path_cells(export, text->path);
    write_list_cell(export, text->lane_count == 256 ? "minhash256" : "minhash128");
    write_integer_cell(export, false, 0); /* version */
    char *hex = lanes_in_hex(text->lanes, text->lane_count);
    export->no_memory |= !hex;
    write_list_cell(export, hex);
    free(hex);
    fputs(",,,,", export->out); /* quality to duration */
    write_integer_cell(export, true, text->size);
    write_digest_cell(export, &text->content);
    write_metadata_cells(export, &about);
    write_integer_cell(export, text->leader, text->leader);
    write_seconds_cell(export, true, (double)text->added_ns / 1e9);
    write_exact_cells(export, NULL);
    fputs("\r\n", export->out);
}

/* ---- lists of lines ---- */

/* What it is called, on one line; given (free). NULL: by nothing. */
static char *name_on_a_line(struct list_export *export, const struct exchange_item *carried)
{
    const char *name = carried->about.external_id             ? carried->about.external_id
                       : doppel_item_has_file(&carried->item) ? carried->item.path
                                                              : NULL;
    char *copy = name ? strdup(name) : NULL;
    export->no_memory |= name && !copy;
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
    write_field(out, name ? name : "");
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

static void write_digest_line(FILE *out, const struct doppel_item *item, const char *name)
{
    const char *colon = strchr(item->path, ':');
    fprintf(out, "%s%s%s\n", colon ? colon + 1 : item->path, name ? "  " : "", name ? name : "");
}

static bool write_list_line(struct list_export *export, const struct exchange_item *carried)
{
    const struct doppel_record *record = &carried->item.record;
    static const enum doppel_scheme_id schemes[] = {
        [DOPPEL_EXCHANGE_PDQ] = DOPPEL_SCHEME_PDQ,
        [DOPPEL_EXCHANGE_IMAGEHASH] = DOPPEL_SCHEME_IMAGEHASH,
        [DOPPEL_EXCHANGE_FPCALC] = DOPPEL_SCHEME_CHROMAPRINT,
        [DOPPEL_EXCHANGE_DIGESTS] = DOPPEL_SCHEME_NONE,
    };
    bool named = record->scheme || !doppel_item_has_file(&carried->item);
    if (record->scheme != schemes[export->format] || !named)
        return false;
    char *name = name_on_a_line(export, carried);
    if (export->format == DOPPEL_EXCHANGE_PDQ)
        write_pdq(export->out, record, name);
    else if (export->format == DOPPEL_EXCHANGE_IMAGEHASH)
        write_imagehash(export->out, record, name);
    else if (export->format == DOPPEL_EXCHANGE_FPCALC)
        write_fpcalc(export->out, record, name);
    else
        write_digest_line(export->out, &carried->item, name);
    free(name);
    return true;
}

/* ---- all ---- */

static enum doppel_status check_export(const struct list_export *export, struct doppel_error *error)
{
    return export->no_memory ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an export")
                             : export_written(export->out, error);
}

static enum doppel_status export_item_to_list(void *context, const struct exchange_item *carried,
                                              struct doppel_error *error)
{
    struct list_export *export = context;
    errno = 0;
    if (export->format == DOPPEL_EXCHANGE_CSV)
        write_csv_item(export, carried);
    else
        export->left_out += !write_list_line(export, carried);
    return check_export(export, error);
}

static enum doppel_status export_text_to_list(void *context, const struct exchange_text *carried,
                                              struct doppel_error *error)
{
    struct list_export *export = context;
    errno = 0;
    if (export->format == DOPPEL_EXCHANGE_CSV)
        write_csv_text(export, carried);
    else
        export->left_out++;
    return check_export(export, error);
}

enum doppel_status export_lists(struct doppel_run *run, struct doppel_library *library, FILE *out,
                                const struct doppel_export_options *options,
                                struct doppel_error *error)
{
    struct list_export export = {.out = out, .format = options->format};
    const struct exchange_sink sink = {
        .context = &export, .item = export_item_to_list, .text = export_text_to_list};
    if (export.format == DOPPEL_EXCHANGE_CSV)
        fputs(header, out);
    enum doppel_status status = exchange_library(run, library, &options->filter, &sink, error);
    if (!status && export.left_out)
        doppel_run_notice(run, "%llu item%s left out, which %s no %s",
                          (unsigned long long)export.left_out, export.left_out == 1 ? "" : "s",
                          export.left_out == 1 ? "has" : "have",
                          export.format == DOPPEL_EXCHANGE_DIGESTS ? "MD5, SHA-1 or SHA-256"
                                                                   : "code of this scheme");
    doppel_json_free(&export.number);
    return status;
}
