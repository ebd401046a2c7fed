/* A file on its way into a library, line by line. */
#ifndef DOPPEL_EXCHANGE_IMPORT_SOURCE_H
#define DOPPEL_EXCHANGE_IMPORT_SOURCE_H

#include "exchange/importer.h"
#include "exchange/model.h"
#include "core/files/line_reader.h"

struct import_source {
    const char *name; /* as it is reported */
    struct line_reader reader;
    struct doppel_run *run;
    const struct exchange_sink *sink;
    uint64_t size; /* of the file; 0: not known */
    uint64_t bad;  /* lines that cannot be taken */
};

/* What a format that is not named is, by how the file begins. @return DOPPEL_EXCHANGE_AUTO, with a
 * sentence, when that does not tell */
enum doppel_exchange_format import_format(struct import_source *source, struct doppel_error *error);

/* Take all lines in, as they are in a format. Bad ones are reported, with their number. After a
 * signal DOPPEL_E_CANCELLED. */
enum doppel_status import_json(struct import_source *source, struct doppel_error *error);
enum doppel_status import_lines(struct import_source *source, enum doppel_exchange_format format,
                                struct doppel_error *error);
enum doppel_status import_csv(struct import_source *source, struct doppel_error *error);

/* ---- shared by formats ---- */

/* The next line, with the progress of it. Lines that are too long are reported and passed over. */
enum doppel_status import_next(struct import_source *source, char **out, size_t *out_size,
                               struct doppel_error *error);

/* Tell of a line that cannot be taken. @param status DOPPEL_E_ARGUMENT and the like: DOPPEL_OK is
 * returned; others end the run, and are returned */
enum doppel_status import_bad(struct import_source *source, uint64_t line,
                              enum doppel_status status, struct doppel_error *error);

/* What a list says of a code or a digest. */
struct import_entry {
    const char *hex, *name; /* what it is called; NULL: nothing */
    uint8_t quality;
    uint16_t version;             /* of the scheme; 0: today's */
    int64_t added_ns;             /* 0: not said */
    struct doppel_list_tags tags; /* borrowed */
};

/* Take what can be read of an open file. @param name as it is reported */
enum doppel_status import_from_file(struct doppel_run *run, int fd, const char *name,
                                    enum doppel_exchange_format format, struct importer *importer,
                                    uint64_t *out_bad, struct doppel_error *error);

/* An item of one code without a file. */
enum doppel_status import_code(struct import_source *source, const struct doppel_scheme *scheme,
                               const struct import_entry *entry, struct doppel_error *error);

/* An item of a digest alone, of as many hex digits as it has. */
enum doppel_status import_digest(struct import_source *source, const struct import_entry *entry,
                                 struct doppel_error *error);

/* How many hex digits a text begins with. */
size_t hex_length(const char *text);

#endif
